#include "server/compile_worker/model_compiler.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/artifact/manifest.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_cache.h"
#include "core/compiler/compiler.h"
#include "core/compiler/fingerprint.h"
#include "core/target/target.h"

namespace slipway::worker {
namespace {

constexpr int kMaxThreads = 16;

// Processors that this process may use.
int Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
}

// Puts the artifact into the store, the manifest last.
absl::StatusOr<CompileOutput> Store(CompiledModel model, BlobStore& store, const Clock& clock) {
  const absl::Duration begin = clock.Monotonic();
  CompileOutput output;
  output.blobs = ReferencedBlobs(model.artifact.manifest());
  for (const Digest& digest : output.blobs) {
    SLIPWAY_RETURN_IF_ERROR(store.Put(digest, model.artifact.blob(digest).bytes()));
  }
  SLIPWAY_RETURN_IF_ERROR(store.Put(model.artifact.digest(), model.artifact.manifest_bytes()));
  output.manifest = model.artifact.digest();
  output.report = std::move(model.report);
  v1::StageTime& stage = *output.report.add_stages();
  stage.set_name("store");
  stage.set_duration_ns(absl::ToInt64Nanoseconds(clock.Monotonic() - begin));
  return output;
}

absl::StatusOr<CompileOutput> Compile(const CompileInput& input, const ReportProgress& progress) {
  const SystemClock clock;
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(input.spec.target().name()));
  ModelFiles files;
  files.format = input.spec.model().format();
  for (const InputFile& file : input.files) files.files.push_back({file.name, file.bytes.bytes()});
  CompileOptions options;
  for (const v1::DimensionBinding& dimension : input.spec.options().dimensions()) {
    options.dimensions[dimension.symbol()] = dimension.value();
  }
  options.print_after = input.spec.options().print_after();
  options.compile_key = input.compile_key;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<KernelCache> cache,
                                FileKernelCache::Create({.folder = input.kernel_cache_folder}),
                                "kernel cache");
  CompileEnvironment environment;
  environment.clock = &clock;
  environment.kernel_cache = cache.get();
  environment.threads = Processors();
  environment.progress = progress;
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel model, CompileModel(files, target, options, environment));
  return Store(std::move(model), input.artifact_store, clock);
}

}  // namespace

Compiler ModelCompiler() { return {.fingerprint = WorkerFingerprint, .compile = Compile}; }

}  // namespace slipway::worker
