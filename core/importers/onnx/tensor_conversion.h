// ONNX tensors and types to ours. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/value_type.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/tensor/tensor.h"

namespace onnx {
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace slipway {

// A tensor with its data inside or in one of the model's other files. Errors do not name it.
absl::StatusOr<Tensor> ConvertTensor(const onnx::TensorProto& proto, const OnnxFiles& files);

// The symbols of a model: its symbolic dimensions in the order of first use, under names that symbols may have.
class SymbolicDimensions {
 public:
  // `options` must outlive this.
  explicit SymbolicDimensions(const OnnxImportOptions& options) : options_(options) {}

  // The extent of the dimension called `name`. INVALID_ARGUMENT for bounds that no extent has.
  absl::StatusOr<Dimension> Get(const std::string& name);
  const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  const OnnxImportOptions& options_;
  std::map<std::string, Dimension> known_;
  std::vector<Symbol> symbols_;
};

// The type declared for a value; errors name it. Symbolic dimensions are not known where `symbolic` is null.
absl::StatusOr<ValueType> ConvertType(const onnx::ValueInfoProto& proto,
                                      SymbolicDimensions* symbolic);

// The canonical form of an external file's name: "./a//b" is "a/b". INVALID_ARGUMENT for names that
// are empty or absolute or leave the model's folder.
absl::StatusOr<std::string> NormalizeExternalName(absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_TENSOR_CONVERSION_H_
