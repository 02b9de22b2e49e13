// Upgrades nodes of older opsets to the canonical one. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_UPGRADE_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_UPGRADE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/emitter.h"

namespace slipway {

// Whether this opset's form of an operator is an older one than kOpset's. The operator may have another name there.
bool IsUpgraded(int opset, absl::string_view op);

// Emits `node`, written for `opset`, as one or more nodes of kOpset that make the same outputs.
// UNIMPLEMENTED where the old form has a meaning that the new one lacks; errors name the node.
absl::Status EmitUpgraded(int opset, Node node, Emitter& emitter);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_UPGRADE_H_
