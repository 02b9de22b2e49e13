// ONNX tensors and types to ours. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/tensor/tensor.h"

namespace onnx {
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace slipway {

// A tensor with its data inside or in one of the model's other files. Errors do not name it.
absl::StatusOr<Tensor> ConvertTensor(const onnx::TensorProto& proto, const OnnxFiles& files);

// The type declared for a value; errors name it. UNIMPLEMENTED for symbolic dimensions that
// `options` gives no extent.
absl::StatusOr<TensorType> ConvertType(const onnx::ValueInfoProto& proto,
                                       const OnnxImportOptions& options);

// The canonical form of an external file's name: "./a//b" is "a/b". INVALID_ARGUMENT for names that
// are empty or absolute or leave the model's folder.
absl::StatusOr<std::string> NormalizeExternalName(absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_
