#include "core/runtime/program.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::StatusOr<std::vector<Tensor>> Program::NewOutputs() const {
  std::vector<Tensor> outputs;
  for (const NamedType& output : signature().outputs) {
    const std::string context = absl::StrCat("output '", absl::Utf8SafeCEscape(output.name), "'");
    SLIPWAY_ASSIGN_OR_RETURN_WITH(TensorType type, output.type.Known(), context);
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, Tensor::Create(std::move(type)), context);
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

}  // namespace slipway
