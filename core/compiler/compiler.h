// CompileModel: the whole compiler, from a model's files to an artifact.
#ifndef SLIPWAY_CORE_COMPILER_COMPILER_H_
#define SLIPWAY_CORE_COMPILER_COMPILER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/backends/keep_blob.h"
#include "core/base/blob.h"
#include "core/base/clock.h"
#include "core/codegen/kernel_cache.h"
#include "core/graph/graph.h"
#include "core/passes/pipeline.h"
#include "core/passes/quantize_pass.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/graph.pb.h"

namespace slipway {

// A model as its files.
struct ModelSource {
  struct File {
    std::string name;  // As in v1.ModelFile.
    Blob bytes;
  };
  v1::ModelFormat format = v1::MODEL_FORMAT_ONNX;
  std::vector<File> files;  // The main file first.
};

struct CompilerOptions {
  // What symbolic dimensions may be, by name; where both bounds are equal the program is for that extent alone.
  std::map<std::string, Interval> dimensions;
  // Name of a pass: CompileReport.printed_graph is the graph after it. Empty for none.
  std::string print_after;
  // Names of values that the program gives as outputs, too; "*" in them stands for any characters (kept_values.h).
  std::vector<std::string> keep;
  // What values of the model hold: products of weights with them are computed in 8 bits (core/passes/quantize_pass.h).
  ValueRanges ranges;
  // Such values are outputs of the program, too, as by `keep`. Not together with ranges.
  bool observe = false;
  // What products of f32 are computed in where the target has instructions for that; where it has none f32 is faster, and CompileReport.precision says
  // so. Not kInt8, which `ranges` say.
  Precision precision = Precision::kFloat32;
  // Names of optional passes that are left out (core/passes/pipeline.h).
  std::vector<std::string> without;
  // How kernels are cut, as ParseScheduleRecords of core/schedules reads it; may be empty.
  std::string schedules;
  bool print_schedules =
      false;  // Puts how all kernels are cut into CompileReport.printed_schedules.
  bool tell_candidates = false;  // Puts how else they may be into CompileReport.candidates.
  // Not empty: the code is an object to be linked into another program, and this is what its symbols begin with
  // (core/artifact/library_name.h).
  std::string library_name;
  // In place of the model's program, one whose outputs are constants: what the reference makes of these inputs
  // (evaluated_graph.h). How products are computed, and which passes are left out, does not matter then.
  std::optional<std::vector<NamedTensor>> evaluate;
  // For the manifest; may be empty.
  std::string compile_key;
};

// Where a compilation is: "import", "passes", "kernels", "done". `done` of `total` parts of the stage are
// done; both are 0 where there are no parts.
using CompileProgress = std::function<void(absl::string_view stage, int64_t done, int64_t total)>;

struct OwnOperator;  // core/compiler/own_operator.h

// What is pointed to outlives the compilation.
struct CompileEnvironment {
  const Clock* clock = nullptr;
  KernelCache* kernel_cache = nullptr;  // Null for none.
  int threads = 2;                      // Kernels compiled at once.
  absl::Duration kernel_deadline = absl::Seconds(60);
  int64_t kernel_memory_bytes = int64_t{2} << 30;  // Address space that compiling one may add.
  CompileProgress progress;                        // May be empty.
  KeepBlob keep_blob = KeepInMemory;  // Given every blob of the artifact, as it is made.
  // Operators of the caller's own, beside those of core/operators.
  absl::Span<const OwnOperator> own_operators;
};

struct CompiledModel {
  Artifact artifact;
  v1::CompileReport report;
};

// Not for processes with several threads: kernels are compiled in forked children
// (core/codegen/kernel_compiler.h). Nothing is kept between calls but the kernel cache.
//
// INVALID_ARGUMENT: the model or an option is wrong; UNIMPLEMENTED: it needs what Slipway lacks
// (operator, opset, format, target); RESOURCE_EXHAUSTED: it is over a limit; each names the thing.
// Errors of KnowOperators; INTERNAL and DEADLINE_EXCEEDED: a kernel crashed the code generator, or took too long.
absl::StatusOr<CompiledModel> CompileModel(const ModelSource& model, const Target& target,
                                           const CompilerOptions& options,
                                           const CompileEnvironment& environment);

// The same from a graph of those operators; `options.dimensions` is not looked at.
absl::StatusOr<CompiledModel> CompileGraph(Graph graph, const Target& target,
                                           const CompilerOptions& options,
                                           const CompileEnvironment& environment);

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_COMPILER_H_
