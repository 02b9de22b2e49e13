// ComputeDevice: the runtime's only idea of hardware.
//
// The interpreter (interpreter.h) speaks to every device through the few calls here; a driver implements
// them. What each call stands for where there is a vendor's library:
//
//   here                     CUDA                                  OpenCL
//   ComputeDevice            CUcontext, retained primary             cl_context with one cl_device_id
//   Allocate, kLocal         cuMemAlloc                            clCreateBuffer
//   Allocate, kHostVisible   cuMemHostAlloc, mapped                SVM, or CL_MEM_ALLOC_HOST_PTR kept mapped
//   DeviceMemory::address    CUdeviceptr                           a number the driver hands out, see there
//   LoadCode, PTX / OpenCL   cuModuleLoadDataEx                    clCreateProgramWithSource, clBuildProgram
//   DeviceQueues             CUstreams, made when first used       in-order cl_command_queues
//   Prepare, Launch          cuLaunchKernel with &buffer->device   clSetKernelArg..., clEnqueueNDRangeKernel
//   Copy                     cuMemcpyAsync, cuMemcpyPeerAsync      clEnqueueCopyBuffer, ...Read/WriteBuffer
//   Record, Wait             cuEventRecord, cuStreamWaitEvent      clEnqueueMarker..., clEnqueueBarrier...
//   DeviceEvent::Wait        cuEventSynchronize                    clWaitForEvents, after clFlush
//   Finish                   cuStreamSynchronize                   clFinish
//   memory_info              cuMemGetInfo                          CL_DEVICE_GLOBAL_MEM_SIZE less what is held
//
// Queued work may begin at once or as late as somebody waits for it, so that a driver may collect what comes
// between two Finish calls and replay it as a CUDA graph while the launches and addresses are those of the last
// time; prepared launches live as long as their queues for that.
#ifndef SLIPWAY_CORE_RUNTIME_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DEVICE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/step_timing.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

class ComputeDevice;
class LibraryWay;
class VendorLibrary;
struct LibraryArguments;
struct VendorStep;

// Who may touch memory besides the device it belongs to.
enum class MemoryKind {
  kLocal,        // Nobody; on the CPU the host does anyway.
  kHostVisible,  // The host, while the device may use it: page-locked memory.
};

// A piece of a device's memory, aligned to kBufferAlignment.
struct DeviceMemory {
  // Address of the first byte as the device counts: addresses inside are sums with an offset. Drivers for
  // APIs without addresses (OpenCL's cl_mem) hand out ranges of numbers and look up object and offset. 0 where
  // there is none but `host`.
  uint64_t address = 0;
  // Where the host touches the first byte; null where it may not.
  uint8_t* host = nullptr;
  int64_t bytes = 0;

  DeviceMemory From(int64_t offset) const {
    return {address == 0 ? 0 : address + static_cast<uint64_t>(offset),
            host == nullptr ? nullptr : host + offset, bytes - offset};
  }
};

// Memory and whose it is, null for memory of the host that no device gave: an end of a copy.
struct MemoryPlace {
  const ComputeDevice* device = nullptr;
  DeviceMemory memory;
};

// Step::Launch with its numbers computed. For code without entries all are 1.
struct LaunchSizes {
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<int64_t, 3> group = {1, 1, 1};
  int64_t shared_bytes = 0;
};

// Loaded code. Immutable, thread-safe; must not outlive its device.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
  // INVALID_ARGUMENT if kernel `kernel` (below the code's kernel_count) does not take this many tensors.
  virtual absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const = 0;
};

// A kernel with its arguments, made by Prepare for the same queues.
class DeviceLaunch {
 public:
  virtual ~DeviceLaunch() = default;
};

// A point in a queue.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Blocks the host until the work before it has ended; at once where it was never recorded. Errors of that
  // work.
  virtual absl::Status Wait() = 0;
};

// What queues are made with.
struct QueueOptions {
  // Threads that kernels on the CPU run on, the caller's included; at least 1.
  int threads = 1;
  // Scratch memory that kernels may hold.
  int64_t scratch_bytes = int64_t{1} << 34;
  // Where the number of the step stands whose work is being queued (ProgramContextOptions::position). A device that works later than that puts the
  // one there that it is at, kNoStep where that cannot be known. Null: nobody reads it.
  std::atomic<uint32_t>* position = nullptr;
  // Whether somebody will ask for worked_ns of a device that has a clock, where keeping the time costs something.
  bool is_timed = false;
};

// The queues of one program context on a device, numbered from 0 to kQueues - 1. Work of one queue is done in
// order; of two queues, in any order that events do not forbid. Not thread-safe. Its errors may be those of work
// queued earlier; after one, every call but the destructor may give it again.
class DeviceQueues {
 public:
  static constexpr uint32_t kQueues = 16;

