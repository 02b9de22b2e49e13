#include "server/compile_worker/model_compiler.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "core/artifact/artifact.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_cache.h"
#include "core/compiler/compiler.h"
#include "core/compiler/fingerprint.h"
#include "core/target/target.h"

namespace slipway::worker {
namespace {

constexpr int kMaxThreads = 16;
constexpr size_t kWriters = 8;

// Processors that this process may use.
int Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
}

// Several at a time: most of the time goes into waiting for the disk. Kernels are compiled by now, and so this
// process may have threads.
absl::Status PutAll(const Artifact& artifact, const std::vector<Digest>& digests,
                    BlobStore& store) {
  std::atomic<size_t> next = 0;
  absl::Mutex mu;
  absl::Status first_error;
  std::vector<std::thread> writers;
  for (size_t i = 0; i < std::min<size_t>(kWriters, digests.size()); ++i) {
    writers.emplace_back([&] {
      for (size_t index; (index = next++) < digests.size();) {
        const absl::Status status =
            store.Put(digests[index], artifact.blob(digests[index]).bytes());
        absl::MutexLock lock(&mu);
        first_error.Update(status);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  return first_error;
}

// Puts the artifact into the store, the manifest last.
absl::StatusOr<CompileOutput> Store(CompiledModel model, BlobStore& store, const Clock& clock) {
  const absl::Duration begin = clock.Monotonic();
  CompileOutput output;
  output.blobs = model.artifact.manifest().blobs();
  SLIPWAY_RETURN_IF_ERROR(PutAll(model.artifact, output.blobs, store));
  SLIPWAY_RETURN_IF_ERROR(store.Put(model.artifact.digest(), model.artifact.manifest().bytes()));
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
  ModelSource source;
  source.format = input.spec.model().format();
  for (const InputFile& file : input.files) source.files.push_back({file.name, file.bytes.bytes()});
  CompilerOptions options;
  for (const v1::DimensionBinding& dimension : input.spec.options().dimensions()) {
    options.dimensions[dimension.symbol()] = {
        dimension.value(), dimension.max() == 0 ? dimension.value() : dimension.max()};
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
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel model, CompileModel(source, target, options, environment));
  return Store(std::move(model), input.artifact_store, clock);
}

}  // namespace

Compiler ModelCompiler() {
  return {.targets = [] { return CompilerTargets(); }, .compile = Compile};
}

}  // namespace slipway::worker
