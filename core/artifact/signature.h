// What a program takes and gives, as its callers see it.
#ifndef SLIPWAY_CORE_ARTIFACT_SIGNATURE_H_
#define SLIPWAY_CORE_ARTIFACT_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace slipway {

// An extent of an input or output: a number, or one that is computed from symbols when the program runs.
struct PortExtent {
  int64_t min = 0;
  int64_t max = 0;
  // For people: the number, or how it is computed: "224", "batch", "ceil(width / 2)".
  std::string text;

  bool is_known() const { return min == max; }
  friend bool operator==(const PortExtent&, const PortExtent&) = default;
};

// The type of an input or output.
struct PortType {
  DataType dtype = DataType::kInvalid;
  std::vector<PortExtent> extents;

  // The type whose extents are all known.
  static PortType Of(const TensorType& type);

  // Whether a tensor of this type may be given here. That extents which share symbols agree with each other is
  // found out by the runtime.
  bool Admits(const TensorType& type) const;

  // The smallest type it admits. Of all inputs together these fit each other: a symbol has one smallest value.
  TensorType Smallest() const;

  friend bool operator==(const PortType&, const PortType&) = default;
};

// "f32[batch, 3, 224, 224]"
std::string ToString(const PortType& type);

// An input or output of a program.
struct NamedType {
  std::string name;
  PortType type;
};

// What a program takes and gives, in the model's order.
struct ProgramSignature {
  std::vector<NamedType> inputs;
  std::vector<NamedType> outputs;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_SIGNATURE_H_
