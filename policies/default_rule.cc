#include "policies/default_rule.h"

namespace spindrift::policies {

const Rule& default_rule() {
  static const Rule kRule{.name = "unmatched"};
  return kRule;
}

}  // namespace spindrift::policies
