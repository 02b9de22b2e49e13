#include "core/runtime/device_tensor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

DeviceMemory HostMemory(const Tensor& tensor) {
  return {0, reinterpret_cast<uint8_t*>(const_cast<char*>(tensor.bytes().data())),
          tensor.byte_size()};
}

}  // namespace

absl::StatusOr<DeviceTensor> DeviceTensor::Create(TensorPlace place, TensorType type) {
  const int64_t element_bytes = ByteSize(type.dtype);
  if (element_bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor on a device is of type ", ToString(type)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(type.shape, element_bytes));
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory, place.device->Allocate(bytes, place.kind));
  DeviceTensor tensor;
  tensor.type_ = std::move(type);
  tensor.memory_ = std::make_shared<const Memory>(std::move(place), memory);
  return tensor;
}

absl::StatusOr<DeviceTensor> DeviceTensor::FromHost(TensorPlace place, const Tensor& tensor) {
  SLIPWAY_ASSIGN_OR_RETURN(DeviceTensor copy, Create(std::move(place), tensor.type()));
  ComputeDevice* const device = copy.place().device.get();
  SLIPWAY_RETURN_IF_ERROR(
      device->Copy({nullptr, HostMemory(tensor)}, {device, copy.memory()}, tensor.byte_size()));
  return copy;
}

absl::StatusOr<Tensor> DeviceTensor::ToHost() const {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(type_));
  ComputeDevice* const device = place().device.get();
  SLIPWAY_RETURN_IF_ERROR(
      device->Copy({device, memory()}, {nullptr, HostMemory(copy)}, copy.byte_size()));
  return copy;
}

}  // namespace slipway
