// Any manifest: refused, or run without touching memory that is not its own, whatever its kernels write.
//
// The host's kernels read all bytes of their inputs and write all of their last output; GPUs are null devices. What
// the check of the manifest forgot is then an access that ASan or a null device finds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/base/blob.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/runtime/device.h"
#include "core/runtime/drivers/cpu/cpu_driver.h"
#include "core/runtime/drivers/null/null_device.h"
#include "core/runtime/program.h"
#include "core/target/target.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

constexpr int64_t kMaxBytes = 1 << 16;

// Small numbers of any type, and bools.
void Fill(uint8_t* bytes, int64_t size, int64_t element_bytes, int64_t seed) {
  std::fill_n(bytes, size, uint8_t{0});
  for (int64_t i = 0; i < size / element_bytes; ++i) {
    bytes[i * element_bytes] = static_cast<uint8_t>((i + seed) % (element_bytes == 1 ? 2 : 5));
  }
}

class TouchingCode final : public DeviceCode {
 public:
  absl::Status CheckArguments(uint32_t, int, int) const override { return absl::OkStatus(); }
};

struct TouchingLaunch final : DeviceLaunch {
  std::vector<slipway_buffer*> arguments;
};

class TouchingQueues final : public DeviceQueues {
 public:
  explicit TouchingQueues(ComputeDevice& device) : device_(device) {}

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode&, uint32_t,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string) override {
    auto launch = std::make_unique<TouchingLaunch>();
    launch->arguments.assign(arguments.begin(), arguments.end());
    return std::unique_ptr<DeviceLaunch>(std::move(launch));
  }
  absl::Status Launch(uint32_t, DeviceLaunch& launch, const LaunchSizes&) override {
    const auto& arguments = static_cast<TouchingLaunch&>(launch).arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const slipway_buffer& argument = *arguments[i];
      int64_t bytes = argument.type.bits / 8;
      for (int d = 0; d < argument.dimensions; ++d) bytes *= argument.dim[d].extent;
      if (i + 1 == arguments.size()) {
        Fill(argument.host, bytes, argument.type.bits / 8, ++launches_);
      } else {
        for (int64_t b = 0; b < bytes; ++b) sum_ = sum_ + argument.host[b];
      }
    }
    return absl::OkStatus();
  }
  absl::Status Copy(uint32_t, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override {
    return device_.Copy(from, to, bytes);
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    return absl::UnimplementedError("nobody waits for a synchronous device");
  }
  absl::Status Record(uint32_t, DeviceEvent&) override {
    return absl::UnimplementedError("nobody waits for a synchronous device");
  }
  absl::Status Wait(uint32_t, DeviceEvent& event) override { return event.Wait(); }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  ComputeDevice& device_;
  int64_t launches_ = 0;
  volatile uint8_t sum_ = 0;
};

// The CPU with other kernels.
class TouchingHost final : public ComputeDevice {
 public:
  absl::string_view name() const override { return "host"; }
  bool is_synchronous() const override { return true; }
  absl::StatusOr<MemoryInfo> memory_info() const override { return cpu_->memory_info(); }
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override {
    return cpu_->Allocate(bytes, kind);
  }
  void Free(const DeviceMemory& memory) override { cpu_->Free(memory); }
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override {
    return cpu_->Copy(from, to, bytes);
  }
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code&, uint32_t,
                                                       absl::string_view) override {
    return std::unique_ptr<DeviceCode>(std::make_unique<TouchingCode>());
  }
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions&) override {
    return std::unique_ptr<DeviceQueues>(std::make_unique<TouchingQueues>(*this));
  }

 private:
  const std::shared_ptr<ComputeDevice> cpu_ = *MakeCpuDriver(HostTarget())->Open(0);
};

// Bounds that keep a run short.
ReaderLimits SmallLimits() {
  ReaderLimits limits;
  limits.blob_bytes = kMaxBytes;
  limits.arena_bytes = kMaxBytes;
  limits.external_bytes = kMaxBytes;
  limits.dynamic_bytes = kMaxBytes;
  limits.value_bytes = kMaxBytes;
  limits.devices = 4;
  limits.spaces = 8;
  limits.entries = 256;
  return limits;
}

