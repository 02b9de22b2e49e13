// How verbs name a model or artifact and what it is compiled for.
#ifndef SLIPWAY_CLIENT_CLI_MODEL_FLAGS_H_
#define SLIPWAY_CLIENT_CLI_MODEL_FLAGS_H_

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/artifact_summary.h"
#include "client/cli/connection.h"
#include "client/client.h"
#include "core/base/flags.h"

namespace slipway::cli {

// What can be left out of a compilation by "--no-FLAG", to see what it brings.
struct Optimization {
  const char* flag;
  const char* pass;  // core/passes/README.md
  const char* help;
};
inline constexpr size_t kOptimizations = 15;
absl::Span<const Optimization> Optimizations();

constexpr std::array<bool, kOptimizations> AllOptimizations() {
  std::array<bool, kOptimizations> all = {};
  for (bool& optimization : all) optimization = true;
  return all;
}

struct ModelFlags {
  std::string target;
  std::string device;
  std::vector<std::string> dimensions;
  std::vector<std::string> keep;
  std::string precision = "f32";      // See precision.h.
  std::vector<std::string> examples;  // See examples.h.
  std::string schedules;              // A file; empty: none.
  int64_t priority = 0;
  std::vector<std::string> tags;  // "KEY=VALUE"
  // By number of Optimizations(): false where "--no-..." leaves it out.
  std::array<bool, kOptimizations> optimizations = AllOptimizations();

  void AddTo(FlagSet& flags, bool runs);
};

// "SYMBOL=N" or "SYMBOL=MIN..MAX", as "--dimension" takes them; else a wrong call.
absl::StatusOr<DimensionBounds> ParseDimension(const std::string& text);

// Those that match a selector; NOT_FOUND, unreachable, with why there are none.
absl::StatusOr<std::vector<Device>> MatchingDevices(Client& client, const std::string& selector);

// What to compile for: --target; else the target of --device, or the one that all share that match it; else, when `runs`, the one that all devices
// share; else this machine's. `devices` may be empty when none is asked for. Canonical; a wrong call when
// unknown, with the known ones, or when devices differ.
absl::StatusOr<std::string> ChooseTarget(const ModelFlags& flags, bool runs,
                                         absl::Span<const Device> devices);

// Compiles `path` with the server, showing progress.
absl::StatusOr<Job> CompileModel(Environment& environment, Connection& connection,
                                 const std::string& path, const CompileOptions& options);
// The options the flags say; `runs` as in ChooseTarget.
absl::StatusOr<CompileOptions> MakeCompileOptions(Connection& connection, const ModelFlags& flags,
                                                  bool runs);

// The artifact of `path`, a .slip file or a model, at the server and ready to run.
absl::StatusOr<ArtifactSummary> PrepareArtifact(Environment& environment, Connection& connection,
                                                const std::string& path, const ModelFlags& flags);

// A wrong call unless `path` is a file.
absl::Status CheckFile(const std::string& path);

// The canonical spelling of a "--target", in which "host" is this machine; else a wrong call with the known ones.
absl::StatusOr<std::string> CanonicalTarget(const std::string& text);

// Whether the file is an artifact, by how it begins or is called.
absl::StatusOr<bool> IsSlip(const std::string& path);

// A wrong call unless `path` is a file that is to be compiled, and `output`, where what comes of it is to be written, is empty or
// ends in .slip.
absl::Status CheckModelAndOutput(const std::string& path, const std::string& output);

// "model.onnx" of "a/b/model.onnx".
std::string BaseName(absl::string_view path);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_MODEL_FLAGS_H_
