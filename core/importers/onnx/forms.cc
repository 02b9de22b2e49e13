#include "core/importers/onnx/forms.h"

#include "core/importers/onnx/composition.h"

namespace slipway {

std::vector<std::string> ExpandedOnnxOperators() { return AllExpansions().Names(); }

}  // namespace slipway
