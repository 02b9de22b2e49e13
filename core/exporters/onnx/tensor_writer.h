// TensorWriter: tensors into a model, or into the file beside it. Private to this folder.
#ifndef SLIPWAY_CORE_EXPORTERS_ONNX_TENSOR_WRITER_H_
#define SLIPWAY_CORE_EXPORTERS_ONNX_TENSOR_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace slipway {

// Not thread-safe.
class TensorWriter {
 public:
  // `external_name` as in OnnxExportOptions.
  explicit TensorWriter(std::string external_name) : external_name_(std::move(external_name)) {}

  // RESOURCE_EXHAUSTED where those inside the model come to 2 GiB.
  absl::Status Write(const Tensor& tensor, absl::string_view name, onnx::TensorProto& proto);
  // The file beside the model; once.
  std::string TakeExternal() { return std::move(external_); }

 private:
  void MoveOut(onnx::TensorProto& proto);

  const std::string external_name_;
  std::string external_;
  int64_t bytes_ = 0;  // Of tensors inside the model.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_EXPORTERS_ONNX_TENSOR_WRITER_H_
