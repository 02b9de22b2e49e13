#include "core/runtime/drivers/cuda/cudnn_descriptor.h"

#include "core/base/status_macros.h"

namespace slipway {

CudnnDescriptors::~CudnnDescriptors() {
  // What was made of others goes before these.
  for (auto each = made_.rbegin(); each != made_.rend(); ++each) library_.DestroyDescriptor(*each);
}

absl::StatusOr<CudnnDescriptor> CudnnDescriptors::Make(
    CudnnDescriptorType type, std::initializer_list<CudnnAttribute> attributes,
    absl::string_view what) {
  SLIPWAY_ASSIGN_OR_RETURN(const CudnnDescriptor made, MakeEmpty(type, what));
  for (const CudnnAttribute& each : attributes) {
    SLIPWAY_RETURN_IF_ERROR(library_.ToStatus(
        library_.SetAttribute(made, each.name, each.type, each.count, each.elements), what));
  }
  SLIPWAY_RETURN_IF_ERROR(library_.ToStatus(library_.Finalize(made), what));
  return made;
}

absl::StatusOr<CudnnDescriptor> CudnnDescriptors::MakeEmpty(CudnnDescriptorType type,
                                                            absl::string_view what) {
  CudnnDescriptor made = nullptr;
  SLIPWAY_RETURN_IF_ERROR(library_.ToStatus(library_.CreateDescriptor(type, &made), what));
  made_.push_back(made);
  return made;
}

}  // namespace slipway
