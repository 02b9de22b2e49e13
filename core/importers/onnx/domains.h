// Domains of operators and their opsets. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_DOMAINS_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_DOMAINS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace slipway {

// The opset of ONNX's own operators; 0 where a model, or a function, uses none of these. UNIMPLEMENTED for opsets and
// models of domains that are not supported.
absl::StatusOr<int> FindOpset(const onnx::ModelProto& model);
absl::StatusOr<int> FindOpset(const onnx::FunctionProto& function);

// The graph's name for the node's operator: operators of further domains are called by domain and name,
// "ai.onnx.ml.Scaler". UNIMPLEMENTED for domains that are not supported.
absl::StatusOr<std::string> OperatorName(const onnx::NodeProto& node, int opset);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_DOMAINS_H_
