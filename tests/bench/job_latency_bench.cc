// How long a job takes beyond its work, with real processes on this machine:
//   - a tiny program, loaded before, as a job through client, server, agent and back (goal: p50 <= 25 ms);
//   - the same over TLS, where the server vouches for programs: for one that is known, and for one that nobody has seen;
//   - `slipway run` of a compiled artifact that starts and ends its own server and agent (goal: < 0.3 s);
// and what an idle agent takes (goals: 20 MB resident, 20 MB stripped).
//
//   bazel run //tests/bench:job_latency_bench
#include <sys/stat.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/artifact/artifact.h"
#include "core/artifact/slip_file.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"

namespace slipway::testing {
namespace {

constexpr int kJobs = 200;
constexpr int kCommands = 20;

template <typename T>
T Must(absl::StatusOr<T> value) {
  SLIPWAY_CHECK(value.ok(), value.status().message());
  return *std::move(value);
}

void Print(absl::string_view what, std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  const auto ms = [&](size_t index) { return absl::ToDoubleMilliseconds(times[index]); };
  std::cout << absl::StreamFormat("%-28s min %7.2f ms  p50 %7.2f ms  p90 %7.2f ms  (%d samples)\n",
                                  what, ms(0), ms(times.size() / 2), ms(times.size() * 9 / 10),
                                  times.size());
}

absl::Duration TimeOfRun(Client& client, const Artifact& artifact) {
  const absl::Time start = absl::Now();
  Must(client.Run(artifact.digest(), {}, {}));
  return absl::Now() - start;
}

// TestProgram, unlike all others by what it says of its making.
Artifact NewProgram(int number) {
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  manifest.set_compile_key(absl::StrFormat("%064d", number));
  return Must(Artifact::Create(std::move(manifest), GetTestProgramBlob));
}

void MeasureOverTls() {
  const std::unique_ptr<Cluster> cluster = Must(Cluster::Start({.tcp = true}));
  const std::unique_ptr<Client> client = Must(cluster->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  SLIPWAY_CHECK(client->PutArtifact(artifact).ok(), "cannot send the program");
  std::vector<absl::Duration> known;
  std::vector<absl::Duration> first;
  for (int i = 0; i < kJobs; ++i) {
    known.push_back(TimeOfRun(*client, artifact));
    const Artifact other = NewProgram(i);
    SLIPWAY_CHECK(client->PutArtifact(other).ok(), "cannot send a program");
    first.push_back(TimeOfRun(*client, other));
  }
  Print("job over TLS", known);
  Print("job over TLS, new program", first);
}

int Main() {
  const std::unique_ptr<Cluster> cluster = Must(Cluster::Start({}));
  std::cout << absl::StreamFormat(
      "idle agent: %.1f MB\n", static_cast<double>(ResidentBytes(cluster->agent(0).pid())) / 1e6);
  const std::string stripped = cluster->Path("stripped");
  const CommandResult strip =
      RunCommand({.argv = {"/usr/bin/llvm-strip-14", "-o", stripped, AgentBinary()}});
  struct stat info;
  if (strip.status.ok() && stat(stripped.c_str(), &info) == 0) {
    std::cout << absl::StreamFormat("agent, stripped: %.1f MB\n",
                                    static_cast<double>(info.st_size) / 1e6);
  }

  const std::unique_ptr<Client> client = Must(cluster->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  SLIPWAY_CHECK(client->PutArtifact(artifact).ok(), "cannot send the program");
  std::vector<absl::Duration> jobs;
  for (int i = 0; i < kJobs; ++i) jobs.push_back(TimeOfRun(*client, artifact));
  Print("job, durable, and its outputs", jobs);
  MeasureOverTls();

  const std::string file = cluster->Path("program.slip");
  SLIPWAY_CHECK(WriteSlip(artifact, file).ok(), "cannot write the program");
  std::vector<absl::Duration> remote;
  std::vector<absl::Duration> local;
  for (int i = 0; i < kCommands; ++i) {
    const CommandResult with_server = cluster->Slipway({"run", file});
    SLIPWAY_CHECK(with_server.status.ok(), with_server.err);
    remote.push_back(with_server.wall);
    const CommandResult alone = cluster->Slipway({"run", file, "--local"});
    SLIPWAY_CHECK(alone.status.ok(), alone.err);
    local.push_back(alone.wall);
  }
  Print("slipway run --server", remote);
  Print("slipway run --local", local);
  return cluster->StopAll().ok() ? 0 : 1;
}

}  // namespace
}  // namespace slipway::testing

int main() { return slipway::testing::Main(); }
