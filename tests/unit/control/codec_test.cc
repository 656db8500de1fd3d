#include "control/codec.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/prng.h"

namespace spindrift::control {
namespace {

Nonce counting(std::uint8_t from) {
  Nonce nonce{};
  for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<std::uint8_t>(from + i);
  return nonce;
}

DataEndpoint endpoint() {
  return {.transport = Transport::kTcp,
          .device = "eth2",
          .address = "10.0.2.1",
          .prefix = 24,
          .port = 7401,
          .line_rate = Rate{125'000'000},
          .numa = -1,
          .pci = "0000:3b:00.0"};
}

Hello hello() {
  return {.versions = {1, 2},
          .features = 5,
          .name = "prefill-0",
          .incarnation = {0x0123456789abcdef, 0xfedcba9876543210},
          .host_id = "host-a",
          .nonce = counting(1),
          .key_ids = {7, 8},
          .channel = 3,
          .message_max = 1 << 20};
}

Challenge challenge() {
  return {.versions = {1, 1},
          .features = 4,
          .name = "decode-0",
          .incarnation = {1, 2},
          .host_id = "host-b",
          .nonce = counting(64),
          .key_id = 8,
          .version = 1,
          .message_max = 1 << 20};
}

LookUpReply look_up_reply() {
  return {.id = 9,
          .found = true,
          .why = "",
          .first = 1,
          .total = 3,
          .edition = 17,
          .regions = {{.address = 0x7f0000000000,
                       .length = 4096,
                       .rights = Rights::kRemoteReadWrite,
                       .location = {MemoryKind::kCuda, 3},
                       .key = 0xfedc0001}}};
}

// Every message that goes over the wire, by the name of its golden file.
struct Golden {
  const char* name;
  std::string bytes;
};

std::vector<Golden> all_messages() {
  const auto handshake = [](HandshakeMessage m) { return encode(m); };
  const auto session = [](SessionMessage m) { return encode(m); };
  return {
      {"hello", handshake(hello())},
      {"challenge", handshake(challenge())},
      {"proof", handshake(Proof{true, counting(3)})},
      {"proof_without_key", handshake(Proof{})},
      {"accept", handshake(Accept{{true, counting(4)}, counting(5), {endpoint()}})},
      {"introduce", handshake(Introduce{{endpoint()}})},
      {"refusal", handshake(Refusal{RefusalReason::kKeyUnknown, {1, 2}, "no common key"})},
      {"session_frame", encode(SessionFrame{7, 5, "payload"})},
      {"look_up", session(LookUp{9, "kv", 1, 17})},
      {"look_up_reply", session(look_up_reply())},
      {"fence", session(FenceRequest{4, 2})},
      {"fenced", session(FenceReply{4, 2, 100, {97, 98}})},
      {"goodbye", session(Goodbye{"the node shuts down"})},
      {"ping", session(Ping{11})},
  };
}

std::filesystem::path golden_file(const char* name) {
  const auto folder = std::filesystem::path(SPINDRIFT_SOURCE_DIR) / "tests/unit/control/golden";
  return folder / (std::string(name) + ".hex");
}

std::string to_hex(std::string_view bytes) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
    if (text.size() % 65 == 64) text.push_back('\n');
  }
  if (text.empty() || text.back() != '\n') text.push_back('\n');
  return text;
}

std::string from_hex(std::istream& in) {
  std::string bytes;
  for (std::string line; std::getline(in, line);) {
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes.push_back(static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16)));
    }
  }
  return bytes;
}

// Run by name when a message gets a new field; the old files show in the diff
// what peers of the previous release will see.
TEST_CASE("write golden files", "[.write-golden]") {
  for (const Golden& golden : all_messages()) {
    std::ofstream(golden_file(golden.name)) << to_hex(golden.bytes);
  }
}

TEST_CASE("today's encoder makes the bytes that are kept") {
  for (const Golden& golden : all_messages()) {
    INFO(golden.name);
    std::ifstream file(golden_file(golden.name));
    REQUIRE(file.is_open());
    CHECK(to_hex(from_hex(file)) == to_hex(golden.bytes));
  }
}

