// CudaQueues: the streams of one program context on a CUDA device.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/cuda_graphs.h"
#include "core/runtime/drivers/cuda/cuda_work.h"

namespace slipway {

class CudaDevice;

class CudaQueues final : public DeviceQueues {
 public:
  // Errors of making the events by which work is timed, with QueueOptions::is_timed.
  static absl::StatusOr<std::unique_ptr<CudaQueues>> Create(CudaDevice& device,
                                                            const QueueOptions& options);
  ~CudaQueues() override;

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode& code, uint32_t kernel,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string label) override;
  absl::StatusOr<std::unique_ptr<DeviceLaunch>> PrepareLibrary(const LibraryWay& way,
                                                               const LibraryArguments& arguments,
                                                               std::string label) override;
  absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) override;
  absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Record(uint32_t queue, DeviceEvent& event) override;
  absl::Status Wait(uint32_t queue, DeviceEvent& event) override;
  absl::Status Finish() override;
  std::optional<int64_t> worked_ns() const override {
    return begin_ == nullptr ? std::nullopt : std::optional<int64_t>(worked_ns_);
  }

 private:
  // Most pieces of work that wait to be given to the driver.
  static constexpr int64_t kMostPieces = 4096;

  explicit CudaQueues(CudaDevice& device) : device_(device), graphs_(device) {}
  // Gives what was written down to its stream.
  absl::Status Flush();
  // Writes a launch down.
  absl::Status AddKernel(uint32_t queue, const DeviceLaunch& launch, const LaunchSizes& sizes);
  absl::Status AddWay(uint32_t queue, const DeviceLaunch& launch);
  // What steps by libraries have beside their tensors on a queue, for the largest one that was prepared.
  absl::StatusOr<CUdeviceptr> WorkspaceOf(uint32_t queue);
  // Comes before a piece of a queue's work is written down.
  absl::Status MakeRoom(uint32_t queue);
  // The stream, made when it is first used. The context is current.
  absl::StatusOr<CUstream> At(uint32_t queue);
  // Comes before each piece of work: from here on time is counted. The context is current.
  absl::Status BeginTiming(CUstream stream);
  // What each stream has got is timed: comes before waiting for it, and after.
  absl::Status EndTiming(size_t queue);
  absl::Status CountTime();
  // What was launched since the last Finish, for messages: a stream does not say which launch failed.
  std::string Launched() const;

  CudaDevice& device_;
  CudaGraphs graphs_;
  // Launches and copies within the device come together here, of one queue; all else first has them given to the driver.
  CudaWork work_;
  uint32_t work_queue_ = 0;
  std::vector<uint64_t> parameters_;  // Of a launch.
  int64_t workspace_bytes_ = 0;
  std::array<DeviceMemory, kQueues> workspaces_ = {};
  std::array<CUstream, kQueues> streams_ = {};
  // Null where nobody asks for times.
  CUevent begin_ = nullptr;
  std::array<CUevent, kQueues> ends_ = {};  // Made with the streams.
  bool is_begun_ = false;                   // `begin_` was recorded since the last Finish.
  int64_t worked_ns_ = 0;
  int64_t launched_ = 0;
  std::shared_ptr<const std::string> first_;
  std::shared_ptr<const std::string> last_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_
