// What confining a runner costs its start: from a fork to the first thing that the child says, with the confinement and each
// of its parts, and without, in turns (goal: 2 ms more).
//
//   bazel run //tests/bench:confinement_bench
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"

namespace slipway {
namespace {

constexpr int kRounds = 200;

struct Variant {
  std::string name;
  Confinement confinement;
  std::vector<absl::Duration> starts;
};

absl::Duration StartOne(const Confinement& confinement) {
  int ends[2];
  SLIPWAY_CHECK(pipe(ends) == 0, "no pipe");
  const absl::Time start = absl::Now();
  const pid_t pid = fork();
  if (pid == 0) {
    const char done = ApplyConfinement(confinement).ok() ? 'y' : 'n';
    _exit(write(ends[1], &done, 1) == 1 ? 0 : 1);
  }
  char done = 0;
  SLIPWAY_CHECK(read(ends[0], &done, 1) == 1 && done == 'y', "a child could not be confined");
  const absl::Duration took = absl::Now() - start;
  waitpid(pid, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return took;
}

int Main() {
  const Confinement whole = RunnerConfinement("/tmp");
  std::vector<Variant> variants = {{"none", {}, {}}};
  for (const ConfinementPart part : whole.parts) {
    variants.push_back({std::string(Name(part)) + " alone", whole, {}});
    variants.back().confinement.parts = {part};
  }
  variants.push_back({"all", whole, {}});
  for (int i = 0; i < kRounds; ++i) {
    for (Variant& variant : variants) {
      variant.starts.push_back(StartOne(variant.confinement));
      // A runner's end gives its namespaces back later, and nobody starts one runner upon the other.
      absl::SleepFor(absl::Milliseconds(20));
    }
  }
  for (Variant& variant : variants) {
    std::sort(variant.starts.begin(), variant.starts.end());
    const auto us = [&](size_t index) { return absl::ToDoubleMicroseconds(variant.starts[index]); };
    std::cout << absl::StreamFormat("%-20s min %7.0f us  p50 %7.0f us  p90 %7.0f us\n",
                                    variant.name, us(0), us(kRounds / 2), us(kRounds * 9 / 10));
  }
  return 0;
}

}  // namespace
}  // namespace slipway

int main() { return slipway::Main(); }
