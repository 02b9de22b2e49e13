#include "server/compile_worker/model_compiler.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/base/clock.h"
#include "core/base/processors/usable_processors.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_cache.h"
#include "core/compiler/compiler.h"
#include "core/compiler/fingerprint.h"
#include "core/target/target.h"
#include "core/wire/precision_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway::worker {
namespace {

constexpr int kMaxThreads = 16;

// Puts the manifest into the store, where the blobs are that it names.
absl::StatusOr<CompileOutput> Store(CompiledModel model, BlobStore& store) {
  CompileOutput output;
  output.blobs = model.artifact.manifest().blobs();
  SLIPWAY_RETURN_IF_ERROR(store.Put(model.artifact.digest(), model.artifact.manifest().bytes()));
  output.manifest = model.artifact.digest();
  output.report = std::move(model.report);
  return output;
}

absl::StatusOr<CompileOutput> Compile(const CompileInput& input, const ReportProgress& progress) {
  const SystemClock clock;
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(input.spec.target().name()));
  ModelSource source;
  source.format = input.spec.model().format();
  for (const InputFile& file : input.files) source.files.push_back({file.name, file.bytes});
  CompilerOptions options;
  for (const v1::DimensionBinding& dimension : input.spec.options().dimensions()) {
    options.dimensions[dimension.symbol()] = {
        dimension.value(), dimension.max() == 0 ? dimension.value() : dimension.max()};
  }
  options.print_after = input.spec.options().print_after();
  options.keep.assign(input.spec.options().keep().begin(), input.spec.options().keep().end());
  options.without.assign(input.spec.options().without().begin(),
                         input.spec.options().without().end());
  for (const v1::ValueRange& range : input.spec.options().ranges()) {
    options.ranges[range.name()] = {range.least(), range.greatest()};
  }
  options.observe = input.spec.options().observe();
  SLIPWAY_ASSIGN_OR_RETURN(options.precision, FromProto(input.spec.options().precision()));
  options.schedules = input.spec.options().schedules();
  options.print_schedules = input.spec.options().print_schedules();
  options.tell_candidates = input.spec.options().tell_candidates();
  options.library_name = input.spec.options().library_name();
  if (input.spec.options().has_evaluation()) {
    options.evaluate.emplace();
    for (const v1::Tensor& tensor : input.spec.options().evaluation().inputs()) {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor value, FromProto(tensor, [&input](const Digest& digest) {
                                 return input.artifact_store.Get(digest);
                               }));
      options.evaluate->push_back({tensor.name(), std::move(value)});
    }
  }
  options.compile_key = input.compile_key;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<KernelCache> cache,
                                FileKernelCache::Create({.folder = input.kernel_cache_folder}),
                                "kernel cache");
  CompileEnvironment environment;
  environment.clock = &clock;
  environment.kernel_cache = cache.get();
  environment.threads = std::min(static_cast<int>(UsableProcessors().size()), kMaxThreads);
  environment.progress = progress;
  BlobStore& store = input.artifact_store;
  environment.keep_blob = [&store](const Digest& digest, const Blob& blob) -> absl::StatusOr<Blob> {
    SLIPWAY_RETURN_IF_ERROR(store.Put(digest, blob.bytes()));
    return store.Get(digest);
  };
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel model, CompileModel(source, target, options, environment));
  return Store(std::move(model), store);
}

}  // namespace

Compiler ModelCompiler() {
  return {.targets = [] { return CompilerTargets(); }, .compile = Compile};
}

}  // namespace slipway::worker
