// Any bytes from an attached device: an error, or answers to what it was asked.
#include <stdlib.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/device.h"
#include "core/runtime/driver.h"
#include "core/runtime/drivers/attached/attached_driver.h"
#include "core/runtime/drivers/attached/bare_stream.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/stream_greeting.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace {

constexpr int64_t kBytes = 64;

void Check(bool holds) {
  if (!holds) abort();
}

bool SendTo(int stream, const void* data, size_t size) {
  return send(stream, data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  int fds[2];
  // More than a socket holds at once would block.
  if (size > 4096 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return 0;
  UniqueFd host(fds[0]);
  const UniqueFd device(fds[1]);
  // An input that begins with a zero comes behind the greeting, with a one behind a hello, too.
  const int begins = size > 0 && data[0] <= 1 ? data[0] : -1;
  if (begins >= 0) {
    Check(SendTo(device.get(), kStreamGreeting, sizeof(kStreamGreeting) - 1));
    ++data;
    --size;
  }
  if (begins == 1) {
    slipway_bare_hello hello = {};
    hello.protocol = SLIPWAY_BARE_PROTOCOL;
    hello.machine = 62;  // EM_X86_64
    hello.newest_abi = SLIPWAY_ABI_VERSION;
    Check(SendTo(device.get(), &hello, sizeof(hello)));
  }
  if (!SendTo(device.get(), data, size)) return 0;
  shutdown(device.get(), SHUT_WR);
  if (!AwaitGreeting(host.get(), absl::InfiniteDuration()).ok()) return 0;
  const absl::StatusOr<slipway_bare_hello> hello =
      AwaitBareHello(host.get(), absl::InfiniteDuration());
  if (!hello.ok()) return 0;
  int ends = 0;
  const auto stream =
      std::make_shared<BareStream>(std::move(host), [&](const BareEnd&) { ++ends; });
  const absl::StatusOr<std::unique_ptr<Driver>> driver = MakeAttachedDriver(stream, *hello);
  if (!driver.ok()) return 0;
  const std::shared_ptr<ComputeDevice> runner = *(*driver)->Open(0);
  runner->memory_info().IgnoreError();
  const absl::StatusOr<DeviceMemory> memory = runner->Allocate(kBytes, MemoryKind::kLocal);
  if (memory.ok()) {
    Check(memory->address != 0 && memory->host == nullptr && memory->bytes == kBytes);
    std::vector<uint8_t> bytes(kBytes + 1, 0xee);
    runner->Copy({runner.get(), *memory}, {nullptr, {0, bytes.data(), kBytes}}, kBytes)
        .IgnoreError();
    Check(bytes.back() == 0xee);
    runner->Free(*memory);
  }
  v1::Code code;
  code.set_kind(v1::Code::KIND_ELF);
  code.set_kernel_count(3);
  const auto loaded = runner->LoadCode(code, SLIPWAY_ABI_VERSION, "code");
  if (loaded.ok()) (*loaded)->CheckArguments(2, 1, 1).IgnoreError();
  if (const auto queues = runner->NewQueues({}); queues.ok()) {
    (*queues)->Finish().IgnoreError();
  }
  Check(ends <= 1);
  return 0;
}
