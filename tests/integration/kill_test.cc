// Nothing is lost: jobs and sessions while clients, server, workers, compilations, agents and runners are killed, or
// stopped for a while, at random points. Every job that was accepted ends once, with one result; every user of a session
// learns within seconds who went away, and no device is held for longer than its lease.
//
//   bazel test //tests/integration:kill_test --test_arg=--seeds=1,2,3
//   bazel test //tests/integration:long_kill_test
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/model_files.h"
#include "client/session.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/grpc_stored_job.h"
#include "tests/integration/killer.h"
#include "tests/integration/session_outcome.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

std::vector<uint64_t>* const seeds = new std::vector<uint64_t>{1};
int rounds = 1;

constexpr int kAgents = 3;
constexpr int kClients = 6;
// Compilations, runs, benchmarks, sessions of a round.
constexpr int kJobsOfAKind[] = {8, 8, 4, 24};
constexpr float kTurns = 100;  // Of the slow program: some seconds.
constexpr int kMostCalls = 100;
constexpr absl::Duration kMeanPause = absl::Milliseconds(300);
// For each round; then the killing ends, so that the jobs may.
constexpr absl::Duration kKillFor = absl::Seconds(15);
constexpr int kMaxAttempts = 3;
constexpr int64_t kMaxModelBytes = 1 << 20;

// A job that a client got accepted, and what it saw of its end.
struct Accepted {
  Job end;
  std::function<void(const Job&, Client&)> check;
};

// Until every session has ended, or should long have.
std::vector<Job> AwaitSessions(Client& client, size_t most) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (true) {
    const absl::StatusOr<std::vector<Job>> jobs =
        client.ListJobs({.limit = static_cast<int>(most)});
    EXPECT_OK(jobs);
    if (!jobs.ok() || absl::Now() > deadline ||
        std::all_of(jobs->begin(), jobs->end(), [](const Job& job) { return job.ended(); })) {
      return jobs.value_or(std::vector<Job>());
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
}

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

  // A session is a job too, but its user is a process that may be killed, and then nobody sees its end.
  Work UseSession(const std::string& purpose, int calls, bool straight) {
    return [=, this](Client&) -> absl::StatusOr<Accepted> {
      absl::StatusOr<SessionOutcome> outcome =
          testing::UseSession(*cluster_, purpose, calls, straight);
      if (!outcome.ok()) return outcome.status();
      absl::MutexLock lock(&mu_);
      outcomes_.push_back(*std::move(outcome));
      return Accepted{};
    };
  }

  std::vector<Work> Plan(Client& client, std::mt19937_64& random) {
    const Artifact add = TestProgram(TestKernel::kAdd);
    const Artifact slow = TestProgram(TestKernel::kSlow);
    EXPECT_OK(client.PutArtifact(add));
    EXPECT_OK(client.PutArtifact(slow));
    std::vector<Work> plan;
    for (int i = 0; i < rounds * kJobsOfAKind[0]; ++i) {
      const std::string name = absl::StrCat("model", i);
      // Every fourth asks for the same as the one before.
      const std::string model = i % 4 == 3 ? tree_.Path(absl::StrCat("model", i - 1, ".graph"))
                                           : WriteModel(tree_, name, RandomModel(random() % 1000));
      plan.push_back(Compile(model, i / 2 % 2 == 0 ? "x86-64-v3-linux" : "x86-64-v2-linux"));
    }
    for (int i = 0; i < rounds * kJobsOfAKind[1]; ++i) {
      plan.push_back(i % 2 == 0 ? Run(add.digest(), 1) : Run(slow.digest(), kTurns));
    }
    for (int i = 0; i < rounds * kJobsOfAKind[2]; ++i) plan.push_back(Benchmark(add.digest()));
    for (int i = 0; i < rounds * kJobsOfAKind[3]; ++i) {
      plan.push_back(UseSession(absl::StrCat("user ", i),
                                1 + static_cast<int>(random() % kMostCalls), i % 2 == 0));
    }
    std::shuffle(plan.begin(), plan.end(), random);
    return plan;
  }

  // A job whose process dies on every attempt is given up, and rightly so.
  static bool SomeJobIsOnItsLastAttempt(Client& client) {
    const absl::StatusOr<std::vector<Job>> jobs = client.ListJobs({.limit = 1000});
    EXPECT_OK(jobs);
    return jobs.ok() && std::any_of(jobs->begin(), jobs->end(), [](const Job& job) {
             return !job.ended() && job.attempts >= kMaxAttempts;
           });
  }

  // Whether the device can be had; one whose agent was struck last comes back first.
  absl::Status AwaitFree(const std::string& device) {
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    while (true) {
      const absl::Status opened =
          Session::Open(
              {.address = cluster_->address(), .device = device, .wait = absl::Seconds(5)})
              .status();
      if (opened.ok() || absl::Now() > deadline) return opened;
    }
  }

  void CheckJobs(Client& client) {
    int given_up = 0;
    for (const Accepted& done : accepted_) {
      const Job& end = done.end;
      SCOPED_TRACE(absl::StrCat(Name(end.kind), " ", end.id));
      ASSERT_OK_AND_ASSIGN(const v1::Job stored, GetStoredJob(cluster_->address(), end.id));
      // Nothing has happened to it since its end: it had one.
      EXPECT_EQ(stored.revision(), end.revision);
      if (end.state == JobState::kFailed && end.attempts == kMaxAttempts) {
        // The killer looked a moment before that attempt began, or could not look.
        EXPECT_THAT(end.error, StatusIs(absl::StatusCode::kAborted));
        ++given_up;
      } else {
        EXPECT_EQ(std::string(Name(end.state)), "succeeded") << end.error;
        if (end.state == JobState::kSucceeded) done.check(end, client);
      }
      EXPECT_THAT(AskAgain(cluster_->address(), stored), IsOkAndHolds(end.id));
    }
    std::cout << given_up << " of " << accepted_.size() << " jobs given up" << std::endl;
    EXPECT_LE(given_up, 2 * rounds);
  }

  void CheckSessions(const std::vector<Job>& all, const std::vector<Strike>& strikes) {
    absl::flat_hash_map<std::string, const Job*> sessions;
    for (const Job& job : all) {
      if (job.kind != JobKind::kSession) continue;
      EXPECT_TRUE(sessions.emplace(job.purpose, &job).second) << job.purpose << " has two sessions";
    }
    EXPECT_EQ(all.size(), accepted_.size() + sessions.size());
    size_t closed = 0;
    size_t killed = 0;
    for (const SessionOutcome& outcome : outcomes_) {
      if (outcome.closed) ++closed;
      if (outcome.was_killed) ++killed;
      EXPECT_OK(CheckErrors(outcome, strikes));
      const auto job = sessions.find(outcome.purpose);
      if (job != sessions.end()) EXPECT_OK(CheckLease(outcome, *job->second, strikes));
    }
    std::cout << closed << " of " << outcomes_.size() << " sessions closed, " << killed
              << " users killed" << std::endl;
    EXPECT_GE(closed, outcomes_.size() / 4);
  }

  TempTree tree_;
  std::unique_ptr<Cluster> cluster_;
  absl::Mutex mu_;
  std::vector<Accepted> accepted_;
  std::vector<SessionOutcome> outcomes_;
};

