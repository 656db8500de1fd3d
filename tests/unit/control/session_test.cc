#include "control/session.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/prng.h"

namespace spindrift::control {
namespace {

using std::chrono::milliseconds;

constexpr Instant kStart{milliseconds(1000)};

SessionFrame message_frame(std::uint64_t seq, std::uint64_t ack, std::string text) {
  return {.seq = seq, .ack = ack, .message = std::move(text)};
}

TEST_CASE("a message is sent once and forgotten when acknowledged") {
  Session session({});
  session.connection_up(1, kStart);
  REQUIRE(session.send("a", Spread::kOne, kStart).ok());
  const auto sent = session.take_outgoing();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].connection == 1);
  CHECK(sent[0].frame.seq == 1);
  CHECK(sent[0].frame.message == "a");
  CHECK(session.next_deadline() == kStart + milliseconds(100));

  REQUIRE(session.on_frame(1, message_frame(0, 1, ""), kStart).ok());
  CHECK(session.unacked() == 0);
  CHECK(session.next_deadline() == kNever);
  CHECK(session.take_outgoing().empty());
}

TEST_CASE("messages wait for the first connection, in order") {
  Session session({});
  REQUIRE(session.send("a", Spread::kOne, kStart).ok());
  REQUIRE(session.send("b", Spread::kAll, kStart).ok());
  CHECK(session.take_outgoing().empty());
  CHECK(session.next_deadline() == kNever);
  session.connection_up(7, kStart);
  const auto sent = session.take_outgoing();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].frame.message == "a");
  CHECK(sent[1].frame.message == "b");
  CHECK(session.resent() == 0);
}

TEST_CASE("a fence goes out on every connection and takes what came before along") {
  Session session({});
  for (ConnectionId id : {1, 2, 3}) session.connection_up(id, kStart);
  REQUIRE(session.send("look-up", Spread::kOne, kStart).ok());
  session.take_outgoing();
  REQUIRE(session.send("fence 1", Spread::kAll, kStart).ok());
  std::vector<std::pair<ConnectionId, std::uint64_t>> seen;
  for (const auto& out : session.take_outgoing()) seen.emplace_back(out.connection, out.frame.seq);
  const std::vector<std::pair<ConnectionId, std::uint64_t>> expected{
      {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}};
  CHECK(seen == expected);

  // A burst costs each fence once per connection.
  REQUIRE(session.send("fence 2", Spread::kAll, kStart).ok());
  CHECK(session.take_outgoing().size() == 3);
}

TEST_CASE("a lost connection's messages are sent again on another at once") {
  Session session({});
  session.connection_up(1, kStart);
  session.connection_up(2, kStart);
  REQUIRE(session.send("a", Spread::kOne, kStart).ok());
  REQUIRE(session.take_outgoing()[0].connection == 1);
  session.connection_down(1, kStart);
  const auto sent = session.take_outgoing();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].connection == 2);
  CHECK(session.resent() == 1);
}

TEST_CASE("an unacknowledged message visits every connection, ever less often") {
  Session session({});
  for (ConnectionId id : {1, 2, 3}) session.connection_up(id, kStart);
  REQUIRE(session.send("a", Spread::kOne, kStart).ok());
  std::vector<ConnectionId> visited;
  std::vector<std::int64_t> gaps_ms;
  Instant now = kStart;
  for (int i = 0; i < 6; ++i) {
    for (const auto& out : session.take_outgoing()) visited.push_back(out.connection);
    const Instant due = session.next_deadline();
    gaps_ms.push_back(to_ns(due - now) / 1'000'000);
    now = due;
    session.advance(now);
  }
  CHECK(visited == std::vector<ConnectionId>{1, 2, 3, 1, 2, 3});
  CHECK(gaps_ms == std::vector<std::int64_t>{100, 200, 400, 800, 800, 800});
}

TEST_CASE("duplicates are dropped and acknowledged again") {
  Session session({});
  session.connection_up(1, kStart);
  session.connection_up(2, kStart);
  REQUIRE(session.on_frame(1, message_frame(1, 0, "a"), kStart).ok());
  REQUIRE(session.on_frame(2, message_frame(1, 0, "a"), kStart).ok());
  CHECK(session.take_delivered() == std::vector<std::string>{"a"});
  const auto acks = session.take_outgoing();
  REQUIRE(acks.size() == 2);
  CHECK(acks[0].connection == 1);
  CHECK(acks[1].connection == 2);
  CHECK(acks[1].frame.seq == 0);
  CHECK(acks[1].frame.ack == 1);
}

TEST_CASE("what comes too early is held, within the bound") {
  Session session({.unacked_max = 4});
  session.connection_up(1, kStart);
  REQUIRE(session.on_frame(1, message_frame(3, 0, "c"), kStart).ok());
  REQUIRE(session.on_frame(1, message_frame(2, 0, "b"), kStart).ok());
  REQUIRE(session.on_frame(1, message_frame(5, 0, "beyond"), kStart).ok());
  CHECK(session.take_delivered().empty());
  REQUIRE(session.on_frame(1, message_frame(1, 0, "a"), kStart).ok());
  CHECK(session.take_delivered() == std::vector<std::string>{"a", "b", "c"});
  // The dropped one is still wanted: the acknowledgement does not cover it.
  CHECK(session.take_outgoing().back().frame.ack == 3);
}

TEST_CASE("early messages are bounded in bytes as well") {
  Session session({.unacked_max = 100, .unacked_bytes_max = 10});
  session.connection_up(1, kStart);
  REQUIRE(session.on_frame(1, message_frame(2, 0, "123456"), kStart).ok());
  REQUIRE(session.on_frame(1, message_frame(3, 0, "123456"), kStart).ok());
  REQUIRE(session.on_frame(1, message_frame(1, 0, "a"), kStart).ok());
  CHECK(session.take_delivered() == std::vector<std::string>{"a", "123456"});
}