TEST_CASE("today's decoder reads the bytes that are kept") {
  for (const Golden& golden : all_messages()) {
    INFO(golden.name);
    std::ifstream file(golden_file(golden.name));
    const std::string bytes = from_hex(file);
    // Encoding is a function of the value: equal bytes mean equal values.
    const std::string name = golden.name;
    if (name == "session_frame") {
      const auto frame = decode_frame(bytes);
      REQUIRE(frame.ok());
      CHECK(encode(*frame) == bytes);
    } else if (const auto handshake = decode_handshake(bytes);
               name == "hello" || name == "challenge" || name.starts_with("proof") ||
               name == "accept" || name == "introduce" || name == "refusal") {
      REQUIRE(handshake.ok());
      CHECK(encode(*handshake) == bytes);
    } else {
      const auto message = decode_message(bytes);
      REQUIRE(message.ok());
      CHECK(encode(*message) == bytes);
    }
  }
}

TEST_CASE("the golden endpoint comes out as it went in") {
  const auto message = decode_handshake(encode(HandshakeMessage(Introduce{{endpoint()}})));
  REQUIRE(message.ok());
  const DataEndpoint& e = std::get<Introduce>(*message).endpoints.at(0);
  CHECK(e.device == "eth2");
  CHECK(e.address == "10.0.2.1");
  CHECK(e.prefix == 24);
  CHECK(e.port == 7401);
  CHECK(e.line_rate.bytes_per_s == 125'000'000);
  CHECK(e.numa == -1);
  CHECK(e.pci == "0000:3b:00.0");
  CHECK_FALSE(e.bind_device);  // local only, never sent
}

TEST_CASE("a handshake message with a field out of bounds is refused by name") {
  struct Case {
    const char* field;
    std::function<HandshakeMessage()> make;
  };
  const auto with = [](auto change) {
    return [change] {
      Hello h = hello();
      change(h);
      return HandshakeMessage(h);
    };
  };
  const auto at = [](auto change) {
    return [change] {
      DataEndpoint e = endpoint();
      change(e);
      return HandshakeMessage(Introduce{{e}});
    };
  };
  const Case cases[] = {
      {"name", with([](Hello& h) { h.name.clear(); })},
      {"name", with([](Hello& h) { h.name = std::string(256, 'n'); })},
      {"name", with([](Hello& h) { h.name = "log\nline"; })},
      {"incarnation", with([](Hello& h) { h.incarnation = {}; })},
      {"host_id", with([](Hello& h) { h.host_id = std::string(129, 'h'); })},
      {"key_ids", with([](Hello& h) { h.key_ids.assign(9, 1); })},
      {"versions", with([](Hello& h) {
         h.versions = {3, 2};
       })},
      {"versions", with([](Hello& h) {
         h.versions = {0, 0};
       })},
      {"message_max", with([](Hello& h) { h.message_max = 100; })},
      {"endpoints", [] { return HandshakeMessage(Introduce{std::vector(65, endpoint())}); }},
      {"device", at([](DataEndpoint& e) { e.device = std::string(65, 'd'); })},
      {"address", at([](DataEndpoint& e) { e.address = "10.0.0.1\x1b"; })},
      {"pci", at([](DataEndpoint& e) { e.pci = std::string(65, 'p'); })},
      {"prefix", at([](DataEndpoint& e) { e.prefix = 129; })},
      {"transport", at([](DataEndpoint& e) { e.transport = static_cast<Transport>(6); })},
      {"text",
       [] {
         return HandshakeMessage(Refusal{RefusalReason::kBusy, {1, 1}, "a\x01"});
       }},
  };
  for (const Case& c : cases) {
    const auto decoded = decode_handshake(encode(c.make()));
    INFO(c.field);
    CHECK(decoded.code() == Code::kProtocol);
    CHECK(decoded.status().to_string().find(c.field) != std::string::npos);
  }
}

