// ONNX attributes to ours. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_ATTRIBUTE_CONVERSION_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_ATTRIBUTE_CONVERSION_H_

#include "absl/status/statusor.h"
#include "core/graph/attributes.h"
#include "core/importers/onnx/onnx_importer.h"

namespace onnx {
class AttributeProto;
}  // namespace onnx

namespace slipway {

// An attribute that is no graph. UNIMPLEMENTED for kinds that no operator here has; errors do not name it.
absl::StatusOr<Attribute> ConvertAttribute(const onnx::AttributeProto& proto,
                                           const OnnxFiles& files);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_ATTRIBUTE_CONVERSION_H_
