#include "core/confinement/system_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/files.h"

namespace slipway {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__arm__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_ARM;
#else
#error "which architecture system calls are of is not known here"
#endif

// The newest call when this was written is not above it. Those of x32 are far above.
constexpr uint32_t kNewestCall = 470;

sock_filter Load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter And(uint32_t mask) { return BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask); }
// Passes over so many when the value is another one.
sock_filter UnlessEqual(uint32_t value, size_t pass_over) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<uint8_t>(pass_over));
}
sock_filter Answer(uint32_t answer) { return BPF_STMT(BPF_RET | BPF_K, answer); }

sock_filter LoadCall() { return Load(offsetof(seccomp_data, nr)); }

// The low half of an argument, where bytes run from low to high.
void AddTest(const ArgumentTest& test, size_t left, std::vector<sock_filter>& filter) {
  if (test.argument < 0) return;
  filter.push_back(
      Load(offsetof(seccomp_data, args) + static_cast<size_t>(test.argument) * sizeof(uint64_t)));
  filter.push_back(And(test.mask));
  filter.push_back(UnlessEqual(test.value, left));
}

void AddRule(const SystemCallRule& rule, std::vector<sock_filter>& filter) {
  constexpr size_t kTestSize = 3;
  const size_t second = rule.second.argument < 0 ? 0 : kTestSize;
  const size_t first = rule.first.argument < 0 ? 0 : kTestSize;
  const uint32_t answer = rule.answer == SystemCallRule::Answer::kAllow
                              ? SECCOMP_RET_ALLOW
                              : SECCOMP_RET_ERRNO | ENOSYS;
  const size_t tests = first + second;
  // After tests, the number of the call must be loaded again for the next rule.
  filter.push_back(UnlessEqual(static_cast<uint32_t>(rule.call), tests + 1 + (tests > 0 ? 1 : 0)));
  AddTest(rule.first, second + 1, filter);
  AddTest(rule.second, 1, filter);
  filter.push_back(Answer(answer));
  if (tests > 0) filter.push_back(LoadCall());
}

}  // namespace

std::vector<sock_filter> MakeFilter(absl::Span<const SystemCallRule> rules) {
  std::vector<sock_filter> filter = {
      Load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      Answer(SECCOMP_RET_KILL_PROCESS),
      LoadCall(),
  };
  for (const SystemCallRule& rule : rules) AddRule(rule, filter);
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kNewestCall, 0, 1));
  filter.push_back(Answer(SECCOMP_RET_ERRNO | ENOSYS));
  filter.push_back(Answer(SECCOMP_RET_ERRNO | EPERM));
  return filter;
}

bool HasFilters() {
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

absl::Status InstallFilter(absl::Span<const sock_filter> filter) {
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = const_cast<sock_filter*>(filter.data())};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) !=
      0) {
    return ErrnoStatus(errno, "cannot filter system calls");
  }
  return absl::OkStatus();
}

}  // namespace slipway
