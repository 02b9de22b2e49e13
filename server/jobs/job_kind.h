// The kinds of jobs, for sums over each. Which a job is: KindOf (job_filter.h).
#ifndef SLIPWAY_SERVER_JOBS_JOB_KIND_H_
#define SLIPWAY_SERVER_JOBS_JOB_KIND_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway::server {

// All but KIND_UNSPECIFIED, in the order of their numbers, from 1 on.
inline constexpr std::array<v1::Job::Kind, 4> kJobKinds = {v1::Job::COMPILATION, v1::Job::RUN,
                                                           v1::Job::BENCHMARK, v1::Job::SESSION};

// "compilation", "run", "benchmark", "session". REQUIRES: one of kJobKinds.
constexpr absl::string_view KindName(v1::Job::Kind kind) {
  constexpr std::array<absl::string_view, kJobKinds.size()> kNames = {"compilation", "run",
                                                                      "benchmark", "session"};
  return kNames[static_cast<size_t>(kind) - 1];
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_KIND_H_
