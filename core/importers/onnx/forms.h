// What becomes something else while it is imported, for documentation and tests.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_FORMS_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_FORMS_H_

#include <string>
#include <vector>

namespace slipway {

// An operator's form up to an opset, which is upgraded to that of today.
struct OldOnnxForm {
  std::string op;
  int last_opset = 0;
};
std::vector<OldOnnxForm> OldOnnxForms();  // Sorted.

// Operators, with their domain, that become ones of ONNX. Sorted.
std::vector<std::string> ExpandedOnnxOperators();

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_FORMS_H_
