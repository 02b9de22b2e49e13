#include "tests/load/marked_result.h"

#include <cstring>

#include "core/tensor/tensor.h"
#include "core/wire/tensor_proto.h"

namespace slipway::testing {

v1::RunResult MarkedResult(const std::string& device, int64_t mark) {
  v1::RunResult result;
  result.set_device(device);
  v1::Tensor& output = *result.add_outputs();
  output = ToInlineProto("y", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  std::memcpy(output.mutable_inline_data()->data(), &mark, sizeof(mark));
  return result;
}

int64_t MarkOf(const v1::RunResult& result) {
  if (result.outputs_size() != 1) return 0;
  const std::string& data = result.outputs(0).inline_data();
  int64_t mark = 0;
  if (data.size() >= sizeof(mark)) std::memcpy(&mark, data.data(), sizeof(mark));
  return mark;
}

}  // namespace slipway::testing
