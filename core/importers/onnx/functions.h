// The functions that a model brings for operators of its own. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_FUNCTIONS_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_FUNCTIONS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace onnx {
class AttributeProto;
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace slipway {

// Refers to the model.
class FunctionTable {
 public:
  // INVALID_ARGUMENT for two functions with one domain, name and overload.
  static absl::StatusOr<FunctionTable> Create(const onnx::ModelProto& model);
  // The function that a node calls; null where it is an operator. A function goes before an operator of the same name.
  const onnx::FunctionProto* Find(const onnx::NodeProto& node) const;

 private:
  absl::flat_hash_map<std::string, const onnx::FunctionProto*> by_key_;
};

// What a function's attributes are in one call, by name. Those that are missing are left out where they are read.
using FunctionAttributes = absl::flat_hash_map<std::string, const onnx::AttributeProto*>;

// The attribute itself or, where it refers to one of the function around, that one: null where the call lacks it.
// INVALID_ARGUMENT for a reference outside of functions (`around` is null). Errors do not name the attribute.
absl::StatusOr<const onnx::AttributeProto*> ResolveAttribute(const onnx::AttributeProto& attribute,
                                                             const FunctionAttributes* around);

// The attributes that a call of the function gives, with its defaults. INVALID_ARGUMENT for one that it lacks.
absl::StatusOr<FunctionAttributes> AttributesOfCall(const onnx::NodeProto& call,
                                                    const onnx::FunctionProto& function,
                                                    const FunctionAttributes* around);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_FUNCTIONS_H_
