// What older opsets of ONNX lack. Private to this folder.
#ifndef SLIPWAY_CORE_EXPORTERS_ONNX_OLDER_FORMS_H_
#define SLIPWAY_CORE_EXPORTERS_ONNX_OLDER_FORMS_H_

#include <string>

#include "core/graph/operator_registry.h"

namespace slipway {

// What this opset cannot say of the node, for a message; empty where it says all. Attributes that it lacks but that
// have their default are no matter: they are left out (IsOmitted).
std::string LackedBy(int opset, const Node& node, const OperatorSchema& schema);

// Whether the attribute is unknown to the opset, so that only its default can be meant.
bool IsOmitted(int opset, const std::string& op, const std::string& attribute);

// Whether tensors of this type can be said in the opset.
bool HasType(int opset, DataType dtype);

// The version of ONNX's file format that came with the opset.
int IrVersion(int opset);

}  // namespace slipway

#endif  // SLIPWAY_CORE_EXPORTERS_ONNX_OLDER_FORMS_H_
