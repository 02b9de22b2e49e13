// In which order the nodes of a graph or function are read. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_NODE_ORDER_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_NODE_ORDER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace slipway {

// The names that a body reads from around it.
absl::flat_hash_set<std::string> FreeNames(const onnx::GraphProto& body);

// The nodes so that each stands behind those that make what it, or a body of it, reads; in the given order where that
// allows. INVALID_ARGUMENT names a node on a cycle.
absl::StatusOr<std::vector<const onnx::NodeProto*>> InOrder(
    absl::Span<const onnx::NodeProto* const> nodes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_NODE_ORDER_H_
