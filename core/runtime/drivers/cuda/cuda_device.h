// CudaDevice: a GPU behind NVIDIA's driver, by its primary context.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_library.h"
#include "core/runtime/drivers/cuda/cuda_vendor_library.h"
#include "core/runtime/drivers/device_entry.h"

namespace slipway {

// What a device says of itself.
struct CudaFacts {
  std::string name;
  std::string pci_address;  // Empty where it does not tell.
  int capability = 0;       // 90 for 9.0.
  int multiprocessors = 0;
  int64_t l2_bytes = 0;  // 0 where it has none.
  LaunchLimits limits;
};

// FAILED_PRECONDITION names what the device lacks that programs of ours need.
absl::StatusOr<CudaFacts> ReadFacts(const CudaLibrary& library, CUdevice id);

// After a kernel did what none may, the context is lost for everybody who has it: the first who asks is told INTERNAL, with what the
// driver says, everybody else, and everything later, UNAVAILABLE. A new process has a new context.
class CudaDevice final : public ComputeDevice {
 public:
  static absl::StatusOr<std::shared_ptr<CudaDevice>> Create(const CudaLibrary& library, CUdevice id,
                                                            int ordinal, bool wants_graphs,
                                                            VendorLibraries libraries = {});
  ~CudaDevice() override;

  absl::string_view name() const override { return name_; }
  bool is_synchronous() const override { return false; }
  std::string pci_address() const override { return facts_.pci_address; }
  absl::StatusOr<MemoryInfo> memory_info() const override;
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override;
  void Free(const DeviceMemory& memory) override;
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                       absl::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) override;
  // Loaded by the first who asks.
  VendorLibrary* library_for(const VendorStep& step) override;

  const CudaLibrary& cuda() const { return cuda_; }
  const CudaFacts& facts() const { return facts_; }
  CUcontext context() const { return context_; }
  // Whether work is given to it as graphs.
  bool has_graphs() const { return has_graphs_; }

  // The status of a call's result, "name: what: CUDA_ERROR_...", which remembers that the context is lost.
  absl::Status ToStatus(CUresult result, absl::string_view what) const;
  // UNAVAILABLE, behind `what`, where the context is known to be lost.
  absl::Status CheckAlive(absl::string_view what) const;
  // The copy as work of a stream, which the host may not have seen end. The context is current.
  absl::Status EnqueueCopy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes,
                           CUstream stream) const;

 private:
  CudaDevice(const CudaLibrary& library, CUdevice id, CudaFacts facts, int ordinal,
             bool wants_graphs, VendorLibraries libraries);

  const CudaLibrary& cuda_;
  const CUdevice id_;
  const CudaFacts facts_;
  const std::string name_;
  const bool has_graphs_;
  const VendorLibraries library_options_;
  CUcontext context_ = nullptr;
  CUstream copies_ = nullptr;  // Thread-safe, as streams are.
  // The result that ended the context, or kCudaSuccess.
  mutable std::atomic<CUresult> lost_ = kCudaSuccess;
  std::mutex mutex_;
  std::map<uint64_t, DeviceMemory> allocations_;  // By address; `host` for those of the host.
  // Loaded when it is first asked for; null where it is not there.
  struct FoundLibrary {
    bool is_looked_for = false;
    std::unique_ptr<VendorLibrary> library;
  };
  std::mutex libraries_mutex_;
  FoundLibrary products_;
  FoundLibrary convolutions_;
};

// Makes the device's context that of this thread as long as it lives.
class CurrentContext {
 public:
  explicit CurrentContext(const CudaDevice& device);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  const absl::Status& status() const { return status_; }

 private:
  const CudaLibrary& cuda_;
  absl::Status status_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DEVICE_H_