  // Waits for queued work.
  virtual ~DeviceQueues() = default;

  // Binds a kernel to descriptors, inputs first, which are read with every Launch and must outlive it: `host` is
  // set where the host may touch the memory, `device` (DeviceMemory::address) where the device does. Kernels of a
  // table get the descriptors. The parameters of an entry (PTX, OpenCL) are a pointer for each tensor, then for each
  // tensor every extent, outermost first, as a 64-bit integer; it may declare fewer.
  // `label` says in errors which launch failed.
  virtual absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(
      const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
      std::string label) = 0;

  // The same of a way that a VendorLibrary of the device has found (vendor_library.h); the sizes of its launches mean nothing. UNIMPLEMENTED for devices
  // without one.
  virtual absl::StatusOr<std::unique_ptr<DeviceLaunch>> PrepareLibrary(
      const LibraryWay& way, const LibraryArguments& arguments, std::string label);

  // INVALID_ARGUMENT for sizes the device cannot launch; INTERNAL with what the kernel said if it failed.
  virtual absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) = 0;

  // Copies to or from memory of this device; the other end is this device's, the host's, or another device's that
  // this one reaches. UNIMPLEMENTED names the devices if it cannot. The ends do not overlap unless they are equal.
  virtual absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                            int64_t bytes) = 0;

  virtual absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() = 0;
  // The event happens when all work queued so far has ended; forgets an earlier recording. The event is of these
  // queues.
  virtual absl::Status Record(uint32_t queue, DeviceEvent& event) = 0;
  // Later work of the queue begins after the event, of any device. Drivers that cannot wait for another
  // driver's event on the device wait on the host.
  virtual absl::Status Wait(uint32_t queue, DeviceEvent& event) = 0;
  // Blocks the host until all work of all queues has ended.
  virtual absl::Status Finish() = 0;

  // For how long the device has worked since these queues were made, by its own clock, nanoseconds: what has been waited for by Finish,
  // each time from the beginning of the first work to the end of the last. Of devices that are so far away that the host's clock says more of
  // the way there than of them, and with QueueOptions::is_timed of those that have events with times; of others nothing.
  virtual std::optional<int64_t> worked_ns() const { return std::nullopt; }

  // Later launches tell what threads of the host did in parallel loops; null ends that. The recording has room for
  // QueueOptions::threads and outlives them. Nothing for devices whose kernels run elsewhere.
  virtual void SetRecording(const ThreadRecording* /*recording*/) {}
};

// Bytes of a device's memory.
struct MemoryInfo {
  int64_t total = 0;
  int64_t free = 0;
  // That programs of this process had there at once, at most; 0 where nobody counts.
  int64_t most_used = 0;
};

// A device. Thread-safe; outlives everything made with it.
class ComputeDevice {
 public:
  virtual ~ComputeDevice() = default;

  // For people: "cpu", "null 0".
  virtual absl::string_view name() const = 0;
  // Whether queued work has ended when the call that queued it returns, so that nobody needs to wait.
  virtual bool is_synchronous() const = 0;
  // Whether memory of the host is memory of its own: the processor that this process runs on.
  virtual bool is_host() const { return false; }
  // Where it is on the machine's PCI bus ("0000:3b:00.0"), by which other software knows it, too; empty where that is not known.
  virtual std::string pci_address() const { return ""; }
  virtual absl::StatusOr<MemoryInfo> memory_info() const = 0;

  // RESOURCE_EXHAUSTED if there is no such memory. Never without an address, also for 0 bytes; what is in it is
  // undefined.
  virtual absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) = 0;
  // As Allocate gave it; queued work no longer uses it.
  virtual void Free(const DeviceMemory& memory) = 0;
  // Memory that holds these bytes of the host's and is only read, until it is returned as it was given. `key` stands for the bytes, whichever
  // program they are of: devices that it takes long to reach may give what they have. Errors of Allocate and Copy.
  virtual absl::StatusOr<DeviceMemory> TakeConstant(absl::string_view key,
                                                    const DeviceMemory& bytes, MemoryKind kind);
  virtual void ReturnConstant(const DeviceMemory& memory);
  // Copies at once, outside of all queues; else as DeviceQueues::Copy.
  virtual absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) = 0;

  // The vendor's library for such a step, which lives as long as the device; null where there is none, or it is not to be used.
  virtual VendorLibrary* library_for(const VendorStep& /*step*/) { return nullptr; }

  // Loads a piece of code from its bytes; `abi` is Manifest::min_reader_abi. UNIMPLEMENTED names a kind, a kernel
  // or an ABI that the device does not know; INVALID_ARGUMENT says why the code does not load; FAILED_PRECONDITION that it is for
  // later devices or drivers than these.
  virtual absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                               absl::string_view bytes) = 0;
  // RESOURCE_EXHAUSTED.
  virtual absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DEVICE_H_
