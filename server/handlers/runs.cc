#include "server/handlers/runs.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/input_match.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/wire/benchmark_spec.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "server/devices/can_run.h"
#include "server/devices/device_need.h"
#include "server/handlers/new_job.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

struct CheckedRun {
  RunFacts facts;
  std::string name;  // Of the program.
  std::vector<Digest> blobs;
};

// All that must hold before a run is accepted.
absl::StatusOr<CheckedRun> CheckRun(const Environment& env, const v1::RunSpec& spec,
                                    int benchmark_version) {
  if (spec.threads() < 0 || spec.threads() > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", spec.threads(), "; 0 to ", kMaxThreads, " wanted"));
  }
  if (spec.name().size() > kMaxDisplayNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the program's name has ", spec.name().size(),
                                                   " bytes; at most ", kMaxDisplayNameBytes));
  }
  if (spec.loop_turns() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop_turns is ", spec.loop_turns(), "; 0 or more wanted"));
  }
  if (spec.dynamic_bytes() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("dynamic_bytes is ", spec.dynamic_bytes(), "; 0 or more wanted"));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest manifest, FromProto(spec.manifest()), "manifest");
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest program, env.artifacts->ReadProgram(manifest));
  SLIPWAY_RETURN_IF_ERROR(CheckInputs(env.limits, program.signature(), spec));
  const ProgramNeeds needs = {
      .target = program.target(),
      .abi = program.proto().min_reader_abi(),
      .format = program.proto().format_version(),
      .is_compiled_here = env.artifacts->IsCompiledHere(ArtifactLibrary::FactsOf(program)),
      .benchmark = benchmark_version};
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceNeed need, ReadDeviceNeed(spec.device(), needs));
  SLIPWAY_RETURN_IF_ERROR(env.dispatcher->CheckSomeDeviceFits(need));
  CheckedRun checked{.facts = {},
                     .name = spec.name().empty() ? program.proto().name() : spec.name(),
                     .blobs = program.blobs()};
  checked.facts.set_target(needs.target.ToString());
  checked.facts.set_abi(static_cast<int32_t>(needs.abi));
  checked.facts.set_format(static_cast<int32_t>(needs.format));
  checked.facts.set_compiled(needs.is_compiled_here);
  checked.facts.set_compile_key(program.proto().compile_key());
  for (const v1::ToolVersion& tool : program.proto().tools()) {
    checked.facts.add_tools(absl::StrCat(tool.name(), " ", tool.version()));
  }
  checked.facts.set_benchmark(needs.benchmark);
  checked.blobs.push_back(manifest);
  for (const v1::Tensor& input : spec.inputs()) {
    if (input.has_blob()) checked.blobs.push_back(*FromProto(input.blob()));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckPresent(*env.blobs, checked.blobs, "the run"));
  return checked;
}

// The id of a new job, or of the one that the request made before. `set_spec` puts the specification into it;
// `benchmark_version` is what an agent must know to do it.
template <typename SetSpec>
absl::StatusOr<std::string> AcceptNew(const Caller& caller, const Environment& env,
                                      const JobRequest& request, const v1::RunSpec& run,
                                      int benchmark_version, SetSpec set_spec) {
  SLIPWAY_RETURN_IF_ERROR(env.memory->MayBegin());
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedRun checked, CheckRun(env, run, benchmark_version));
  JobRecord record = NewRecord(caller, env, request, checked.name, checked.blobs);
  *record.mutable_run() = checked.facts;
  set_spec(record.mutable_job());
  SLIPWAY_ASSIGN_OR_RETURN(const JobRecord accepted,
                           env.dispatcher->Accept(caller, std::move(record)));
  return accepted.job().id();
}

template <typename Request, typename SetSpec>
absl::Status Accept(const Caller& caller, const Environment& env, const Request& request,
                    const v1::RunSpec& run, int benchmark_version, SetSpec set_spec,
                    v1::CreateJobResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const JobRequest job_request, ReadJobRequest(caller, env, request));
  const absl::StatusOr<std::string> id =
      AcceptNew(caller, env, job_request, run, benchmark_version, std::move(set_spec));
  if (id.ok()) {
    response->set_job_id(*id);
    return absl::OkStatus();
  }
  // What was accepted before needs nothing of what is refused now. Few requests come twice, so this is not asked first.
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<std::string> earlier,
                           FindEarlier(caller, env, job_request));
  if (!earlier.has_value()) return id.status();
  response->set_job_id(*earlier);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInputs(const HandlerLimits& limits, const ProgramSignature& signature,
                         const v1::RunSpec& spec) {
  if (spec.inputs_size() > kMaxInputs) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.inputs_size(), " inputs are given; at most ", kMaxInputs));
  }
  SLIPWAY_RETURN_IF_ERROR(MatchInputs(signature.inputs, spec.inputs()).status());
  int64_t total = 0;
  for (const v1::Tensor& input : spec.inputs()) {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(input.type()));
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(type.shape, ByteSize(type.dtype)));
    if (bytes > limits.max_input_bytes - total) {
      return absl::ResourceExhaustedError(absl::StrCat("the inputs have more than ",
                                                       limits.max_input_bytes,
                                                       " bytes, which this server allows"));
    }
    total += bytes;
  }
  return absl::OkStatus();
}

absl::Status CreateRun(const Caller& caller, const Environment& env,
                       const v1::CreateRunRequest& request, v1::CreateJobResponse* response) {
  return Accept(
      caller, env, request, request.spec(), /*benchmark_version=*/0,
      [&](v1::Job* job) { *job->mutable_run() = request.spec(); }, response);
}

absl::Status CreateBenchmark(const Caller& caller, const Environment& env,
                             const v1::CreateBenchmarkRequest& request,
                             v1::CreateJobResponse* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckBenchmarkSpec(request.spec()));
  return Accept(
      caller, env, request, request.spec().run(), BenchmarkVersionOf(request.spec()),
      [&](v1::Job* job) { *job->mutable_benchmark() = request.spec(); }, response);
}

}  // namespace slipway::server
