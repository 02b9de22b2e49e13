// What jobs cost the server before they run:
//   - accepted durably by a server process, from 32 clients at a time (goal: 1,000 a second, p99 100 ms);
//   - the scheduler's decision who is next, with 20,000 jobs waiting (goal: under 1 ms).
//
//   bazel run //tests/bench:accept_bench
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/target/target.h"
#include "server/scheduler/scheduler.h"
#include "tests/bench/grpc_accept_rate.h"
#include "tests/common/cluster.h"

namespace slipway::bench {
namespace {

constexpr int kClients = 32;
constexpr int kJobs = 8'000;
constexpr int kWaiting = 20'000;
constexpr int kOwners = 50;
constexpr int kDevices = 100;

absl::Status Accepts() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<testing::Cluster> cluster,
                           testing::Cluster::Start({.agents = 0}));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, cluster->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  SLIPWAY_RETURN_IF_ERROR(client->PutArtifact(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const AcceptRate rate,
                           MeasureAccepts(cluster->address(), artifact.digest(), kClients, kJobs));
  std::printf("%d jobs from %d clients: %.0f accepted a second, p50 %.1f ms, p99 %.1f ms\n", kJobs,
              kClients, rate.per_second, absl::ToDoubleMilliseconds(rate.p50),
              absl::ToDoubleMilliseconds(rate.p99));
  return cluster->StopAll();
}

// Half of the jobs name a device; the others are for one of three targets, which not every device runs.
void FillQueue(const std::vector<std::string>& targets, server::WaitingJobs& waiting) {
  for (int i = 0; i < kWaiting; ++i) {
    server::DeviceNeed need;
    if (i % 2 == 0) need.device = absl::StrCat("device ", i % kDevices);
    need.program.target = *ParseTarget(targets[i % targets.size()]);
    waiting.Put({.id = absl::StrCat(1'000'000 + i),
                 .owner = absl::StrCat("owner ", i % kOwners),
                 .priority = i % 3,
                 .need = need,
                 .not_before = absl::UnixEpoch()});
  }
  waiting.Release(absl::UnixEpoch());
}

void Decisions() {
  const SystemClock clock;
  const std::vector<std::string> targets = {"x86-64-linux", "x86-64-v3-linux", "arm-64-linux"};
  server::WaitingJobs waiting;
  FillQueue(targets, waiting);
  server::HeldByOwner held;
  absl::Duration total;
  absl::Duration longest;
  int decisions = 0;
  // The queue shrinks: only the first of them are with so many jobs.
  for (; decisions < kWaiting / 10; ++decisions) {
    const server::Supply supply =
        server::DeviceSupply{absl::StrCat("device ", decisions % kDevices),
                             {.target = *ParseTarget(targets[decisions % targets.size()])}};
    const absl::Duration begin = clock.Monotonic();
    const auto id = waiting.Pick(supply, held);
    if (id.has_value()) waiting.Erase(*id);
    const absl::Duration took = clock.Monotonic() - begin;
    total += took;
    longest = std::max(longest, took);
    if (id.has_value()) ++held[absl::StrCat("owner ", decisions % kOwners)];
  }
  std::printf("%d jobs waiting: a decision takes %.1f us, at most %.1f us\n", kWaiting,
              absl::ToDoubleMicroseconds(total / decisions), absl::ToDoubleMicroseconds(longest));
}

absl::Status Main() {
  Decisions();
  return Accepts();
}

}  // namespace
}  // namespace slipway::bench

int main() {
  const absl::Status status = slipway::bench::Main();
  if (status.ok()) return 0;
  std::fprintf(stderr, "accept_bench: %s\n", status.ToString().c_str());
  return 1;
}
