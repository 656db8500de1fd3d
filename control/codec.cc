#include "control/codec.h"

#include <algorithm>
#include <limits>

#include "base/units.h"
#include "control_messages.pb.h"

namespace spindrift::control {
namespace {

// A region's largest encoding is 44 bytes: tag, length and six varints.
constexpr std::uint32_t kRegionBytesMax = 48;
constexpr std::uint32_t kReplyOverhead = 256;

// Collects the first thing that is wrong with a message.
class Check {
 public:
  void that(bool holds, const char* field) {
    if (!holds && wrong_ == nullptr) wrong_ = field;
  }
  // Text that may appear in a log line: no control characters.
  void text(const std::string& value, std::size_t size_max, const char* field) {
    that(value.size() <= size_max &&
             std::none_of(value.begin(), value.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
         field);
  }
  void name(const std::string& value, const char* field) {
    that(!value.empty(), field);
    text(value, kNameMax, field);
  }
  bool ok() const { return wrong_ == nullptr; }
  Status status(const char* what) const {
    if (ok()) return {};
    return Status(Code::kProtocol,
                  Status::Detail{.what = what, .why = std::string("bad field ") + wrong_});
  }

 private:
  const char* wrong_ = nullptr;
};

template <typename Array>
void put_bytes(const Array& from, std::string* to) {
  to->assign(from.begin(), from.end());
}

template <std::size_t N>
std::array<std::uint8_t, N> take_array(const std::string& from, Check& check, const char* field) {
  std::array<std::uint8_t, N> to{};
  check.that(from.size() == N, field);
  if (from.size() == N) std::copy(from.begin(), from.end(), to.begin());
  return to;
}

void put_versions(VersionRange from, wire::Versions* to) {
  to->set_min(from.min);
  to->set_max(from.max);
}

VersionRange take_versions(const wire::Versions& from) {
  return {from.min(), from.max()};
}

void put_endpoint(const DataEndpoint& from, wire::Endpoint* to) {
  to->set_transport(static_cast<std::uint32_t>(from.transport));
  to->set_device(from.device);
  to->set_address(from.address);
  to->set_prefix(from.prefix);
  to->set_port(from.port);
  to->set_line_rate(from.line_rate.bytes_per_s);
  to->set_numa(from.numa);
  to->set_pci(from.pci);
}

template <typename Repeated>
std::vector<DataEndpoint> take_endpoints(const Repeated& from, Check& check) {
  std::vector<DataEndpoint> endpoints;
  check.that(static_cast<std::size_t>(from.size()) <= kEndpointsMax, "endpoints");
  if (!check.ok()) return endpoints;
  for (const wire::Endpoint& e : from) {
    check.that(e.transport() <= static_cast<std::uint32_t>(Transport::kFile), "transport");
    check.text(e.device(), kShortTextMax, "device");
    check.text(e.address(), kShortTextMax, "address");
    check.text(e.pci(), kShortTextMax, "pci");
    check.that(e.prefix() <= 128, "prefix");
    check.that(e.port() <= std::numeric_limits<std::uint16_t>::max(), "port");
    endpoints.push_back({.transport = static_cast<Transport>(e.transport()),
                         .device = e.device(),
                         .address = e.address(),
                         .prefix = static_cast<std::uint8_t>(e.prefix()),
                         .port = static_cast<std::uint16_t>(e.port()),
                         .line_rate = Rate{e.line_rate()},
                         .numa = e.numa(),
                         .pci = e.pci(),
                         .bind_device = false});
  }
  return endpoints;
}

// What a Hello and a Challenge have in common.
template <typename From, typename To>
void put_introduction(const From& from, To* to) {
  put_versions(from.versions, to->mutable_versions());
  to->set_features(from.features);
  to->set_name(from.name);
  to->mutable_incarnation()->set_high(from.incarnation.high);
  to->mutable_incarnation()->set_low(from.incarnation.low);
  to->set_host_id(from.host_id);
  put_bytes(from.nonce, to->mutable_nonce());
  to->set_message_max(from.message_max);
}

template <typename To, typename From>
To take_introduction(const From& from, Check& check) {
  To to;
  to.versions = take_versions(from.versions());
  check.that(to.versions.min <= to.versions.max && to.versions.max > 0, "versions");
  to.features = from.features();
  to.name = from.name();
  check.name(to.name, "name");
  to.incarnation = {from.incarnation().high(), from.incarnation().low()};
  check.that(static_cast<bool>(to.incarnation), "incarnation");
  to.host_id = from.host_id();
  check.text(to.host_id, kHostIdMax, "host_id");
  to.nonce = take_array<32>(from.nonce(), check, "nonce");
  to.message_max = from.message_max();
  check.that(to.message_max >= kHandshakeMax, "message_max");
  return to;
}

void put(const Hello& from, wire::Handshake& to) {
  put_introduction(from, to.mutable_hello());
  for (const KeyId id : from.key_ids) to.mutable_hello()->add_key_ids(id);
  to.mutable_hello()->set_channel(from.channel);
}
void put(const Challenge& from, wire::Handshake& to) {
  put_introduction(from, to.mutable_challenge());
  to.mutable_challenge()->set_key_id(from.key_id);
  to.mutable_challenge()->set_version(from.version);
}
void put(const Proof& from, wire::Handshake& to) {
  if (from.keyed) put_bytes(from.digest, to.mutable_proof()->mutable_proof());
  to.mutable_proof();
}
void put(const Accept& from, wire::Handshake& to) {
  if (from.proof.keyed) put_bytes(from.proof.digest, to.mutable_accept()->mutable_proof());
  put_bytes(from.session_nonce, to.mutable_accept()->mutable_session_nonce());
  for (const auto& e : from.endpoints) put_endpoint(e, to.mutable_accept()->add_endpoints());
}
void put(const Introduce& from, wire::Handshake& to) {
  to.mutable_introduce();
  for (const auto& e : from.endpoints) put_endpoint(e, to.mutable_introduce()->add_endpoints());
}
void put(const Refusal& from, wire::Handshake& to) {
  to.mutable_refusal()->set_reason(static_cast<std::uint32_t>(from.reason));
  put_versions(from.versions, to.mutable_refusal()->mutable_versions());
  to.mutable_refusal()->set_text(from.text);
}

Hello take(const wire::Hello& from, Check& check) {
  Hello to = take_introduction<Hello>(from, check);
  check.that(static_cast<std::size_t>(from.key_ids_size()) <= kKeyIdsMax, "key_ids");
  if (check.ok()) to.key_ids.assign(from.key_ids().begin(), from.key_ids().end());
  to.channel = from.channel();
  return to;
}
Challenge take(const wire::Challenge& from, Check& check) {
  Challenge to = take_introduction<Challenge>(from, check);
  to.key_id = from.key_id();
  to.version = from.version();
  return to;
}
Proof take_proof(const std::string& from, Check& check) {
  if (from.empty()) return {};
  return {true, take_array<32>(from, check, "proof")};
}
Accept take(const wire::Accept& from, Check& check) {
  Accept to;
  to.proof = take_proof(from.proof(), check);
  to.session_nonce = take_array<32>(from.session_nonce(), check, "session_nonce");
  to.endpoints = take_endpoints(from.endpoints(), check);
  return to;
}
Refusal take(const wire::Refusal& from, Check& check) {
  Refusal to;
  // A reason that a later version added is still a refusal.
  if (from.reason() <= static_cast<std::uint32_t>(kRefusalReasonLast)) {
    to.reason = static_cast<RefusalReason>(from.reason());
  }
  to.versions = take_versions(from.versions());
  to.text = from.text();
  check.text(to.text, kTextMax, "text");
  return to;
}

void put(std::monostate, wire::SessionMessage&) {}
void put(const LookUp& from, wire::SessionMessage& to) {
  wire::LookUp& m = *to.mutable_look_up();
  m.set_id(from.id);
  m.set_segment(from.segment);
  m.set_first(from.first);
  m.set_edition(from.edition);
}
void put(const LookUpReply& from, wire::SessionMessage& to) {
  wire::LookUpReply& m = *to.mutable_look_up_reply();
  m.set_id(from.id);
  m.set_found(from.found);
  m.set_why(from.why);
  m.set_first(from.first);
  m.set_total(from.total);
  m.set_edition(from.edition);
  for (const SegmentRegion& r : from.regions) {
    wire::Region& region = *m.add_regions();
    region.set_address(r.address);
    region.set_length(r.length);
    region.set_rights(static_cast<std::uint32_t>(r.rights));
    region.set_kind(static_cast<std::uint32_t>(r.location.kind));
    region.set_device(r.location.device);
    region.set_key(r.key);
  }
}
void put(const FenceRequest& from, wire::SessionMessage& to) {
  to.mutable_fence()->set_lane_key(from.lane_key);
  to.mutable_fence()->set_min_generation(from.min_generation);
}
void put(const FenceReply& from, wire::SessionMessage& to) {
  wire::Fenced& m = *to.mutable_fenced();
  m.set_lane_key(from.lane_key);
  m.set_min_generation(from.min_generation);
  m.set_settled_end(from.settled_end);
  for (const AttemptSeq seq : from.refused) m.add_refused(seq);
}
void put(const Goodbye& from, wire::SessionMessage& to) {
  to.mutable_goodbye()->set_reason(from.reason);
}
void put(const Ping& from, wire::SessionMessage& to) {
  to.mutable_ping()->set_nonce(from.nonce);
}

SegmentRegion take_region(const wire::Region& from, Check& check) {
  check.that(from.length() > 0 && adds_up(from.address(), from.length()), "region");
  check.that(from.rights() <= static_cast<std::uint32_t>(Rights::kRemoteReadWrite), "rights");
  check.that(from.kind() <= static_cast<std::uint32_t>(MemoryKind::kFile), "kind");
  return {.address = from.address(),
          .length = from.length(),
          .rights = static_cast<Rights>(from.rights()),
          .location = {static_cast<MemoryKind>(from.kind()), from.device()},
          .key = from.key()};
}

LookUp take(const wire::LookUp& from, Check& check) {
  check.name(from.segment(), "segment");
  return {from.id(), from.segment(), from.first(), from.edition()};
}
LookUpReply take(const wire::LookUpReply& from, Check& check) {
  LookUpReply to{.id = from.id(),
                 .found = from.found(),
                 .why = from.why(),
                 .first = from.first(),
                 .total = from.total(),
                 .edition = from.edition()};
  check.text(to.why, kTextMax, "why");
  check.that(to.total <= kSegmentRegionsMax, "total");
  const auto count = static_cast<std::uint64_t>(from.regions_size());
  check.that(fits(to.first, count, to.total), "regions");
  if (!check.ok()) return to;
  to.regions.reserve(count);
  for (const wire::Region& r : from.regions()) to.regions.push_back(take_region(r, check));
  return to;
}
FenceReply take(const wire::Fenced& from, Check& check) {
  FenceReply to{.lane_key = from.lane_key(),
                .min_generation = from.min_generation(),
                .settled_end = from.settled_end()};
  check.that(static_cast<std::size_t>(from.refused_size()) <= kRefusedMax, "refused");
  if (check.ok()) to.refused.assign(from.refused().begin(), from.refused().end());
  for (const AttemptSeq seq : to.refused) check.that(seq < to.settled_end, "refused");
  return to;
}

template <typename Message>
bool parse(std::string_view bytes, Message& message) {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Status unreadable(const char* what) {
  return Status(Code::kProtocol,
                Status::Detail{.what = what, .why = "the bytes are no such message"});
}

HandshakeMessage take_body(const wire::Handshake& from, Check& check) {
  switch (from.body_case()) {
    case wire::Handshake::kHello:
      return take(from.hello(), check);
    case wire::Handshake::kChallenge:
      return take(from.challenge(), check);
    case wire::Handshake::kProof:
      return take_proof(from.proof().proof(), check);
    case wire::Handshake::kAccept:
      return take(from.accept(), check);
    case wire::Handshake::kIntroduce:
      return Introduce{take_endpoints(from.introduce().endpoints(), check)};
    case wire::Handshake::kRefusal:
      return take(from.refusal(), check);
    case wire::Handshake::BODY_NOT_SET:
      break;
  }
  check.that(false, "body");
  return Refusal{};
}

SessionMessage take_body(const wire::SessionMessage& from, Check& check) {
  switch (from.body_case()) {
    case wire::SessionMessage::kLookUp:
      return take(from.look_up(), check);
    case wire::SessionMessage::kLookUpReply:
      return take(from.look_up_reply(), check);
    case wire::SessionMessage::kFence:
      return FenceRequest{from.fence().lane_key(), from.fence().min_generation()};
    case wire::SessionMessage::kFenced:
      return take(from.fenced(), check);
    case wire::SessionMessage::kGoodbye:
      check.text(from.goodbye().reason(), kTextMax, "reason");
      return Goodbye{from.goodbye().reason()};
    case wire::SessionMessage::kPing:
      return Ping{from.ping().nonce()};
    case wire::SessionMessage::BODY_NOT_SET:
      break;
  }
  return std::monostate{};
}

}  // namespace

std::string encode(const HandshakeMessage& message) {
  wire::Handshake out;
  std::visit([&](const auto& m) { put(m, out); }, message);
  return out.SerializeAsString();
}

std::string encode(const SessionFrame& frame) {
  wire::SessionFrame out;
  out.set_seq(frame.seq);
  out.set_ack(frame.ack);
  out.set_message(frame.message);
  return out.SerializeAsString();
}

std::string encode(const SessionMessage& message) {
  wire::SessionMessage out;
  std::visit([&](const auto& m) { put(m, out); }, message);
  return out.SerializeAsString();
}

Result<HandshakeMessage> decode_handshake(std::string_view bytes) {
  wire::Handshake in;
  if (!parse(bytes, in)) return unreadable("handshake message");
  Check check;
  HandshakeMessage message = take_body(in, check);
  if (!check.ok()) return check.status("handshake message");
  return message;
}

Result<SessionFrame> decode_frame(std::string_view bytes) {
  wire::SessionFrame in;
  if (!parse(bytes, in)) return unreadable("session frame");
  return SessionFrame{in.seq(), in.ack(), std::move(*in.mutable_message())};
}

Result<SessionMessage> decode_message(std::string_view bytes) {
  wire::SessionMessage in;
  if (!parse(bytes, in)) return unreadable("session message");
  Check check;
  SessionMessage message = take_body(in, check);
  if (!check.ok()) return check.status("session message");
  return message;
}

std::uint32_t regions_per_reply(std::uint32_t message_max) {
  if (message_max <= kReplyOverhead + kRegionBytesMax) return 1;
  return std::min((message_max - kReplyOverhead) / kRegionBytesMax, kSegmentRegionsMax);
}

void append_frame(std::string& out, std::string_view payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(length >> shift));
  out.append(payload);
}

Result<bool> FrameReader::next(std::string_view& bytes, std::string& frame) {
  while (header_got_ < kFrameHeaderBytes) {
    if (bytes.empty()) return false;
    header_[header_got_++] = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (header_got_ < kFrameHeaderBytes) continue;
    length_ = static_cast<std::uint32_t>(header_[0] | header_[1] << 8 | header_[2] << 16) |
              static_cast<std::uint32_t>(header_[3]) << 24;
    if (length_ > frame_max_) {
      return Status(Code::kProtocol, {.what = "control frame",
                                      .why = "announces " + std::to_string(length_) + " bytes, " +
                                             std::to_string(frame_max_) + " are allowed",
                                      .hint = "see control.message_max"});
    }
  }
  // Grows with what really comes, not with what was announced.
  const std::size_t take = std::min<std::size_t>(length_ - payload_.size(), bytes.size());
  payload_.append(bytes.substr(0, take));
  bytes.remove_prefix(take);
  if (payload_.size() < length_) return false;
  frame = std::move(payload_);
  payload_.clear();
  header_got_ = 0;
  return true;
}

}  // namespace spindrift::control
