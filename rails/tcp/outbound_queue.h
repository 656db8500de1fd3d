// The attempts that are outstanding on one lane, oldest first: some settled but
// not yet told, some sent, one partly sent, the rest waiting. Turns them into
// frames and answers into events. Pure but for reading the source memory when it
// computes checksums. Owned by one thread; never allocates after construction.
//
//   front ─▶ [settled .. | sent .. | being sent | waiting ..] ◀─ back
//
// Frames are encoded anew for each system call, from the descriptors, which do
// not change: so a partly sent head needs no buffer of the lane's own.
#pragma once

#include <cstdint>

#include "base/bounded_vector.h"
#include "base/rail_types.h"
#include "base/ring.h"
#include "rails/tcp/io_batch.h"
#include "rails/tcp/payload_cursor.h"

namespace spindrift::rails::tcp {

class OutboundQueue {
 public:
  // `with_payload`: a write's frames carry their bytes, a read's do not.
  OutboundQueue(std::size_t attempts_max, bool with_payload, AttemptSeq first_seq)
      : slots_(attempts_max), with_payload_(with_payload), front_seq_(first_seq) {}

  bool full() const { return slots_.full(); }
  void push(const Attempt& attempt);
  bool all_sent() const { return sent_ == slots_.size(); }

  // Appends the next bytes to send, about `bytes_max` of them at most.
  void fill(IoBatch& batch, std::uint64_t bytes_max);
  // The kernel took `bytes` of what fill() appended.
  void sent(std::uint64_t bytes);
  std::uint64_t payload_sent() const { return payload_sent_; }

  // The oldest attempt without an answer, if it was sent in full.
  AttemptSeq answer_due() const { return front_seq_ + settled_; }
  bool awaits_answer() const { return settled_ < sent_; }
  struct Expected {
    PayloadCursor destination;
    std::uint64_t bytes = 0;
    bool checksum = false;
  };
  Expected expected();

  // Everything below `end` is settled and, if not refused, landed. False when
  // that cannot be: the peer speaks of what was not sent or goes back.
  [[nodiscard]] bool settle_to(AttemptSeq end);
  // `seq` failed, everything below it landed.
  [[nodiscard]] bool refuse(AttemptSeq seq, Cause cause);

  bool has_news() const { return settled_ > 0; }
  // Appends kLanded and kFailed while there is room, in order.
  void tell(LaneIndex lane, Generation generation, BoundedVector<RailEvent>& events);

 private:
  struct Slot {
    const ResolvedDescriptor* descriptors = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t checked = 0;  // payload bytes that `crc` covers
    std::uint32_t crc = 0;
    std::uint16_t head_bytes = 0;  // known once encoded
    std::uint16_t ranges = 0;
    bool checksum = false;
    Cause outcome = Cause::kNone;  // once settled
  };

  bool fill_frame(std::size_t i, IoBatch& batch, std::uint64_t bytes_max);
  bool fill_head(std::size_t i, std::uint64_t from, IoBatch& batch);
  bool fill_payload(Slot& slot, std::uint64_t& done, PayloadCursor& at, IoBatch& batch,
                    std::uint64_t bytes_max);
  bool fill_trailer(const Slot& slot, std::uint64_t from, IoBatch& batch);
  std::uint64_t frame_bytes(const Slot& slot) const;

  Ring<Slot> slots_;
  const bool with_payload_;
  AttemptSeq front_seq_;
  std::size_t settled_ = 0;     // from the front: answered, not yet told
  std::size_t sent_ = 0;        // from the front: sent in full; settled_ <= sent_
  std::uint64_t position_ = 0;  // in the frame of slots_[sent_]
  PayloadCursor cursor_;        // its next payload byte, while position_ > 0
  std::uint64_t payload_sent_ = 0;
};

}  // namespace spindrift::rails::tcp
