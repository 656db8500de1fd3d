#include "planner/nic_matching.h"

#include <optional>

namespace spindrift::planner {
namespace {

// Routable addresses first, link-local ones (which need a zone) last.
int preference(const Address& address) {
  if (is_link_local(address)) return 2;
  return address.v6 && (address.bytes[0] & 0xfe) == 0xfc ? 1 : 0;
}

std::optional<EndMatch> direct(const End& a, const End& b) {
  for (const Address& x : a.addresses) {
    for (const Address& y : b.addresses) {
      if (is_link_local(x) || is_link_local(y) || !share_subnet(x, y)) continue;
      return EndMatch{.a_address = x.text, .b_address = y.text};
    }
  }
  return {};
}

std::optional<EndMatch> indirect(const End& a, const End& b) {
  if (a.loopback != b.loopback) return {};
  const Transport transport = a.facts->transport;
  if (stays_on_host(transport)) return EndMatch{};
  if (transport != Transport::kTcp && (a.addresses.empty() || b.addresses.empty())) {
    // InfiniBand and the simulator have no subnets to compare.
    return EndMatch{.routed = transport == Transport::kRdma};
  }
  std::optional<EndMatch> best;
  int best_preference = 0;
  for (const Address& x : a.addresses) {
    for (const Address& y : b.addresses) {
      const int sum = preference(x) + preference(y);
      if (x.v6 != y.v6 || (best && sum >= best_preference)) continue;
      best = EndMatch{.a_address = x.text, .b_address = y.text, .routed = true};
      best_preference = sum;
    }
  }
  return best;
}

// Pairs the ends of one transport. As many as possible share a subnet: a
// maximum bipartite matching by augmenting paths (Kuhn), which takes free
// partners in order first, so that where all are in one subnet the order of the
// names decides.
class Matching {
 public:
  Matching(const std::vector<End>& a, const std::vector<End>& b)
      : a_(a), b_(b), partner_of_a_(a.size(), kNone), partner_of_b_(b.size(), kNone) {
    edges_.resize(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        if (direct(a[i], b[j])) edges_[i].push_back(j);
      }
    }
  }

  std::vector<EndMatch> run() {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      visited_.assign(b_.size(), false);
      augment(i);
    }
    std::vector<EndMatch> matches;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (partner_of_a_[i] != kNone) add(matches, i, partner_of_a_[i], direct);
    }
    for (std::size_t i = 0; i < a_.size(); ++i) {
      for (std::size_t j = 0; j < b_.size() && partner_of_a_[i] == kNone; ++j) {
        if (partner_of_b_[j] == kNone && indirect(a_[i], b_[j])) {
          join(i, j);
          add(matches, i, j, indirect);
        }
      }
    }
    return matches;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // At most kNicsMax deep: every call marks another b as visited.
  bool augment(std::size_t i) {
    for (const std::size_t j : edges_[i]) {
      if (partner_of_b_[j] != kNone || visited_[j]) continue;
      join(i, j);
      return true;
    }
    for (const std::size_t j : edges_[i]) {
      if (visited_[j]) continue;
      visited_[j] = true;
      if (!augment(partner_of_b_[j])) continue;
      join(i, j);
      return true;
    }
    return false;
  }
  void join(std::size_t i, std::size_t j) {
    partner_of_a_[i] = j;
    partner_of_b_[j] = i;
  }
  template <typename Test>
  void add(std::vector<EndMatch>& matches, std::size_t i, std::size_t j, Test test) const {
    EndMatch match = *test(a_[i], b_[j]);
    match.a = i;
    match.b = j;
    matches.push_back(std::move(match));
  }

  const std::vector<End>& a_;
  const std::vector<End>& b_;
  std::vector<std::vector<std::size_t>> edges_;
  std::vector<std::size_t> partner_of_a_;
  std::vector<std::size_t> partner_of_b_;
  std::vector<bool> visited_;
};

}  // namespace

bool stays_on_host(Transport transport) {
  return transport == Transport::kNvlink || transport == Transport::kShm ||
         transport == Transport::kFile;
}

std::vector<EndMatch> match_ends(const std::vector<End>& a, const std::vector<End>& b) {
  return Matching(a, b).run();
}

}  // namespace spindrift::planner