TEST_P(KillTest, EveryAcceptedJobEndsOnce) {
  std::cout << "seed " << GetParam() << std::endl;
  std::mt19937_64 random(GetParam());
  ASSERT_OK_AND_ASSIGN(cluster_,
                       Cluster::Start({.agents = kAgents,
                                       .server_flags = {absl::StrCat(
                                           "--silence=", absl::FormatDuration(kServerSilence))},
                                       .agent_flags = {"--listen=127.0.0.1:0"}}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster_->Connect());
  const std::vector<Work> plan = Plan(*client, random);

  size_t next = 0;
  Killer killer(*cluster_, {.seed = random(),
                            .mean_pause = kMeanPause,
                            .strike_for = rounds * kKillFor,
                            .client_program = kSessionUser,
                            .may_strike = [&] { return !SomeJobIsOnItsLastAttempt(*client); }});
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      while (true) {
        size_t mine;
        {
          absl::MutexLock lock(&mu_);
          if (next == plan.size()) return;
          mine = next++;
        }
        absl::StatusOr<Accepted> done = plan[mine](*client);
        EXPECT_OK(done);
        absl::MutexLock lock(&mu_);
        if (done.ok() && done->check) accepted_.push_back(*std::move(done));
      }
    });
  }
  for (std::thread& thread : clients) thread.join();
  killer.Stop();
  EXPECT_GE(killer.strikes().size(), 3u);
  std::cout << killer.strikes().size() << " strikes" << std::endl;

  const std::vector<Job> all = AwaitSessions(*client, 2 * plan.size());
  CheckJobs(*client);
  CheckSessions(all, killer.strikes());
  EXPECT_EQ(accepted_.size() + outcomes_.size(), plan.size());
  for (int i = 0; i < kAgents; ++i) EXPECT_OK(AwaitFree(absl::StrCat("agent", i)));
  EXPECT_OK(cluster_->StopAll());
}

INSTANTIATE_TEST_SUITE_P(Seeds, KillTest, ::testing::ValuesIn(*seeds));

}  // namespace

constexpr absl::string_view kSeeds = "--seeds=";
constexpr absl::string_view kRounds = "--rounds=";

// Reads --seeds=N,N,... and --rounds=N; false when it is neither, or nonsense.
bool Read(absl::string_view argument) {
  if (absl::ConsumePrefix(&argument, kRounds)) return absl::SimpleAtoi(argument, &rounds);
  if (!absl::ConsumePrefix(&argument, kSeeds)) return false;
  seeds->clear();
  for (absl::string_view word : absl::StrSplit(argument, ',')) {
    if (!absl::SimpleAtoi(word, &seeds->emplace_back())) return false;
  }
  return true;
}

}  // namespace slipway::testing

int main(int argc, char** argv) {
  // The tests are made of the seeds.
  std::vector<char*> others = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (!slipway::testing::Read(argv[i])) others.push_back(argv[i]);
  }
  int count = static_cast<int>(others.size());
  ::testing::InitGoogleMock(&count, others.data());
  if (count == 1) return RUN_ALL_TESTS();
  std::cerr << "usage: kill_test [--seeds=N,N,...] [--rounds=N]\n";
  return 2;
}
