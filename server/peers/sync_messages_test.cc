#include "server/peers/sync_messages.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/peers/bad_reports.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::BadReport;
using slipway::server::testing::BadReports;
using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Stage = LeaseReport::Stage;

v1::AgentState Agent() {
  v1::AgentState state;
  state.set_agent_id("a");
  state.set_instance_id("i");
  state.set_sequence(7);
  state.set_version("1.0");
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.add_devices()->set_id("d");
  state.mutable_devices(0)->set_target("x86-64-linux");
  return state;
}

v1::WorkerState Worker() {
  v1::WorkerState state;
  state.set_worker_id("w");
  state.set_instance_id("i");
  state.set_sequence(7);
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.set_fingerprint(std::string(64, 'f'));
  state.set_capacity(2);
  return state;
}

std::vector<Stage> Stages(const Report& report) {
  std::vector<Stage> stages;
  for (const LeaseReport& lease : report.leases) stages.push_back(lease.stage);
  return stages;
}

TEST(SyncMessagesTest, AnAgentsStateIsAReport) {
  v1::AgentState state = Agent();
  state.set_applied_version("v");
  state.set_max_abi(2);
  state.set_min_abi(1);
  state.set_max_benchmark(1);
  for (int kind = v1::RunAttemptState::PREPARING; kind <= v1::RunAttemptState::STOPPED + 1;
       ++kind) {
    state.add_attempts()->set_attempt_id(absl::StrCat("lease ", kind));
    state.mutable_attempts(kind - 1)->set_state(static_cast<v1::RunAttemptState::State>(kind));
  }
  state.mutable_attempts(1)->mutable_progress()->set_stage("run");
  state.mutable_attempts(2)->mutable_benchmark_result()->add_samples_ns(42);
  state.mutable_attempts(3)->mutable_error()->set_code(999);
  state.mutable_attempts(3)->set_retriable(true);
  const absl::StatusOr<Report> report = ReadReport(state, "here");
  ASSERT_OK(report);
  EXPECT_EQ(report->call.peer, "agent/a");
  EXPECT_EQ(report->call.instance_id, "i");
  EXPECT_EQ(report->call.sequence, 7);
  EXPECT_EQ(report->call.address, "here");
  EXPECT_EQ(report->version, "1.0");
  EXPECT_EQ(report->applied_version, "v");
  EXPECT_EQ(report->capacity, 1);
  EXPECT_EQ(report->description.id(), "d");
  const DeviceSupply& supply = std::get<DeviceSupply>(report->supply);
  EXPECT_EQ(supply.device, "d");
  EXPECT_EQ(supply.offer.target.ToString(), "x86-64-linux");
  EXPECT_EQ(supply.offer.abis, (VersionRange{1, 2}));
  EXPECT_EQ(supply.offer.formats, (VersionRange{1, 1}));
  EXPECT_EQ(supply.offer.max_benchmark, 1);
  EXPECT_THAT(Stages(*report), ElementsAre(Stage::kPreparing, Stage::kRunning, Stage::kSucceeded,
                                           Stage::kFailed, Stage::kStopped, Stage::kUnknown));
  EXPECT_EQ(report->leases[0].id, "lease 1");
  EXPECT_FALSE(report->leases[0].progress.has_value());
  EXPECT_EQ(report->leases[1].progress->stage(), "run");
  EXPECT_FALSE(report->leases[1].result.has_value());
  EXPECT_EQ(std::get<v1::BenchmarkResult>(*report->leases[2].result).samples_ns(0), 42);
  // A code that is none is made one.
  EXPECT_EQ(report->leases[3].error.code(), static_cast<int>(absl::StatusCode::kInternal));
  EXPECT_TRUE(report->leases[3].retriable);
}

