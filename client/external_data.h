// Which files an ONNX model refers to, found without understanding it: a scan of protocol buffers' wire format
// for TensorProto.external_data. Whoever compiles the model checks the rest.
#ifndef SLIPWAY_CLIENT_EXTERNAL_DATA_H_
#define SLIPWAY_CLIENT_EXTERNAL_DATA_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway {

// The `location` of every tensor with external data, each once, in the order of the file, as the file spells
// it: nothing is checked. Bytes that are no model give what was found before they stopped making sense. At
// most `max_locations` are returned; time is linear in the size of the model.
std::vector<std::string> FindExternalData(absl::string_view model, size_t max_locations);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_EXTERNAL_DATA_H_
