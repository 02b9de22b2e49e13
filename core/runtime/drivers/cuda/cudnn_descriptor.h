// CudnnDescriptors: what cuDNN's graph interface is made of, objects of named attributes.
//
// Source: NVIDIA, "cuDNN Backend API", chapter "Graph library".
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_DESCRIPTOR_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_DESCRIPTOR_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"

namespace slipway {

// An attribute's elements, which are another's.
struct CudnnAttribute {
  CudnnAttributeName name;
  CudnnAttributeType type;
  int64_t count;
  const void* elements;

  template <typename T>
  static CudnnAttribute One(CudnnAttributeName name, CudnnAttributeType type, const T& element) {
    return {name, type, 1, &element};
  }
  static CudnnAttribute Integers(CudnnAttributeName name, const std::vector<int64_t>& elements) {
    return {name, kCudnnTypeInt64, static_cast<int64_t>(elements.size()), elements.data()};
  }
  static CudnnAttribute Descriptors(CudnnAttributeName name,
                                    const std::vector<CudnnDescriptor>& elements) {
    return {name, kCudnnTypeDescriptor, static_cast<int64_t>(elements.size()), elements.data()};
  }
};

// Descriptors that live as long as this. Not thread-safe.
class CudnnDescriptors {
 public:
  explicit CudnnDescriptors(const CudnnLibrary& library) : library_(library) {}
  ~CudnnDescriptors();
  CudnnDescriptors(const CudnnDescriptors&) = delete;
  CudnnDescriptors& operator=(const CudnnDescriptors&) = delete;

  // One that is complete. The library's errors, behind `what`.
  absl::StatusOr<CudnnDescriptor> Make(CudnnDescriptorType type,
                                       std::initializer_list<CudnnAttribute> attributes,
                                       absl::string_view what);
  // One that a call of GetAttribute fills in.
  absl::StatusOr<CudnnDescriptor> MakeEmpty(CudnnDescriptorType type, absl::string_view what);

 private:
  const CudnnLibrary& library_;
  std::vector<CudnnDescriptor> made_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_DESCRIPTOR_H_
