// The keys of an intent file (docs/CONFIG.md), onto IntentFile. Internal to
// config/.
#pragma once

#include "config/intent_file.h"
#include "config/map_reader.h"

namespace spindrift::config {

void read_intent(MapReader& map, IntentFile& out);

}  // namespace spindrift::config
