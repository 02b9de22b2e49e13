// The seam between the worker's processes and the compiler.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_FUNCTION_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_FUNCTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/compiler/compiler_target.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/compile.pb.h"

namespace slipway::worker {

// One file of the model.
struct InputFile {
  std::string name;  // As in the model; checked against escapes.
  Blob bytes;
};

struct CompileInput {
  const v1::CompilationSpec& spec;
  const std::vector<InputFile>& files;  // The main file first.
  const std::string& compile_key;
  const std::string& kernel_cache_folder;
  BlobStore& artifact_store;  // Where the manifest and all blobs it names go.
};

struct CompileOutput {
  Digest manifest;
  std::vector<Digest> blobs;
  v1::CompileReport report;
};

// For people: what is done now; `total` is 0 when unknown.
using ReportProgress = std::function<void(absl::string_view stage, int64_t done, int64_t total)>;

// INVALID_ARGUMENT: the model is bad. UNIMPLEMENTED: something is lacking, named. Further codes of JobError.
using CompileFunction =
    std::function<absl::StatusOr<CompileOutput>(const CompileInput&, const ReportProgress&)>;

// A compiler, as the worker sees it.
struct Compiler {
  // What it compiles for; never empty.
  std::function<absl::StatusOr<std::vector<CompilerTarget>>()> targets;
  CompileFunction compile;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_FUNCTION_H_
