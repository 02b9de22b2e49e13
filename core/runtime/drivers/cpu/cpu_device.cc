#include "core/runtime/drivers/cpu/cpu_device.h"

#include <errno.h>
#include <sys/sysinfo.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/code_module.h"
#include "core/runtime/drivers/cpu/cpu_queues.h"
#include "core/runtime/drivers/cpu/host_memory.h"

namespace slipway {

absl::StatusOr<MemoryInfo> CpuDevice::memory_info() const {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return ErrnoStatus(errno, "sysinfo");
  const auto unit = static_cast<int64_t>(info.mem_unit);
  return MemoryInfo{static_cast<int64_t>(info.totalram) * unit,
                    static_cast<int64_t>(info.freeram + info.bufferram) * unit};
}

absl::StatusOr<DeviceMemory> CpuDevice::Allocate(int64_t bytes, MemoryKind /*kind*/) {
  return AllocateHostMemory(bytes);
}

void CpuDevice::Free(const DeviceMemory& memory) { FreeHostMemory(memory); }

absl::Status CpuDevice::Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  return CopyOnHost(from, to, bytes);
}

absl::StatusOr<std::unique_ptr<DeviceCode>> CpuDevice::LoadCode(const v1::Code& code, uint32_t abi,
                                                                absl::string_view bytes) {
  if (code.kind() != v1::Code::KIND_ELF) {
    return absl::UnimplementedError(
        absl::StrCat("the CPU runs code of KIND_ELF, not ", v1::Code::Kind_Name(code.kind())));
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<CodeModule> module,
                           CodeModule::Load(bytes, code.kernel_count(), abi));
  return std::unique_ptr<DeviceCode>(std::make_unique<CpuCode>(std::move(module)));
}

absl::StatusOr<std::unique_ptr<DeviceQueues>> CpuDevice::NewQueues(const QueueOptions& options) {
  return std::unique_ptr<DeviceQueues>(std::make_unique<CpuQueues>(options));
}

}  // namespace slipway
