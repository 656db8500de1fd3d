#include "planner/pairing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "fixtures.h"

namespace spindrift::planner {
namespace {

// "eth0 10.0.0.1 > eth0 10.0.0.2", with "~" instead of ">" for a routed pair.
std::vector<std::string> pairs_text(const Node& local, const Node& remote) {
  std::vector<std::string> text;
  for (const NicPair& pair : pair_nics(local, remote).pairs) {
    text.push_back(local.nics[pair.local].name + " " + pair.local_address +
                   (pair.routed ? " ~ " : " > ") + remote.nics[pair.remote].name + " " +
                   pair.remote_address);
  }
  return text;
}

std::vector<std::string> unpaired_text(const Node& local, const Node& remote) {
  std::vector<std::string> text;
  for (const Unpaired& unpaired : pair_nics(local, remote).unpaired) {
    const Node& node = unpaired.local ? local : remote;
    text.push_back(node.name + " " + node.nics[unpaired.nic].name + ": " + unpaired.why);
  }
  return text;
}

using Lines = std::vector<std::string>;

TEST_CASE("NICs of one subnet are paired, whatever their names and order") {
  const Node a{.name = "a",
               .nics = {nic("eth0", {"10.0.0.1/24"}), nic("eth1", {"10.0.1.1/24"}),
                        nic("eth2", {"fd00:2::1/64"})}};
  const Node b{.name = "b",
               .nics = {nic("ens9", {"fd00:2::2/64"}), nic("ens8", {"10.0.0.2/24"}),
                        nic("ens7", {"10.0.1.2/24"})}};
  CHECK(pairs_text(a, b) == Lines{"eth0 10.0.0.1 > ens8 10.0.0.2", "eth1 10.0.1.1 > ens7 10.0.1.2",
                                  "eth2 fd00:2::1 > ens9 fd00:2::2"});
  CHECK(unpaired_text(a, b).empty());
}

TEST_CASE("in one flat subnet the order of the names decides: n pairs, not n x n") {
  const Node a{.name = "a",
               .nics = {nic("eth10", {"10.0.0.10/16"}), nic("eth2", {"10.0.0.2/16"}),
                        nic("eth1", {"10.0.0.1/16"})}};
  const Node b{.name = "b",
               .nics = {nic("eth1", {"10.0.1.1/16"}), nic("eth10", {"10.0.1.10/16"}),
                        nic("eth2", {"10.0.1.2/16"})}};
  CHECK(pairs_text(a, b) == Lines{"eth1 10.0.0.1 > eth1 10.0.1.1", "eth2 10.0.0.2 > eth2 10.0.1.2",
                                  "eth10 10.0.0.10 > eth10 10.0.1.10"});
}

TEST_CASE("a NIC in two subnets gives way, so that none is left over") {
  const Node a{.name = "a",
               .nics = {nic("eth0", {"10.0.0.1/24", "10.0.1.1/24"}), nic("eth1", {"10.0.0.2/24"})}};
  const Node b{.name = "b", .nics = {nic("eth0", {"10.0.0.3/24"}), nic("eth1", {"10.0.1.3/24"})}};
  CHECK(pairs_text(a, b) ==
        Lines{"eth0 10.0.1.1 > eth1 10.0.1.3", "eth1 10.0.0.2 > eth0 10.0.0.3"});
}

TEST_CASE("what shares no subnet is paired in order and marked as routed") {
  const Node a{.name = "a", .nics = {nic("eth0", {"10.0.0.1/24"}), nic("eth1", {"10.0.1.1/24"})}};
  const Node b{.name = "b", .nics = {nic("eth0", {"10.0.1.2/24"}), nic("eth1", {"10.9.0.2/24"})}};
  CHECK(pairs_text(a, b) ==
        Lines{"eth0 10.0.0.1 ~ eth1 10.9.0.2", "eth1 10.0.1.1 > eth0 10.0.1.2"});
}

TEST_CASE("different prefix lengths share a subnet when each end lies in the other's") {
  const Node a{.name = "a", .nics = {nic("eth0", {"10.0.2.1/24"})}};
  CHECK(pairs_text(a, {.name = "b", .nics = {nic("eth0", {"10.0.2.7/16"})}}) ==
        Lines{"eth0 10.0.2.1 > eth0 10.0.2.7"});
  CHECK(pairs_text(a, {.name = "b", .nics = {nic("eth0", {"10.0.3.7/16"})}}) ==
        Lines{"eth0 10.0.2.1 ~ eth0 10.0.3.7"});
}

TEST_CASE("link-local addresses prove no common link and are taken last") {
  const Node a{.name = "a",
               .nics = {nic("eth0", {"fe80::1/64", "fd00:1::1/64", "2001:db8::1/64"})}};
  const Node b{.name = "b", .nics = {nic("eth0", {"fe80::2/64", "2001:db8:1::2/64"})}};
  CHECK(pairs_text(a, b) == Lines{"eth0 2001:db8::1 ~ eth0 2001:db8:1::2"});
  const Node c{.name = "c", .nics = {nic("eth0", {"fe80::3/64"})}};
  CHECK(pairs_text(a, c) == Lines{"eth0 2001:db8::1 ~ eth0 fe80::3"});
}

TEST_CASE("transports and address families are never mixed") {
  const Node a{
      .name = "a",
      .nics = {nic("mlx5_0", {"10.0.0.1/24"}, Transport::kRdma), nic("eth0", {"fd00::1/64"})}};
  const Node b{.name = "b", .nics = {nic("eth0", {"10.0.0.2/24"})}};
  CHECK(pairs_text(a, b).empty());
  CHECK(unpaired_text(a, b) == Lines{"a mlx5_0: b has no usable rdma NIC",
                                     "a eth0: no tcp NIC left at b to pair it with",
                                     "b eth0: no tcp NIC left at a to pair it with"});
}

TEST_CASE("what cannot take part is left out, and says why") {
  Node a{.name = "a",
         .nics = {nic("eth0", {"10.0.0.1/24"}), nic("eth1", {"10.0.1.1/24"}), nic("eth2", {}),
                  nic("lo", {"127.0.0.1/8"}), nic("eth3", {"10.0.0.300/24"}),
                  nic("nv0", {}, Transport::kNvlink), nic("eth4", {"10.0.4.1/24"})}};
  a.nics[1].up = false;
  const Node b{.name = "b",
               .nics = {nic("eth0", {"10.0.0.2/24"}), nic("lo", {"127.0.0.1/8"}),
                        nic("nv0", {}, Transport::kNvlink)}};
  CHECK(pairs_text(a, b) == Lines{"eth0 10.0.0.1 > eth0 10.0.0.2"});
  CHECK(unpaired_text(a, b) == Lines{"a eth1: link down", "a eth2: no address",
                                     "a lo: loopback stays on one host, and b is another one",
                                     "a eth3: \"10.0.0.300/24\" is no address",
                                     "a nv0: nvlink stays on one host, and b is another one",
                                     "a eth4: no tcp NIC left at b to pair it with",
                                     "b lo: loopback stays on one host, and a is another one",
                                     "b nv0: nvlink stays on one host, and a is another one"});
}

TEST_CASE("nodes of one host reach each other over loopback, shm and NVLink") {
  const std::vector<Nic> nics{nic("lo", {"127.0.0.1/8", "::1/128"}), nic("eth0", {"10.0.0.1/24"}),
                              nic("shm", {}, Transport::kShm), nic("gpu0", {}, Transport::kNvlink)};
  const Node a{.name = "a", .host = "h", .nics = nics};
  const Node b{.name = "b", .host = "h", .nics = nics};
  CHECK(pairs_text(a, b) == Lines{"gpu0  > gpu0 ", "shm  > shm ", "eth0 10.0.0.1 > eth0 10.0.0.1",
                                  "lo 127.0.0.1 > lo 127.0.0.1"});
}

TEST_CASE("one device with several addresses makes several rails") {
  const Node a{
      .name = "a", .host = "h", .nics = {nic("lo", {"127.0.0.2/8"}), nic("lo", {"127.0.0.1/8"})}};
  CHECK(pairs_text(a, a) == Lines{"lo 127.0.0.1 > lo 127.0.0.1", "lo 127.0.0.2 > lo 127.0.0.2"});
}

TEST_CASE("InfiniBand has no addresses; its pairs are to be verified by connecting") {
  const Node a{.name = "a",
               .nics = {nic("ib1", {}, Transport::kRdma), nic("ib0", {}, Transport::kRdma)}};
  const Node b{.name = "b", .nics = {nic("ib0", {}, Transport::kRdma)}};
  CHECK(pairs_text(a, b) == Lines{"ib0  ~ ib0 "});
  CHECK(unpaired_text(a, b) == Lines{"a ib1: no rdma NIC left at b to pair it with"});
}

TEST_CASE("a peer never has more rails than fit, and the slow end is cut off") {
  Node a{.name = "a"};
  for (int i = 0; i < 40; ++i) {
    a.nics.push_back(nic("eth" + std::to_string(i), {"10.0.0.1/16"}));
    a.nics.push_back(nic("mlx5_" + std::to_string(i), {"10.0.0.1/16"}, Transport::kRdma));
  }
  const Pairing pairing = pair_nics(a, a);
  CHECK(pairing.pairs.size() == kRailsPerPeerMax);
  CHECK(a.nics[pairing.pairs[39].local].transport == Transport::kRdma);
  CHECK(a.nics[pairing.pairs[40].local].transport == Transport::kTcp);
  CHECK(pairing.unpaired.size() == 2 * 16);
  CHECK(pairing.unpaired.front().why == "a peer has at most 64 rails");
}

TEST_CASE("a topology of any size is paired in bounded time") {
  Node a{.name = "a"};
  for (int i = 0; i < 5000; ++i) a.nics.push_back(nic("e" + std::to_string(i), {"10.0.0.1/8"}));
  const Pairing pairing = pair_nics(a, a);
  CHECK(pairing.pairs.size() == kRailsPerPeerMax);
  CHECK(pairing.unpaired.size() == 2 * (5000 - kRailsPerPeerMax));
}

// --- properties ------------------------------------------------------------------

Node random_node(Prng& prng, const std::string& name) {
  Node node{.name = name, .host = prng.chance(300) ? "host" : ""};
  for (std::uint64_t i = prng.below(10); i > 0; --i) {
    Nic each = nic("n" + std::to_string(i), {}, static_cast<Transport>(prng.below(6)));
    if (prng.chance(700)) each.transport = Transport::kTcp;
    for (std::uint64_t j = prng.below(4); j > 0; --j) {
      const std::string subnet = std::to_string(prng.below(3));
      const std::string host = std::to_string(prng.between(1, 9));
      const std::string v4 = "10.0." + subnet + "." + host + (prng.chance(900) ? "/24" : "/16");
      const std::string v6 = (prng.chance(800) ? "fd00:" : "fe80:") + subnet + "::" + host + "/64";
      each.addresses.push_back(prng.chance(600) ? v4 : prng.chance(900) ? v6 : "127.0.0.1/8");
    }
    each.up = prng.chance(900);
    node.nics.push_back(std::move(each));
  }
  return node;
}

using Named = std::tuple<std::string, std::string, std::string, std::string, bool>;

std::vector<Named> named_pairs(const Node& local, const Node& remote) {
  std::vector<Named> list;
  for (const NicPair& pair : pair_nics(local, remote).pairs) {
    list.emplace_back(local.nics[pair.local].name, remote.nics[pair.remote].name,
                      pair.local_address, pair.remote_address, pair.routed);
  }
  return list;
}

std::vector<Named> mirrored(std::vector<Named> list) {
  for (auto& [local, remote, local_address, remote_address, routed] : list) {
    std::swap(local, remote);
    std::swap(local_address, remote_address);
  }
  std::sort(list.begin(), list.end());
  return list;
}

void shuffle(Prng& prng, std::vector<Nic>& nics) {
  for (std::size_t i = nics.size(); i > 1; --i) std::swap(nics[i - 1], nics[prng.below(i)]);
}

TEST_CASE("pairing is symmetric, stable under reordering, and tells about every NIC once") {
  Prng prng(17);
  int pairs = 0;
  for (int i = 0; i < 3000; ++i) {
    Node a = random_node(prng, prng.chance(500) ? "a" : "c");
    Node b = random_node(prng, "b");
    const std::vector<Named> there = named_pairs(a, b);
    pairs += static_cast<int>(there.size());
    std::vector<Named> sorted = there;
    std::sort(sorted.begin(), sorted.end());
    CAPTURE(i);
    REQUIRE(sorted == mirrored(named_pairs(b, a)));

    const Pairing pairing = pair_nics(a, b);
    std::multiset<std::size_t> local, remote;
    for (const NicPair& pair : pairing.pairs) {
      local.insert(pair.local);
      remote.insert(pair.remote);
      REQUIRE(a.nics[pair.local].transport == b.nics[pair.remote].transport);
      REQUIRE((a.nics[pair.local].up && b.nics[pair.remote].up));
    }
    for (const Unpaired& unpaired : pairing.unpaired) {
      REQUIRE_FALSE(unpaired.why.empty());
      (unpaired.local ? local : remote).insert(unpaired.nic);
    }
    REQUIRE(local.size() == a.nics.size());
    REQUIRE(remote.size() == b.nics.size());
    REQUIRE(std::set<std::size_t>(local.begin(), local.end()).size() == local.size());
    REQUIRE(std::set<std::size_t>(remote.begin(), remote.end()).size() == remote.size());

    shuffle(prng, a.nics);
    shuffle(prng, b.nics);
    REQUIRE(named_pairs(a, b) == there);  // the same ordinals, too
  }
  CHECK(pairs > 3000);
}

}  // namespace
}  // namespace spindrift::planner
