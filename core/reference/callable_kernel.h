// CallableKernel: a kernel of core/kernels that serves both the reference and compiled programs, and how a node's call of
// it is written down.
#ifndef SLIPWAY_CORE_REFERENCE_CALLABLE_KERNEL_H_
#define SLIPWAY_CORE_REFERENCE_CALLABLE_KERNEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/tensor/tensor.h"

namespace slipway {

// The numbers that a kernel reads by Call::Integer and Call::Real, in the order of adding.
class KernelParameters {
 public:
  void Add(int64_t value) { values_.push_back(value); }
  void AddReal(double value);
  // The values alone, not their number.
  void AddAll(absl::Span<const int64_t> values) {
    values_.insert(values_.end(), values.begin(), values.end());
  }
  const std::vector<int64_t>& values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};

// Adds what a kernel needs to know of a node (CallableKernel::parameters).
using ParametersFunction = std::function<absl::Status(const NodeView&, KernelParameters&)>;
// Adds the attributes of these names, which are of the kind float and set or have a default.
ParametersFunction RealAttributes(std::vector<std::string> names);

struct CallableKernel {
  std::string symbol;       // The function's name in the archives of //core/kernels.
  slipway_kernel function;  // The same function in this process.
  // Adds what the kernel needs to know of the node. Empty where that is nothing. It must not hang on the values of
  // inputs unless the type rule does.
  ParametersFunction parameters;

  // Set where the type rule leaves extents of outputs unknown that values decide: what finds them, given the same
  // parameters and inputs.
  std::string extents_symbol = "";
  slipway_kernel extents = nullptr;
  enum class Finds {
    kOne,  // One number, which every unknown extent is (Call::Count).
    kEvery,  // Extents of all outputs that the node has, those that are wanted (core/kernels/extents.h).
  };
  Finds finds = Finds::kOne;
};

// The first argument of a call for this node (core/kernels/call.h), i64[n]. `outputs` has the element type of each
// output, kInvalid where it is omitted. Errors of `parameters`.
absl::StatusOr<Tensor> ParametersTensor(const CallableKernel& kernel, const NodeView& view,
                                        absl::Span<const DataType> outputs);
// The same for a call of kernel.extents: for each extent of the outputs that are there, one after the other, whether it is
// wanted.
absl::StatusOr<Tensor> ExtentsParametersTensor(const CallableKernel& kernel, const NodeView& view,
                                               absl::Span<const DataType> outputs,
                                               const std::vector<bool>& wanted);

// The types of the node's outputs with every unknown extent found. REQUIRES: kernel.extents. Errors as CallKernel.
absl::StatusOr<std::vector<ValueType>> FindExtents(const CallableKernel& kernel,
                                                   const NodeView& view,
                                                   absl::Span<const Tensor* const> inputs,
                                                   std::vector<ValueType> types);

// Calls the function for the node. `inputs` and `outputs` as in KernelCall. INVALID_ARGUMENT with the kernel's message
// when it fails; UNIMPLEMENTED for operands that the kernel ABI cannot describe.
absl::Status CallKernel(const CallableKernel& kernel, const NodeView& view,
                        absl::Span<const Tensor* const> inputs, absl::Span<Tensor> outputs);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_CALLABLE_KERNEL_H_
