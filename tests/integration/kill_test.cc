// Nothing is lost: twenty jobs while server, workers, compilations, agents and runners are killed at random
// points. Every job that was accepted ends once, with one result.
//
//   bazel test //tests/integration:kill_test --test_arg=--seeds=1,2,3
#include <signal.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/model_files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/grpc_stored_job.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

std::vector<uint64_t>* const seeds = new std::vector<uint64_t>{1};

constexpr int kAgents = 2;
constexpr int kClients = 5;
constexpr int kJobsOfAKind[] = {8, 8, 4};  // Compilations, runs, benchmarks.
constexpr float kTurns = 100;              // Of the slow program: some seconds.
constexpr absl::Duration kMeanPause = absl::Milliseconds(200);
// Then the killing ends, so that the jobs may.
constexpr absl::Duration kKillFor = absl::Seconds(12);
constexpr int kMaxAttempts = 3;
constexpr int64_t kMaxModelBytes = 1 << 20;

// Kills processes of a cluster at random until told to stop, and starts again what nobody else does.
class Killer {
 public:
  Killer(Cluster& cluster, Client& client, uint64_t seed)
      : cluster_(cluster), client_(client), random_(seed) {
    thread_ = std::thread([this] { Work(); });
  }
  ~Killer() { Stop(); }

  void Stop() {
    if (!thread_.joinable()) return;
    stop_.Notify();
    thread_.join();
  }
  const std::vector<std::string>& kills() const { return kills_; }

 private:
  void Work() {
    const absl::Time start = absl::Now();
    std::exponential_distribution<double> pause(1 / absl::ToDoubleSeconds(kMeanPause));
    while (absl::Now() - start < kKillFor &&
           !stop_.WaitForNotificationWithTimeout(absl::Seconds(pause(random_)))) {
      if (SomeJobIsOnItsLastAttempt()) continue;
      const std::string victim = KillOne();
      if (victim.empty()) continue;
      std::cout << absl::FormatDuration(absl::Now() - start) << ": killed " << victim << std::endl;
      kills_.push_back(victim);
    }
  }

  // A job whose process dies on every attempt is given up, and rightly so.
  bool SomeJobIsOnItsLastAttempt() {
    const absl::StatusOr<std::vector<Job>> jobs = client_.ListJobs(1000);
    EXPECT_OK(jobs);
    return jobs.ok() && std::any_of(jobs->begin(), jobs->end(), [](const Job& job) {
             return !job.ended() && job.attempts >= kMaxAttempts;
           });
  }

  std::string KillOne() {
    switch (random_() % 6) {
      case 0:
        return Restart(cluster_.server(), /*waits=*/true);
      case 1:
        // It may take some seconds until the server believes that it is the same agent.
        return Restart(cluster_.agent(static_cast<int>(random_() % kAgents)), /*waits=*/false);
      case 2:
        return KillChild("slipway-compile-worker", "slipwayd");
      case 3:
        return KillChild("slipway-compile-worker", "slipway-compile-worker");
      default:
        return KillChild("slipway-agent", "slipway-agent");
    }
  }

  static std::string Restart(ServiceProcess& process, bool waits) {
    process.Kill();
    EXPECT_OK(waits ? process.Start() : process.Launch());
    return process.options().name;
  }

  // A random process of `program` whose parent runs `parent`.
  std::string KillChild(absl::string_view program, absl::string_view parent) {
    const std::vector<RunningProcess> all = cluster_.Processes();
    std::vector<RunningProcess> victims;
    for (const RunningProcess& process : all) {
      const bool fits = std::any_of(all.begin(), all.end(), [&](const RunningProcess& other) {
        return other.pid == process.parent && other.program == parent;
      });
      if (process.program == program && fits) victims.push_back(process);
    }
    if (victims.empty()) return "";
    const RunningProcess& victim = victims[random_() % victims.size()];
    kill(victim.pid, SIGKILL);
    return absl::StrCat(program, ", child of ", parent);
  }

  Cluster& cluster_;
  Client& client_;
  std::mt19937_64 random_;
  absl::Notification stop_;
  std::vector<std::string> kills_;
  std::thread thread_;
};

// A job that a client got accepted, and what it saw of its end.
struct Accepted {
  Job end;
  std::function<void(const Job&, Client&)> check;
};

class KillTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  // What clients do, in random order.
  using Work = std::function<absl::StatusOr<Accepted>(Client&)>;

  Work Compile(const std::string& model, const std::string& target) {
    return [=](Client& client) -> absl::StatusOr<Accepted> {
      absl::StatusOr<ModelFiles> files = ReadModelFiles(model, kMaxModelBytes);
      if (!files.ok()) return files.status();
      absl::StatusOr<std::string> id = client.SubmitCompilation(*files, {.target = target});
      if (!id.ok()) return id.status();
      absl::StatusOr<Job> end = client.Wait(*id, nullptr);
      if (!end.ok()) return end.status();
      return Accepted{*end, [](const Job& job, Client& client) {
                        ASSERT_TRUE(job.compilation.has_value());
                        EXPECT_OK(client.GetArtifact(job.compilation->artifact));
                      }};
    };
  }

  Work Run(const Digest& artifact, float first) {
    return [=](Client& client) -> absl::StatusOr<Accepted> {
      Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
      x.mutable_values<float>()[0] = first;
      absl::StatusOr<std::string> id = client.SubmitRun(artifact, {{"x", x}}, {});
      if (!id.ok()) return id.status();
      absl::StatusOr<Job> end = client.Wait(*id, nullptr);
      if (!end.ok()) return end.status();
      return Accepted{*end, [](const Job& job, Client& client) {
                        ASSERT_TRUE(job.run.has_value());
                        ASSERT_OK_AND_ASSIGN(const auto outputs, client.FetchOutputs(*job.run));
                        ASSERT_EQ(outputs.size(), 1u);
                      }};
    };
  }

  Work Benchmark(const Digest& artifact) {
    return [=](Client& client) -> absl::StatusOr<Accepted> {
      BenchmarkOptions options;
      options.warmup = 1;
      options.samples = 4;
      absl::StatusOr<std::string> id = client.SubmitBenchmark(artifact, {}, options);
      if (!id.ok()) return id.status();
      absl::StatusOr<Job> end = client.Wait(*id, nullptr);
      if (!end.ok()) return end.status();
      return Accepted{*end, [](const Job& job, Client&) {
                        ASSERT_TRUE(job.benchmark.has_value());
                        EXPECT_EQ(job.benchmark->samples_ns.size(), 4u);
                      }};
    };
  }

  std::vector<Work> Plan(Client& client, std::mt19937_64& random) {
    const Artifact add = TestProgram(TestKernel::kAdd);
    const Artifact slow = TestProgram(TestKernel::kSlow);
    EXPECT_OK(client.PutArtifact(add));
    EXPECT_OK(client.PutArtifact(slow));
    std::vector<Work> plan;
    for (int i = 0; i < kJobsOfAKind[0]; ++i) {
      const std::string name = absl::StrCat("model", i);
      // Every fourth asks for the same as the one before.
      const std::string model = i % 4 == 3 ? tree_.Path(absl::StrCat("model", i - 1, ".graph"))
                                           : WriteModel(tree_, name, RandomModel(random() % 1000));
      plan.push_back(Compile(model, i / 2 % 2 == 0 ? "x86-64-v3-linux" : "x86-64-v2-linux"));
    }
    for (int i = 0; i < kJobsOfAKind[1]; ++i) {
      plan.push_back(i % 2 == 0 ? Run(add.digest(), 1) : Run(slow.digest(), kTurns));
    }
    for (int i = 0; i < kJobsOfAKind[2]; ++i) plan.push_back(Benchmark(add.digest()));
    std::shuffle(plan.begin(), plan.end(), random);
    return plan;
  }

  TempTree tree_;
};

TEST_P(KillTest, EveryAcceptedJobEndsOnce) {
  std::cout << "seed " << GetParam() << std::endl;
  std::mt19937_64 random(GetParam());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.agents = kAgents, .server_flags = {"--silence=3s"}}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  const std::vector<Work> plan = Plan(*client, random);

  absl::Mutex mu;
  size_t next = 0;
  std::vector<Accepted> accepted;
  Killer killer(*cluster, *client, random());
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      while (true) {
        size_t mine;
        {
          absl::MutexLock lock(&mu);
          if (next == plan.size()) return;
          mine = next++;
        }
        absl::StatusOr<Accepted> done = plan[mine](*client);
        EXPECT_OK(done);
        absl::MutexLock lock(&mu);
        if (done.ok()) accepted.push_back(*std::move(done));
      }
    });
  }
  for (std::thread& thread : clients) thread.join();
  killer.Stop();
  EXPECT_GE(killer.kills().size(), 3u);

  EXPECT_EQ(accepted.size(), plan.size());
  int given_up = 0;
  for (const Accepted& done : accepted) {
    const Job& end = done.end;
    SCOPED_TRACE(absl::StrCat(Name(end.kind), " ", end.id));
    ASSERT_OK_AND_ASSIGN(const v1::Job stored, GetStoredJob(cluster->address(), end.id));
    // Nothing has happened to it since its end: it had one.
    EXPECT_EQ(stored.revision(), end.revision);
    if (end.state == JobState::kFailed && end.attempts == kMaxAttempts) {
      // The killer looked a moment before that attempt began.
      EXPECT_THAT(end.error, StatusIs(absl::StatusCode::kAborted));
      ++given_up;
    } else {
      EXPECT_EQ(std::string(Name(end.state)), "succeeded") << end.error;
      if (end.state == JobState::kSucceeded) done.check(end, *client);
    }
    EXPECT_THAT(AskAgain(cluster->address(), stored), IsOkAndHolds(end.id));
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> all, client->ListJobs(1000));
  EXPECT_EQ(all.size(), accepted.size());
  std::cout << killer.kills().size() << " kills, " << given_up << " jobs given up" << std::endl;
  EXPECT_LE(given_up, 1);
  EXPECT_OK(cluster->StopAll());
}

INSTANTIATE_TEST_SUITE_P(Seeds, KillTest, ::testing::ValuesIn(*seeds));

}  // namespace

// Reads --seeds=N,N,...; false when it is nonsense.
bool ReadSeeds(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (!absl::ConsumePrefix(&argument, "--seeds=")) return false;
    seeds->clear();
    for (absl::string_view word : absl::StrSplit(argument, ',')) {
      if (!absl::SimpleAtoi(word, &seeds->emplace_back())) return false;
    }
  }
  return true;
}

}  // namespace slipway::testing

int main(int argc, char** argv) {
  // The tests are made of the seeds.
  std::vector<char*> ours = {argv[0]};
  std::vector<char*> others = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    (absl::string_view(argv[i]).substr(0, 8) == "--seeds=" ? ours : others).push_back(argv[i]);
  }
  if (!slipway::testing::ReadSeeds(static_cast<int>(ours.size()), ours.data())) {
    std::cerr << "usage: kill_test [--seeds=N,N,...]\n";
    return 2;
  }
  int count = static_cast<int>(others.size());
  ::testing::InitGoogleMock(&count, others.data());
  return RUN_ALL_TESTS();
}
