// The bytes of a model apart from those of its large tensors. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_INSIDE_TENSORS_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_INSIDE_TENSORS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// Where, of the model's files, a tensor lies that stays in the main one. No file's name can be this.
inline constexpr absl::string_view kInsideModel = "//";

// Protocol buffers copy all that they parse. This is the model with tensors of kLargeTensorBytes or more told as external
// data in kInsideModel; what is no model stays none. Nothing of what the bytes say is trusted.
std::string WithLargeTensorsInside(absl::string_view model);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_INSIDE_TENSORS_H_
