#include "device_agent/runner/runner_window.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "absl/status/status.h"

namespace slipway {
namespace {

constexpr int64_t kStatusBytes = 4096;
constexpr int64_t kBytes = kStatusBytes + RunnerWindow::kDataBytes;
static_assert(sizeof(RunnerStatus) <= kStatusBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace

void RunnerStatus::Cancel(uint64_t id) {
  CancellingOf(id).id = id;
  CancellingOf(id).flag = true;
}

absl::StatusOr<std::unique_ptr<RunnerWindow>> RunnerWindow::Create() {
  UniqueFd fd(memfd_create("slipway runner", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return ErrnoStatus(errno, "cannot make memory that a runner shares");
  if (ftruncate(fd.get(), kBytes) != 0) return ErrnoStatus(errno, "cannot size shared memory");
  // A runner that shortened it would end the agent with SIGBUS.
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoStatus(errno, "cannot seal shared memory");
  }
  absl::StatusOr<std::unique_ptr<RunnerWindow>> window = MapMemory(std::move(fd));
  if (window.ok()) new ((*window)->memory_) RunnerStatus;
  return window;
}

absl::StatusOr<std::unique_ptr<RunnerWindow>> RunnerWindow::Map(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, "no shared memory was given");
  if (info.st_size != kBytes) {
    return absl::InvalidArgumentError("the shared memory is of another size");
  }
  return MapMemory(UniqueFd(fd));
}

absl::StatusOr<std::unique_ptr<RunnerWindow>> RunnerWindow::MapMemory(UniqueFd fd) {
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return ErrnoStatus(errno, "cannot map shared memory");
  return std::unique_ptr<RunnerWindow>(new RunnerWindow(std::move(fd), static_cast<char*>(memory)));
}

RunnerWindow::~RunnerWindow() { munmap(memory_, kBytes); }

RunnerStatus& RunnerWindow::status() const {
  return *std::launder(reinterpret_cast<RunnerStatus*>(memory_));
}

char* RunnerWindow::data() const { return memory_ + kStatusBytes; }

}  // namespace slipway
