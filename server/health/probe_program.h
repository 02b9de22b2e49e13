// The program that probes run: made of code that this binary holds, for each architecture, with what it must give.
#ifndef SLIPWAY_SERVER_HEALTH_PROBE_PROGRAM_H_
#define SLIPWAY_SERVER_HEALTH_PROBE_PROGRAM_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "core/artifact/artifact.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "core/target/target.h"
#include "proto/slipway/v1/run.pb.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// Immutable and thread-safe.
class ProbePrograms {
 public:
  static absl::StatusOr<ProbePrograms> Create();

  // Puts the programs into `blobs`, where they must stay: see digests(). Errors of the store.
  absl::Status PutInto(BlobStore& blobs) const;

  // What a device of the target is to run, and what the server knows of it; nothing for an architecture that there is no
  // program for.
  struct Program {
    v1::RunSpec run;
    RunFacts facts;
  };
  absl::optional<Program> For(const Target& device) const;

  // Of all blobs.
  const std::vector<Digest>& digests() const { return digests_; }

 private:
  std::vector<std::pair<Arch, Program>> programs_;
  std::vector<std::string> blobs_;
  std::vector<Digest> digests_;  // Of these.
};

// DATA_LOSS, with the first that is wrong, unless it is what a sound device gives.
absl::Status CheckProbeOutputs(const v1::RunResult& result);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HEALTH_PROBE_PROGRAM_H_
