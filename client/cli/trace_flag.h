// "--trace": a file with what was done for the jobs of a verb, and when.
#ifndef SLIPWAY_CLIENT_CLI_TRACE_FLAG_H_
#define SLIPWAY_CLIENT_CLI_TRACE_FLAG_H_

#include <string>

#include "absl/status/status.h"
#include "client/artifact_summary.h"
#include "client/cli/environment.h"
#include "client/trace/followed_job.h"
#include "core/base/flags.h"

namespace slipway::cli {

class TraceFlag {
 public:
  void AddTo(FlagSet& flags);
  bool IsWanted() const { return !file_.empty(); }
  // A wrong call where jobs are not followed to their end.
  absl::Status Check(bool detach) const;
  // The same environment, in which jobs are followed; of this object, which must outlive it.
  Environment Watched(const Environment& environment);
  // Writes the file if it is wanted, and says so on `environment.err`. `program` is what the last job was about.
  absl::Status Write(Environment& environment, const ArtifactSummary& program) const;

 private:
  std::string file_;
  JobLog log_;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TRACE_FLAG_H_
