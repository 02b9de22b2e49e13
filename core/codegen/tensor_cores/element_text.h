// Steps that are done to an element, as instructions.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/codegen/tensor_cores/element_steps.h"
#include "core/codegen/tensor_cores/ptx_writer.h"

namespace slipway {

// The register, or number, that holds the result of one element: `head` holds what the steps begin with, `tensors` what they read at its place.
std::string WriteSteps(absl::Span<const ElementStep> steps, const ElementStep::Operand& result,
                       const std::string& head, const std::vector<std::string>& tensors,
                       PtxWriter& writer);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_
