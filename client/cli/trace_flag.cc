#include "client/cli/trace_flag.h"

#include "client/cli/exit_code.h"
#include "client/trace/render_trace.h"
#include "client/trace/timeline.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

void TraceFlag::AddTo(FlagSet& flags) {
  flags.Add("trace", &file_, "FILE",
            "Write there what client, server, worker and agent did when, as JSON that Perfetto and "
            "chrome://tracing show; steps and kernels, too, with \"--profile\" of \"bench\".");
}

absl::Status TraceFlag::Check(bool detach) const {
  if (!IsWanted() || !detach) return absl::OkStatus();
  return WrongCall("\"--trace\" is of a job that is followed: not together with \"--detach\"");
}

Environment TraceFlag::Watched(const Environment& environment) {
  Environment watched = environment;
  if (IsWanted()) watched.job_log = &log_;
  return watched;
}

absl::Status TraceFlag::Write(Environment& environment, const ArtifactSummary& program) const {
  if (!IsWanted()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(
      file_, RenderTrace(MakeTimeline(log_.jobs(), program)), /*durable=*/false));
  environment.err << "wrote " << file_ << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