TEST_CASE("over the bounds send says busy and nothing is lost") {
  Session few({.unacked_max = 2});
  REQUIRE(few.send("a", Spread::kOne, kStart).ok());
  REQUIRE(few.send("b", Spread::kOne, kStart).ok());
  CHECK(few.send("c", Spread::kOne, kStart).code() == Code::kBusy);
  CHECK(few.unacked() == 2);

  Session small({.unacked_bytes_max = 3});
  REQUIRE(small.send("abc", Spread::kOne, kStart).ok());
  CHECK(small.send("d", Spread::kOne, kStart).code() == Code::kBusy);
  small.connection_up(1, kStart);
  REQUIRE(small.on_frame(1, message_frame(0, 1, ""), kStart).ok());
  CHECK(small.send("d", Spread::kOne, kStart).ok());
}

TEST_CASE("what no correct peer sends is a protocol error") {
  struct Case {
    const char* what;
    SessionFrame frame;
  };
  const Case cases[] = {
      {"acknowledges what was never sent", message_frame(0, 2, "")},
      {"acknowledges the far future", message_frame(1, ~std::uint64_t{0}, "x")},
      {"a message without a number", message_frame(0, 0, "x")},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Session session({});
    session.connection_up(1, kStart);
    REQUIRE(session.send("a", Spread::kOne, kStart).ok());
    CHECK(session.on_frame(1, c.frame, kStart).code() == Code::kProtocol);
    CHECK(session.take_delivered().empty());
    CHECK(session.unacked() == 1);
  }
}

TEST_CASE("a frame from a connection that is gone is ignored") {
  Session session({});
  session.connection_up(1, kStart);
  session.connection_down(1, kStart);
  REQUIRE(session.on_frame(1, message_frame(1, 0, "a"), kStart).ok());
  CHECK(session.take_delivered().empty());
}

// Two sessions over connections that lose, duplicate, reorder, die and come
// back, all from one seed.
class LossyWorld {
 public:
  explicit LossyWorld(std::uint64_t seed) : prng_(seed) {}

  // The trace hash; 0 when something was lost, doubled or out of order.
  std::uint64_t run() {
    while (now_ < Instant(std::chrono::seconds(600))) {
      step();
      if (done()) return hash_ | 1;
    }
    return 0;
  }

 private:
  struct InFlight {
    Instant at;
    int to = 0;
    ConnectionId connection = 0;
    SessionFrame frame;
  };
  static constexpr int kMessages = 60;

  bool done() {
    for (int end : {0, 1}) {
      if (got_[end].size() < kMessages || ends_[end].unacked() > 0) return false;
    }
    for (int end : {0, 1}) {
      if (got_[end].size() > kMessages) FAIL("a message came twice");
      for (int i = 0; i < kMessages; ++i) {
        if (got_[end][static_cast<std::size_t>(i)] != std::to_string(i)) FAIL("out of order");
      }
    }
    return true;
  }

  void step() {
    now_ += std::chrono::microseconds(prng_.between(100, 5000));
    if (prng_.chance(80)) change_connections();
    for (int end : {0, 1}) {
      if (queued_[end] < kMessages && prng_.chance(300)) {
        const Spread spread = prng_.chance(300) ? Spread::kAll : Spread::kOne;
        if (ends_[end].send(std::to_string(queued_[end]), spread, now_).ok()) ++queued_[end];
      }
      if (ends_[end].next_deadline() <= now_) ends_[end].advance(now_);
      drain(end);
    }
    arrive();
  }

  void change_connections() {
    if (live_.size() < 3 && prng_.chance(600)) {
      live_.push_back(++last_connection_);
      for (auto& end : ends_) end.connection_up(last_connection_, now_);
    } else if (!live_.empty()) {
      const auto index = prng_.below(live_.size());
      for (auto& end : ends_) end.connection_down(live_[index], now_);
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }

  void drain(int end) {
    for (auto& out : ends_[end].take_outgoing()) {
      const int copies = prng_.chance(300) ? 0 : prng_.chance(200) ? 2 : 1;
      for (int i = 0; i < copies; ++i) {
        const Instant at = now_ + std::chrono::microseconds(prng_.between(50, 20000));
        wire_.push_back({at, 1 - end, out.connection, out.frame});
      }
    }
    for (auto& text : ends_[end].take_delivered()) {
      hash_ = hash_ * 1099511628211ULL + std::hash<std::string>{}(text) + end +
              static_cast<std::uint64_t>(to_ns(now_));
      got_[end].push_back(std::move(text));
    }
  }

  void arrive() {
    std::vector<InFlight> due;
    std::erase_if(wire_, [&](InFlight& f) {
      if (f.at > now_) return false;
      due.push_back(std::move(f));
      return true;
    });
    for (const InFlight& f : due) {
      REQUIRE(ends_[f.to].on_frame(f.connection, f.frame, now_).ok());
      drain(f.to);
    }
  }

  Prng prng_;
  Instant now_{};
  Session ends_[2] = {Session({.unacked_max = 16}), Session({.unacked_max = 8})};
  int queued_[2] = {0, 0};
  std::vector<std::string> got_[2];
  std::vector<ConnectionId> live_;
  ConnectionId last_connection_ = 0;
  std::vector<InFlight> wire_;
  std::uint64_t hash_ = 14695981039346656037ULL;
};

TEST_CASE("every message arrives exactly once and in order, whatever the connections do") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const std::uint64_t first = LossyWorld(seed).run();
    REQUIRE(first != 0);
    if (seed <= 20) REQUIRE(LossyWorld(seed).run() == first);
  }
}

}  // namespace
}  // namespace spindrift::control
