// From an Intent to a job for the executor: everything about it is checked here,
// before anything moves. Pure but for the regions' user counts, which the
// returned state holds until it finishes or is dropped unsubmitted, and for the
// buffers that it takes and gives back.
#pragma once

#include <memory>

#include "api/peer.h"
#include "api/regions.h"
#include "api/transfer_state.h"
#include "executor/executor_options.h"
#include "spindrift/intent.h"

namespace spindrift::api {

// "write of 64 MiB in 3 ranges to segment kv"
std::string describe(const Intent& intent, std::uint64_t bytes);

// kInvalidArgument, kOutOfRange, kNotRegistered, kPermissionDenied,
// kPeerRestarted. The job still lacks its id, plan and times.
Result<std::shared_ptr<Transfer::State>> prepare(Intent& intent, const PeerView& peer,
                                                 const RegionList& regions,
                                                 const std::shared_ptr<SubmitBuffers>& buffers);

// Gives the regions of a state that will not be submitted back.
void release(Transfer::State& state);

}  // namespace spindrift::api