TEST_CASE("a session message with a field out of bounds is refused by name") {
  struct Case {
    const char* field;
    SessionMessage message;
  };
  LookUpReply wraps = look_up_reply();
  wraps.regions[0].address = ~std::uint64_t{0} - 10;
  LookUpReply empty_region = look_up_reply();
  empty_region.regions[0].length = 0;
  LookUpReply beyond = look_up_reply();
  beyond.first = 3;
  LookUpReply too_many = look_up_reply();
  too_many.total = kSegmentRegionsMax + 1;
  LookUpReply rights = look_up_reply();
  rights.regions[0].rights = static_cast<Rights>(4);
  LookUpReply kind = look_up_reply();
  kind.regions[0].location.kind = static_cast<MemoryKind>(3);
  const Case cases[] = {
      {"segment", LookUp{1, "", 0, 0}},
      {"segment", LookUp{1, std::string(256, 's'), 0, 0}},
      {"region", wraps},
      {"region", empty_region},
      {"regions", beyond},
      {"total", too_many},
      {"rights", rights},
      {"kind", kind},
      {"refused", FenceReply{1, 1, 5, {5}}},
      {"refused", FenceReply{1, 1, 1'000'000, std::vector<AttemptSeq>(kRefusedMax + 1, 1)}},
      {"reason", Goodbye{std::string(3000, 'r')}},
  };
  for (const Case& c : cases) {
    const auto decoded = decode_message(encode(c.message));
    INFO(c.field);
    CHECK(decoded.code() == Code::kProtocol);
    CHECK(decoded.status().to_string().find(c.field) != std::string::npos);
  }
}

TEST_CASE("a message of an unknown kind and unknown fields are ignored") {
  // Field 15, length-delimited: a body that this version does not know.
  const auto unknown = decode_message(std::string("\x7a\x02hi", 4));
  REQUIRE(unknown.ok());
  CHECK(std::holds_alternative<std::monostate>(*unknown));

  const std::string extended = encode(SessionMessage(Ping{11})) + std::string("\x7a\x02hi", 4);
  const auto ping = decode_message(extended);
  REQUIRE(ping.ok());
  CHECK(std::get<Ping>(*ping).nonce == 11);
}

TEST_CASE("a truncated or garbled message never decodes to something out of bounds") {
  Prng prng(7);
  for (const Golden& golden : all_messages()) {
    for (std::size_t cut = 0; cut < golden.bytes.size(); ++cut) {
      const std::string_view part = std::string_view(golden.bytes).substr(0, cut);
      static_cast<void>(decode_handshake(part));
      static_cast<void>(decode_message(part));
      static_cast<void>(decode_frame(part));
    }
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = golden.bytes;
      bytes[prng.below(bytes.size())] = static_cast<char>(prng.next());
      const auto message = decode_message(bytes);
      if (!message) continue;
      if (const auto* reply = std::get_if<LookUpReply>(&*message)) {
        REQUIRE(reply->first + reply->regions.size() <= reply->total);
      }
    }
  }
}

TEST_CASE("the largest page of a look-up fits the message bound") {
  const std::uint32_t message_max = 64 * 1024;
  LookUpReply reply{.id = ~std::uint64_t{0},
                    .found = true,
                    .first = 0,
                    .total = kSegmentRegionsMax,
                    .edition = ~std::uint64_t{0}};
  const SegmentRegion widest{.address = std::uint64_t{1} << 63,
                             .length = std::uint64_t{1} << 62 | 1,
                             .rights = Rights::kRemoteReadWrite,
                             .location = {MemoryKind::kFile, ~std::uint32_t{0}},
                             .key = ~std::uint32_t{0}};
  reply.regions.assign(regions_per_reply(message_max), widest);
  CHECK(reply.regions.size() > 1000);
  CHECK(encode(SessionMessage(reply)).size() <= message_max);
}

TEST_CASE("frames come out whole however the stream is cut") {
  std::string stream;
  const std::vector<std::string> payloads = {"a", "", std::string(1000, 'x'), "end"};
  for (const auto& payload : payloads) append_frame(stream, payload);
  for (std::size_t piece : {1u, 2u, 3u, 5u, 1000u, 100000u}) {
    FrameReader reader(1000);
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      std::string_view bytes = std::string_view(stream).substr(at, piece);
      std::string frame;
      while (true) {
        const auto whole = reader.next(bytes, frame);
        REQUIRE(whole.ok());
        if (!*whole) break;
        got.push_back(frame);
      }
    }
    CHECK(got == payloads);
  }
}

TEST_CASE("a frame that announces too much is refused at its fourth byte") {
  FrameReader reader(1000);
  std::string frame;
  const std::string header("\xe9\x03\x00\x00", 4);  // 1001
  std::string_view bytes(header);
  const auto taken = reader.next(bytes, frame);
  CHECK(taken.code() == Code::kProtocol);
  CHECK(taken.status().to_string().find("1001") != std::string::npos);

  FrameReader huge(1000);
  const std::string all_ones(4, '\xff');
  std::string_view more(all_ones);
  CHECK(huge.next(more, frame).code() == Code::kProtocol);
}

}  // namespace
}  // namespace spindrift::control
