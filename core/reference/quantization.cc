#include "core/operators/quantization.h"

#include "core/base/status_macros.h"
#include "core/kernels/quantization.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView quantization, DecodeQuantization(view));
  parameters.Add(static_cast<int64_t>(quantization.granularity));
  parameters.Add(quantization.axis);
  parameters.Add(quantization.block);
  parameters.Add(static_cast<int64_t>(quantization.precision));
  parameters.Add(quantization.saturate);
  return absl::OkStatus();
}

template <typename To>
void LookUp(const KernelCall& call, const LookupView& lookup) {
  const bool is_signed = call.inputs[0]->dtype() == DataType::kInt8;
  const auto* const x = reinterpret_cast<const uint8_t*>(call.inputs[0]->bytes().data());
  for (int64_t i = 0; i < call.outputs[0].num_elements(); ++i) {
    const uint8_t code = is_signed ? x[i] ^ 0x80 : x[i];
    Out<To>(call)[i] = static_cast<To>(lookup.table[code]);
  }
}

absl::Status Lookup(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const LookupView lookup, DecodeLookup(call.view));
  if (lookup.to == DataType::kUint8) LookUp<uint8_t>(call, lookup);
  if (lookup.to == DataType::kInt8) LookUp<int8_t>(call, lookup);
  if (lookup.to == DataType::kInt16) LookUp<int16_t>(call, lookup);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterQuantizationKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("QuantizeLinear",
                  CallableKernel{"slipway_QuantizeLinear", slipway_QuantizeLinear, Parameters}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "DequantizeLinear",
      CallableKernel{"slipway_DequantizeLinear", slipway_DequantizeLinear, Parameters}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.Lookup", Lookup));
  return kernels.Add(
      "DynamicQuantizeLinear",
      CallableKernel{"slipway_DynamicQuantizeLinear", slipway_DynamicQuantizeLinear, {}});
}

}  // namespace slipway
