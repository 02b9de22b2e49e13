#include "core/reference/callable_kernel.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernel_abi/element_type.h"
#include "core/tensor/dtype.h"

// What kernels import (core/kernels/call.h, parallel.h) when they run in this process.
struct slipway_context {
  std::string error;
};

extern "C" {

void* slipway_allocate(void* /*context*/, uint64_t bytes) {
  return operator new (bytes, std::align_val_t{64}, std::nothrow);
}

void slipway_release(void* /*context*/, void* memory) {
  operator delete (memory, std::align_val_t{64});
}

void slipway_error(void* context, const char* message) {
  static_cast<slipway_context*>(context)->error = message;
}

int32_t slipway_parallel_for(void* context, int32_t (*task)(void*, int32_t, uint8_t*), int32_t min,
                             int32_t extent, uint8_t* closure) {
  for (int32_t i = min; i < min + extent; ++i) {
    if (const int32_t result = task(context, i, closure); result != 0) return result;
  }
  return 0;
}

}  // extern "C"

namespace slipway {
namespace {

// A tensor as kernels see it. Refers to the tensor's bytes.
class Buffer {
 public:
  Buffer(const TensorType& type, char* bytes) : dimensions_(type.shape.size() + 1) {
    int64_t stride = 1;
    for (size_t d = 0; d < type.shape.size(); ++d) {
      const auto extent = static_cast<int32_t>(type.shape[type.shape.size() - 1 - d]);
      dimensions_[d] = {0, extent, static_cast<int32_t>(stride), 0};
      stride *= extent;
    }
    buffer_.host = reinterpret_cast<uint8_t*>(bytes);
    buffer_.type = ElementType(type.dtype);
    buffer_.dimensions = static_cast<int32_t>(type.shape.size());
    buffer_.dim = dimensions_.data();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  slipway_buffer* get() { return &buffer_; }

 private:
  std::vector<slipway_dimension> dimensions_;
  slipway_buffer buffer_ = {};
};

absl::StatusOr<KernelParameters> ParametersOf(const CallableKernel& kernel, const NodeView& view,
                                              absl::Span<const DataType> outputs) {
  KernelParameters parameters;
  parameters.Add(view.num_inputs());
  parameters.Add(static_cast<int64_t>(outputs.size()));
  for (int i = 0; i < view.num_inputs(); ++i) {
    const DataType dtype = view.has_input(i) ? view.input_type(i).dtype() : DataType::kInvalid;
    parameters.Add(static_cast<int64_t>(dtype));
  }
  for (const DataType dtype : outputs) parameters.Add(static_cast<int64_t>(dtype));
  if (kernel.parameters) SLIPWAY_RETURN_IF_ERROR(kernel.parameters(view, parameters));
  return parameters;
}

absl::StatusOr<Tensor> TensorOf(const absl::StatusOr<KernelParameters>& parameters) {
  SLIPWAY_RETURN_IF_ERROR(parameters.status());
  const std::vector<int64_t>& values = parameters->values();
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// Calls `function`, which writes to `outputs`, with these parameters of the node.
absl::Status Call(slipway_kernel function, Tensor parameters, const NodeView& view,
                  absl::Span<const Tensor* const> inputs, absl::Span<Tensor> outputs) {
  slipway_context context;
  slipway_context* context_pointer = &context;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void*> arguments = {&context_pointer};
  const auto add = [&](const TensorType& type, char* bytes) {
    if (type.num_elements() > std::numeric_limits<int32_t>::max()) return false;
    buffers.push_back(std::make_unique<Buffer>(type, bytes));
    arguments.push_back(buffers.back()->get());
    return true;
  };
  bool fits = add(parameters.type(), parameters.mutable_bytes());
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (!view.has_input(i)) continue;
    // Kernels write to outputs alone. Those that read types alone may be given no bytes (reads_types_only).
    char* bytes = inputs[i] == nullptr ? nullptr : const_cast<char*>(inputs[i]->bytes().data());
    fits = fits && add(view.input_type(i).tensor(), bytes);
  }
  for (Tensor& output : outputs) {
    if (output.is_set()) fits = fits && add(output.type(), output.mutable_bytes());
  }
  if (!fits) return view.Unimplemented("tensors of more than 2^31 - 1 elements are not supported");
  if (function(arguments.data()) != 0) return view.Error(context.error);
  return absl::OkStatus();
}

}  // namespace

void KernelParameters::AddReal(double value) { values_.push_back(absl::bit_cast<int64_t>(value)); }

ParametersFunction RealAttributes(std::vector<std::string> names) {
  return [names = std::move(names)](const NodeView& view, KernelParameters& parameters) {
    for (const std::string& name : names) parameters.AddReal(view.Float(name));
    return absl::OkStatus();
  };
}

absl::StatusOr<Tensor> ParametersTensor(const CallableKernel& kernel, const NodeView& view,
                                        absl::Span<const DataType> outputs) {
  return TensorOf(ParametersOf(kernel, view, outputs));
}

absl::StatusOr<Tensor> ExtentsParametersTensor(const CallableKernel& kernel, const NodeView& view,
                                               absl::Span<const DataType> outputs,
                                               const std::vector<bool>& wanted) {
  absl::StatusOr<KernelParameters> parameters = ParametersOf(kernel, view, outputs);
  if (parameters.ok() && kernel.finds == CallableKernel::Finds::kEvery) {
    for (const bool flag : wanted) parameters->Add(flag);
    parameters->Add(static_cast<int64_t>(wanted.size()));
  }
  return TensorOf(parameters);
}

absl::StatusOr<std::vector<ValueType>> FindExtents(const CallableKernel& kernel,
                                                   const NodeView& view,
                                                   absl::Span<const Tensor* const> inputs,
                                                   std::vector<ValueType> types) {
  std::vector<DataType> dtypes;
  std::vector<bool> wanted;
  int64_t count = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!view.has_output(static_cast<int>(i))) types[i] = ValueType();
    dtypes.push_back(types[i].dtype());
    if (types[i].dtype() == DataType::kInvalid) continue;
    for (const Dimension& dimension : types[i].dimensions()) {
      wanted.push_back(dimension.is_unknown());
      count += dimension.is_unknown();
    }
  }
  const bool is_one = kernel.finds == CallableKernel::Finds::kOne;
  SLIPWAY_ASSIGN_OR_RETURN(Tensor parameters,
                           ExtentsParametersTensor(kernel, view, dtypes, wanted));
  Tensor found = Tensor::Zeros(DataType::kInt64, {is_one ? 1 : count});
  SLIPWAY_RETURN_IF_ERROR(
      Call(kernel.extents, std::move(parameters), view, inputs, absl::MakeSpan(&found, 1)));
  size_t next = 0;
  for (ValueType& type : types) {
    if (type.dtype() == DataType::kInvalid) continue;
    Dimensions dimensions = type.dimensions();
    for (Dimension& dimension : dimensions) {
      if (dimension.is_unknown()) dimension = found.values<int64_t>()[is_one ? 0 : next++];
    }
    type = ValueType(type.dtype(), dimensions);
  }
  return types;
}

absl::Status CallKernel(const CallableKernel& kernel, const NodeView& view,
                        absl::Span<const Tensor* const> inputs, absl::Span<Tensor> outputs) {
  std::vector<DataType> dtypes;
  for (const Tensor& output : outputs) dtypes.push_back(output.dtype());
  SLIPWAY_ASSIGN_OR_RETURN(Tensor parameters, ParametersTensor(kernel, view, dtypes));
  return Call(kernel.function, std::move(parameters), view, inputs, outputs);
}

}  // namespace slipway
