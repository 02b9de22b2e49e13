// What a shell shows: pure functions from values to text and JSON. Every text ends in a newline.
#ifndef SLIPWAY_CLIENT_SHELL_RENDER_SHELL_H_
#define SLIPWAY_CLIENT_SHELL_RENDER_SHELL_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/cli/render_profile.h"
#include "client/session.h"
#include "client/types.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

struct NamedTensorType {
  std::string name;
  TensorType type;
};
struct NamedFunctions {
  std::string name;
  std::vector<RemoteFunction> functions;
};

// `took` is the device's time; zero where it is not known.
std::string RenderProgram(const NamedFunctions& program, absl::Duration took);
std::string RenderProgramJson(const NamedFunctions& program, absl::Duration took);
std::string RenderTensors(absl::Span<const NamedTensorType> tensors, absl::Duration took);
std::string RenderTensorsJson(absl::Span<const NamedTensorType> tensors, absl::Duration took);
std::string RenderTimes(const BenchmarkResult& result);
std::string RenderTimesJson(const BenchmarkResult& result);
std::string RenderProfileJson(absl::Duration duration, const StepProfile& profile);
// An empty `file`: it was not written.
std::string RenderTensor(const NamedTensor& tensor, const std::string& file);
std::string RenderTensorJson(const NamedTensor& tensor, const std::string& file);
std::string RenderList(absl::Span<const NamedFunctions> programs,
                       absl::Span<const NamedTensorType> tensors);
std::string RenderListJson(absl::Span<const NamedFunctions> programs,
                           absl::Span<const NamedTensorType> tensors);
std::string RenderFacts(const SessionFacts& facts);
std::string RenderFactsJson(const SessionFacts& facts);
// Of a command that has nothing to show in text.
std::string RenderNothingJson();

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_SHELL_RENDER_SHELL_H_
