// The parts of a job that are large and written once: what is to be done, and what came of it.
#ifndef SLIPWAY_SERVER_JOBS_JOB_CONTENTS_H_
#define SLIPWAY_SERVER_JOBS_JOB_CONTENTS_H_

#include "proto/slipway/v1/job.pb.h"

namespace slipway::server {

// Moves the specification of a job into another, which has none. Copies nothing.
void MoveSpec(v1::Job& from, v1::Job& to);
// The same for the result.
void MoveResult(v1::Job& from, v1::Job& to);

// Leaves out what lists do not show: the contents of tensors, printed graphs, schedules.
void ClearContents(v1::Job& job);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_CONTENTS_H_