absl::StatusOr<Artifact> ArtifactOf(absl::string_view bytes) {
  v1::Manifest manifest;
  if (!manifest.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("no message");
  }
  manifest.set_format_version(LowestFormatVersion(manifest));
  return Artifact::Create(
      std::move(manifest),
      [](const Digest& digest) -> absl::StatusOr<Blob> {
        return Blob::Own(std::string(static_cast<size_t>(digest.size_bytes()), '\1'));
      },
      SmallLimits());
}

// Extents of a symbol are the same in every input.
absl::StatusOr<Tensor> InputOf(const PortType& type, int64_t seed) {
  Shape shape;
  int64_t elements = 1;
  for (const PortExtent& extent : type.extents) {
    shape.push_back(std::min(extent.min + seed, extent.max));
    elements *= std::max<int64_t>(shape.back(), 1);
    if (elements > kMaxBytes) return absl::ResourceExhaustedError("too large");
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create({type.dtype, std::move(shape)}));
  Fill(reinterpret_cast<uint8_t*>(tensor.mutable_bytes()), tensor.byte_size(), ByteSize(type.dtype),
       seed);
  return tensor;
}

// Of the calls that each program is put through.
constexpr int64_t kProfiledSeed = 3;

// Outputs that a call makes before anything limits it.
bool AreSmall(const std::vector<NamedType>& outputs) {
  return std::ranges::all_of(outputs, [](const NamedType& output) {
    int64_t elements = 1;
    for (const PortExtent& extent : output.type.extents) {
      if (extent.max > kMaxBytes) return false;
      elements *= std::max<int64_t>(extent.max, 1);
      if (elements > 16 * kMaxBytes) return false;
    }
    return true;
  });
}

absl::Status RunEntry(ProgramContext& context, const ProgramSignature& signature, int entry,
                      int64_t seed) {
  if (!AreSmall(signature.outputs)) return absl::OkStatus();
  std::vector<Tensor> inputs;
  for (const NamedType& input : signature.inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, InputOf(input.type, seed));
    inputs.push_back(std::move(tensor));
  }
  std::vector<Tensor> outputs(signature.outputs.size());
  const CallOptions options{.entry = entry, .profile = seed == kProfiledSeed};
  return context.Run(inputs, absl::MakeSpan(outputs), options);
}

absl::Status RunAll(absl::string_view bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, ArtifactOf(bytes));
  const CheckedManifest& manifest = artifact.manifest();
  std::vector<std::shared_ptr<ComputeDevice>> devices = {std::make_shared<TouchingHost>()};
  while (devices.size() < manifest.target().devices.size()) {
    devices.push_back(
        std::make_shared<NullDevice>(NullDeviceOptions{.memory_bytes = 64 * kMaxBytes}));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program,
                           Program::Load(artifact, std::move(devices)));
  ProgramContextOptions options;
  options.dynamic_bytes = 16 * kMaxBytes;
  options.loop_turns = 50;
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context,
                           program->NewContext(options));
  std::vector<uint32_t> entries = {manifest.proto().entry()};
  entries.insert(entries.end(), manifest.proto().more_entries().begin(),
                 manifest.proto().more_entries().end());
  for (size_t i = 0; i < entries.size(); ++i) {
    for (const int64_t seed : {int64_t{0}, int64_t{1}, kProfiledSeed, int64_t{1}}) {
      const absl::Status status =
          RunEntry(*context, manifest.SignatureOf(entries[i]), static_cast<int>(i), seed);
      // Errors are as good as results, but this one is a null device's for memory that is nobody's.
      SLIPWAY_CHECK(!absl::StrContains(status.message(), "are not allocated"),
                    std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  slipway::RunAll({reinterpret_cast<const char*>(data), size}).IgnoreError();
  return 0;
}
