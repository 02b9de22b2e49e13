#include "tests/security/attack.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace slipway::testing {
namespace {

constexpr int kNobody = 65534;

void Become(User user) {
  if (user == User::kNobody && geteuid() == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
      setresuid(kNobody, kNobody, kNobody) != 0) {
    _exit(2);
  }
  // So that only the confinement forbids the children to trace this process.
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

// The letter that a child writes, which then ends.
char LetterOf(const std::function<char()>& child) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t pid = fork();
  if (pid == 0) {
    const char letter = child();
    _exit(write(ends[1], &letter, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  char letter = 0;
  if (read(ends[0], &letter, 1) != 1) letter = 0;
  close(ends[0]);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return letter;
}

// Whether it worked.
bool TakeOn(const Bounds& bounds) {
  if (bounds.memory_bytes.has_value()) {
    const auto bytes = static_cast<rlim_t>(*bounds.memory_bytes);
    const rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  }
  return ApplyConfinement(bounds.confinement).ok();
}

}  // namespace

Outcome Attack(const AttackBody& body, const Bounds* bounds, User user) {
  const char outcome = LetterOf([&] {
    Become(user);
    const pid_t victim = getpid();
    return LetterOf([&] {
      const bool is_bound = bounds == nullptr || TakeOn(*bounds);
      return static_cast<char>(is_bound ? body(victim) : Outcome::kBroken);
    });
  });
  return outcome == 0 ? Outcome::kBroken : static_cast<Outcome>(outcome);
}

bool Lacks(const Confinement& confinement, ConfinementPart part, User user) {
  return LetterOf([&] {
           Become(user);
           const absl::StatusOr<MissingParts> missing = ProbeConfinement(confinement);
           const bool lacks = !missing.ok() || std::any_of(missing->begin(), missing->end(),
                                                           [&](const MissingPart& each) {
                                                             return each.part == part;
                                                           });
           return lacks ? 'y' : 'n';
         }) != 'n';
}

}  // namespace slipway::testing
