#include "tests/common/command.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "core/base/check.h"

namespace slipway::testing {
namespace {

UniqueFd MemoryFile(const char* name) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
  SLIPWAY_CHECK(fd.is_open(), "cannot make a file in memory");
  return fd;
}

std::string Contents(const UniqueFd& fd) {
  struct stat info;
  SLIPWAY_CHECK(fstat(fd.get(), &info) == 0, "cannot look at a file in memory");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  SLIPWAY_CHECK(pread(fd.get(), bytes.data(), bytes.size(), 0) == info.st_size,
                "cannot read a file in memory");
  return bytes;
}

}  // namespace

std::string CommandResult::ToString() const {
  return absl::StrCat(status.ToString(), " after ", absl::FormatDuration(wall), "\n--- stdout\n",
                      out, "--- stderr\n", err, "---\n");
}

CommandResult RunCommand(const CommandOptions& options) {
  const UniqueFd out = MemoryFile("stdout");
  const UniqueFd err = MemoryFile("stderr");
  SubprocessOptions process;
  process.argv = options.argv;
  process.environment = options.environment;
  process.limits = options.limits;
  process.stdout_stream = ChildStream::Fd(out.get());
  process.stderr_stream = ChildStream::Fd(err.get());
  const absl::Time start = absl::Now();
  absl::StatusOr<std::unique_ptr<Subprocess>> child = Subprocess::Start(process);
  SLIPWAY_CHECK(child.ok(),
                absl::StrCat(absl::StrJoin(options.argv, " "), ": ", child.status().message()));
  CommandResult result;
  result.pid = (*child)->pid();
  absl::StatusOr<ExitStatus> status = (*child)->Wait(options.timeout);
  if (!status.ok()) {
    (*child)->Kill();
    status = (*child)->Wait();
  }
  result.wall = absl::Now() - start;
  result.status = *status;
  result.out = Contents(out);
  result.err = Contents(err);
  return result;
}

std::string RunfilePath(const std::string& path) {
  const char* const runfiles = getenv("TEST_SRCDIR");
  // Started by hand: they lie beside the binary.
  const std::string root =
      runfiles != nullptr
          ? runfiles
          : absl::StrCat(std::filesystem::read_symlink("/proc/self/exe").string(), ".runfiles");
  const std::string found = absl::StrCat(root, "/slipway/", path);
  SLIPWAY_CHECK(access(found.c_str(), R_OK) == 0, found);
  return found;
}

}  // namespace slipway::testing