TEST(SyncMessagesTest, AWorkersStateIsAReport) {
  v1::WorkerState state = Worker();
  for (int kind = v1::CompileAttemptState::RUNNING; kind <= v1::CompileAttemptState::STOPPED + 1;
       ++kind) {
    state.add_attempts()->set_state(static_cast<v1::CompileAttemptState::State>(kind));
  }
  state.mutable_attempts(1)->mutable_result()->set_compile_key("key");
  const absl::StatusOr<Report> report = ReadReport(state, "here");
  ASSERT_OK(report);
  EXPECT_EQ(report->call.peer, "worker/w");
  EXPECT_EQ(report->capacity, 2);
  EXPECT_EQ(std::get<TargetFingerprints>(report->supply).at("x86-64-linux"), std::string(64, 'f'));
  EXPECT_THAT(Stages(*report), ElementsAre(Stage::kRunning, Stage::kSucceeded, Stage::kFailed,
                                           Stage::kStopped, Stage::kUnknown));
  EXPECT_EQ(std::get<v1::CompilationResult>(*report->leases[1].result).compile_key(), "key");
}

TEST(SyncMessagesTest, RefusesAgentsThatAreMalformed) {
  std::vector<BadReport<v1::AgentState>> bad = BadReports<v1::AgentState>();
  const std::vector<BadReport<v1::AgentState>> own = {
      {absl::StatusCode::kInvalidArgument, "agent_id", [](auto& s) { s.set_agent_id("A/B"); }},
      {absl::StatusCode::kInvalidArgument, "0 devices", [](auto& s) { s.clear_devices(); }},
      {absl::StatusCode::kInvalidArgument, "2 devices",
       [](auto& s) { *s.add_devices() = s.devices(0); }},
      {absl::StatusCode::kInvalidArgument, "device id",
       [](auto& s) { s.mutable_devices(0)->set_id("../d"); }},
      {absl::StatusCode::kInvalidArgument, "more than 1024",
       [](auto& s) { s.mutable_devices(0)->set_model(std::string(1'025, 'x')); }},
      {absl::StatusCode::kInvalidArgument, "more than 1024",
       [](auto& s) { s.mutable_devices(0)->set_os(std::string(1'025, 'x')); }},
      {absl::StatusCode::kInvalidArgument, "device 'd'",
       [](auto& s) { s.mutable_devices(0)->set_target("z80"); }},
      {absl::StatusCode::kInvalidArgument, "device 'd': peaks",
       [](auto& s) { s.mutable_devices(0)->mutable_peaks()->add_on_threads(); }},
      {absl::StatusCode::kInvalidArgument, "device 'd': its inventory's storage_bytes is -1",
       [](auto& s) { s.mutable_devices(0)->mutable_inventory()->set_storage_bytes(-1); }},
      {absl::StatusCode::kInvalidArgument, "its inventory's kernel has 256 bytes",
       [](auto& s) {
         s.mutable_devices(0)->mutable_inventory()->set_kernel(std::string(256, 'k'));
       }},
      {absl::StatusCode::kInvalidArgument, "device 'd': the value of label \"lab\"",
       [](auto& s) {
         s.mutable_devices(0)->add_labels()->set_key("lab");
         s.mutable_devices(0)->mutable_labels(0)->set_value("a\nb");
       }},
      {absl::StatusCode::kInvalidArgument, "device 'd': 33 labels",
       [](auto& s) {
         for (int i = 0; i < 33; ++i) s.mutable_devices(0)->add_labels();
       }},
  };
  bad.insert(bad.end(), own.begin(), own.end());
  for (const auto& row : bad) {
    v1::AgentState state = Agent();
    row.spoil(state);
    EXPECT_THAT(ReadReport(state, "here"), StatusIs(row.code, HasSubstr(row.says)));
  }
}

TEST(SyncMessagesTest, WhatAnAgentInventsOfItsDeviceIsNotKept) {
  v1::AgentState state = Agent();
  v1::DeviceDescription& device = *state.mutable_devices(0);
  device.GetReflection()->MutableUnknownFields(&device)->AddLengthDelimited(
      999, std::string(100'000, 'x'));
  v1::DeviceInventory& inventory = *device.mutable_inventory();
  inventory.GetReflection()->MutableUnknownFields(&inventory)->AddVarint(77, 1);
  inventory.set_power(static_cast<v1::DeviceInventory::Power>(55));
  const absl::StatusOr<Report> report = ReadReport(state, "here");
  ASSERT_OK(report);
  EXPECT_LT(report->description.ByteSizeLong(), 1'000u);
  EXPECT_EQ(report->description.id(), device.id());
}

TEST(SyncMessagesTest, WhatAnAgentSaysOfItsMachineIsBounded) {
  v1::AgentState state = Agent();
  ASSERT_OK_AND_ASSIGN(Report report, ReadReport(state, "here"));
  EXPECT_FALSE(report.machine.has_value());
  v1::MachineState& machine = *state.mutable_machine();
  machine.set_temperature_millicelsius(61'500);
  machine.set_governor(std::string(100'000, 'x'));
  machine.GetReflection()->MutableUnknownFields(&machine)->AddVarint(77, 1);
  ASSERT_OK_AND_ASSIGN(report, ReadReport(state, "here"));
  EXPECT_EQ(report.machine->temperature_millicelsius(), 61'500);
  EXPECT_LT(report.machine->ByteSizeLong(), 100u);
  machine.set_load_millis(-1);
  EXPECT_THAT(ReadReport(state, "here"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("machine")));
}

TEST(SyncMessagesTest, RefusesWorkersThatAreMalformed) {
  std::vector<BadReport<v1::WorkerState>> bad = BadReports<v1::WorkerState>();
  const std::vector<BadReport<v1::WorkerState>> own = {
      {absl::StatusCode::kInvalidArgument, "worker_id", [](auto& s) { s.set_worker_id(""); }},
      {absl::StatusCode::kInvalidArgument, "fingerprint", [](auto& s) { s.clear_fingerprint(); }},
      {absl::StatusCode::kInvalidArgument, "family",
       [](auto& s) { s.add_targets()->set_fingerprint(std::string(64, 'f')); }},
      {absl::StatusCode::kInvalidArgument, "capacity 0", [](auto& s) { s.set_capacity(0); }},
      {absl::StatusCode::kInvalidArgument, "capacity 1001", [](auto& s) { s.set_capacity(1'001); }},
  };
  bad.insert(bad.end(), own.begin(), own.end());
  for (const auto& row : bad) {
    v1::WorkerState state = Worker();
    row.spoil(state);
    EXPECT_THAT(ReadReport(state, "here"), StatusIs(row.code, HasSubstr(row.says)));
  }
}

TEST(SyncMessagesTest, TakesWhatIsAtItsLimit) {
  v1::AgentState agent = Agent();
  agent.mutable_devices(0)->set_model(std::string(1'024, 'x'));
  agent.mutable_devices(0)->set_os(std::string(1'024, 'x'));
  agent.set_version(std::string(kMaxVersionBytes, 'v'));
  agent.set_instance_id(std::string(kMaxInstanceIdBytes, 'i'));
  EXPECT_OK(ReadReport(agent, "here"));
  v1::WorkerState worker = Worker();
  worker.set_capacity(1'000);
  worker.set_fingerprint(std::string(32, '0') + std::string(32, '9'));
  EXPECT_OK(ReadReport(worker, "here"));
}

// A peer that says too much harms the attempt it speaks of, and nobody else.
TEST(SyncMessagesTest, ResultsAndTextsAreBounded) {
  v1::AgentState agent = Agent();
  v1::RunAttemptState& large = *agent.add_attempts();
  large.set_attempt_id("large");
  large.set_state(v1::RunAttemptState::SUCCEEDED);
  v1::Tensor& output = *large.mutable_run_result()->add_outputs();
  output.set_name(std::string(kMaxReportedTextBytes + 1, 'n'));
  v1::RunAttemptState& many = *agent.add_attempts();
  many.set_attempt_id("many");
  many.set_state(v1::RunAttemptState::SUCCEEDED);
  for (int i = 0; i < 25; ++i) {
    many.mutable_run_result()->add_outputs()->set_inline_data(std::string(1 << 20, 'x'));
  }
  v1::RunAttemptState& failed = *agent.add_attempts();
  failed.set_attempt_id("failed");
  failed.set_state(v1::RunAttemptState::FAILED);
  failed.mutable_error()->set_code(3);
  failed.mutable_error()->set_message(std::string(20 << 10, 'm'));
  failed.mutable_progress()->set_stage(std::string(1'000, 's'));
  v1::RunAttemptState& fine = *agent.add_attempts();
  fine.set_attempt_id("fine");
  fine.set_state(v1::RunAttemptState::SUCCEEDED);
  fine.mutable_run_result()->set_device("d");
  const absl::StatusOr<Report> report = ReadReport(agent, "here");
  ASSERT_OK(report);
  const size_t first = report->leases.size() - 4;
  for (const auto& [index, why] :
       {std::pair<size_t, const char*>{0, "slipway.v1.Tensor.name"}, {1, "at most 25165824"}}) {
    const LeaseReport& lease = report->leases[first + index];
    EXPECT_EQ(lease.stage, LeaseReport::Stage::kFailed) << lease.id;
    EXPECT_FALSE(lease.result.has_value());
    EXPECT_FALSE(lease.retriable);
    EXPECT_THAT(lease.error.message(), HasSubstr(why));
  }
  EXPECT_EQ(report->leases[first + 2].error.message().size(), kMaxErrorMessageBytes);
  EXPECT_EQ(report->leases[first + 2].progress->stage().size(), kMaxStageBytes);
  EXPECT_EQ(report->leases[first + 3].stage, LeaseReport::Stage::kSucceeded);
  EXPECT_TRUE(report->leases[first + 3].result.has_value());

  fine.set_attempt_id(std::string(kMaxAttemptIdBytes + 1, 'i'));
  EXPECT_THAT(ReadReport(agent, "here"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("attempt_id")));
}

TEST(SyncMessagesTest, WhatIsWantedIsAnAnswer) {
  auto run = std::make_shared<Assignment>();
  run->id = "lease";
  run->job_id = "job";
  run->assignee = "d";
  run->deadline_ns = 5;
  run->spec.mutable_run()->set_seed(9);
  run->along.set_manifest("manifest");
  v1::DesiredAgentState agent;
  WriteDesired({.version = "v", .leases = {run}, .silence = absl::Seconds(1)}, &agent);
  EXPECT_EQ(agent.version(), "v");
  EXPECT_EQ(agent.silence_ns(), 1'000'000'000);
  ASSERT_EQ(agent.attempts_size(), 1);
  EXPECT_EQ(agent.attempts(0).attempt_id(), "lease");
  EXPECT_EQ(agent.attempts(0).job_id(), "job");
  EXPECT_EQ(agent.attempts(0).device(), "d");
  EXPECT_EQ(agent.attempts(0).deadline_ns(), 5);
  EXPECT_EQ(agent.attempts(0).run().seed(), 9u);
  EXPECT_EQ(agent.attempts(0).manifest(), "manifest");

  auto compilation = std::make_shared<Assignment>();
  compilation->id = "lease";
  compilation->job_id = "job";
  compilation->deadline_ns = 5;
  compilation->compile_key = "key";
  compilation->spec.mutable_compilation()->mutable_target()->set_name("x86-64-linux");
  v1::DesiredWorkerState worker;
  WriteDesired({.version = "v", .leases = {compilation}, .silence = absl::Seconds(1)}, &worker);
  EXPECT_EQ(worker.version(), "v");
  EXPECT_EQ(worker.silence_ns(), 1'000'000'000);
  ASSERT_EQ(worker.attempts_size(), 1);
  EXPECT_EQ(worker.attempts(0).attempt_id(), "lease");
  EXPECT_EQ(worker.attempts(0).job_id(), "job");
  EXPECT_EQ(worker.attempts(0).deadline_ns(), 5);
  EXPECT_EQ(worker.attempts(0).compile_key(), "key");
  EXPECT_EQ(worker.attempts(0).spec().target().name(), "x86-64-linux");
}

}  // namespace
}  // namespace slipway::server
