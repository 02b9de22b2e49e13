// How the importer speaks of what stands in a model. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_NAMES_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace slipway {

// Names end up in messages, logs and terminals: what a terminal would obey is shown as "?".
std::string WithoutControls(absl::string_view text);

// INVALID_ARGUMENT for a value's name that is empty or has control characters in it. `what` is for the message.
absl::Status CheckValueName(absl::string_view name, absl::string_view what);

// `node "conv1" (Conv)`, called after its first output where it has no name.
std::string Describe(const onnx::NodeProto& node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_NAMES_H_
