#include "server/handlers/runs.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/wire/benchmark_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using v1::Job;

v1::Tensor Input(const std::string& name, std::vector<int64_t> shape,
                 v1::DataType dtype = v1::DATA_TYPE_FLOAT32) {
  v1::Tensor tensor;
  tensor.set_name(name);
  tensor.mutable_type()->set_dtype(dtype);
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    tensor.mutable_type()->add_shape(extent);
    elements *= extent;
  }
  tensor.set_inline_data(std::string(elements * 4, '\0'));
  return tensor;
}

class RunsTest : public ::testing::Test {
 protected:
  RunsTest() { spec_.mutable_manifest()->CopyFrom(server_.PutProgram()); }

  absl::StatusOr<Job> Run(const v1::RunSpec& spec) {
    v1::CreateRunRequest request;
    request.set_request_id(absl::StrCat("r", ++requests_));
    *request.mutable_spec() = spec;
    v1::CreateJobResponse response;
    const absl::Status status = CreateRun(server_.caller, server_.env, request, &response);
    if (!status.ok()) return status;
    return server_.store.Get(response.job_id())->job();
  }
  absl::StatusOr<Job> Measure(const v1::BenchmarkSpec& spec) {
    v1::CreateBenchmarkRequest request;
    request.set_request_id(absl::StrCat("r", ++requests_));
    *request.mutable_spec() = spec;
    v1::CreateJobResponse response;
    const absl::Status status = CreateBenchmark(server_.caller, server_.env, request, &response);
    if (!status.ok()) return status;
    return server_.store.Get(response.job_id())->job();
  }

  testing::HandlerEnvironment server_;
  v1::RunSpec spec_;
  int requests_ = 0;
};

TEST_F(RunsTest, ARunKeepsItsWorkAndTheBlobsItNeeds) {
  *spec_.add_inputs() = Input("x", {2, 8});
  spec_.set_threads(2);
  const auto job = Run(spec_);
  ASSERT_OK(job);
  EXPECT_EQ(job->state(), Job::QUEUED);
  EXPECT_EQ(job->run().threads(), 2);
  EXPECT_FALSE(job->has_benchmark());
  const JobRecord record = *server_.store.Get(job->id());
  EXPECT_EQ(record.run().target(), "x86-64-linux");
  EXPECT_EQ(record.run().abi(), 1);
  EXPECT_EQ(record.run().format(), 1);
  std::vector<std::string> blobs;
  for (const v1::Digest& digest : record.blobs()) blobs.push_back(digest.sha256());
  EXPECT_THAT(blobs, ::testing::UnorderedElementsAre(spec_.manifest().sha256(),
                                                     Digest::Of(TestCode()).hex(),
                                                     Digest::Of(TestConstants()).hex()));
}

TEST_F(RunsTest, ABenchmarkIsOneToo) {
  v1::BenchmarkSpec spec;
  *spec.mutable_run() = spec_;
  spec.set_warmup(-1);
  spec.set_samples(kMaxSamples);
  const auto job = Measure(spec);
  ASSERT_OK(job);
  EXPECT_EQ(job->benchmark().samples(), kMaxSamples);
  EXPECT_FALSE(job->has_run());
}

TEST_F(RunsTest, TheSameRequestIsTheSameJob) {
  v1::CreateRunRequest request;
  request.set_request_id("r");
  *request.mutable_spec() = spec_;
  v1::CreateJobResponse first, again, other;
  ASSERT_OK(CreateRun(server_.caller, server_.env, request, &first));
  ASSERT_OK(server_.blobs.Remove(Digest::Of(TestCode())));
  ASSERT_OK(CreateRun(server_.caller, server_.env, request, &again));
  EXPECT_EQ(first.job_id(), again.job_id());
  request.mutable_spec()->set_threads(3);
  EXPECT_THAT(CreateRun(server_.caller, server_.env, request, &other),
              StatusIs(absl::StatusCode::kAlreadyExists));
  // A benchmark of the same work is other work.
  v1::CreateBenchmarkRequest benchmark;
  benchmark.set_request_id("r");
  *benchmark.mutable_spec()->mutable_run() = spec_;
  EXPECT_THAT(CreateBenchmark(server_.caller, server_.env, benchmark, &other),
              StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(RunsTest, NumbersHaveLimits) {
  for (const int threads : {-1, kMaxThreads + 1}) {
    v1::RunSpec spec = spec_;
    spec.set_threads(threads);
    EXPECT_THAT(Run(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("threads")));
  }
  v1::RunSpec turns = spec_;
  turns.set_loop_turns(-1);
  EXPECT_THAT(Run(turns), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("loop_turns")));
  v1::RunSpec bytes = spec_;
  bytes.set_dynamic_bytes(-1);
  EXPECT_THAT(Run(bytes), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dynamic_bytes")));
  spec_.set_threads(kMaxThreads);
  EXPECT_OK(Run(spec_));
  v1::BenchmarkSpec spec;
  *spec.mutable_run() = spec_;
  for (const int warmup : {-2, kMaxSamples + 1}) {
    spec.set_warmup(warmup);
    EXPECT_THAT(Measure(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("warmup")));
  }
  spec.set_warmup(kMaxSamples);
  for (const int samples : {-1, kMaxSamples + 1}) {
    spec.set_samples(samples);
    EXPECT_THAT(Measure(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("samples")));
  }
  spec.set_samples(kMaxSamples);
  for (const int goal : {-1, kMaxPrecisionGoalPpm + 1}) {
    spec.set_precision_goal_ppm(goal);
    EXPECT_THAT(Measure(spec),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("precision_goal_ppm")));
  }
  spec.set_precision_goal_ppm(kMaxPrecisionGoalPpm);
  EXPECT_OK(Measure(spec));
}

TEST_F(RunsTest, WantsTheProgramAndItsBlobs) {
  v1::RunSpec unknown;
  EXPECT_THAT(Run(unknown), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("manifest")));
  *unknown.mutable_manifest() = ToProto(Digest::Of("nowhere"));
  EXPECT_THAT(Run(unknown), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("manifest")));
  ASSERT_OK(server_.blobs.Remove(Digest::Of(TestConstants())));
  EXPECT_THAT(Run(spec_), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the run")));
}

TEST_F(RunsTest, WantsTheBlobsOfInputs) {
  v1::Tensor input = Input("x", {2, 8});
  const std::string bytes(64, 'x');
  *input.mutable_blob() = ToProto(Digest::Of(bytes));
  *spec_.add_inputs() = input;
  EXPECT_THAT(Run(spec_), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the run")));
  server_.Put(bytes);
  EXPECT_OK(Run(spec_));
}

TEST_F(RunsTest, ADeviceMustBeThereAndAble) {
  ASSERT_OK(server_.AddDevice("pc", "x86-64-v3-linux"));
  ASSERT_OK(server_.AddDevice("board", "arm-64-linux"));
  spec_.set_device("pc");
  EXPECT_OK(Run(spec_));
  spec_.set_device("board");
  EXPECT_THAT(Run(spec_), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'board'")));
  spec_.set_device("nobody");
  EXPECT_THAT(Run(spec_), StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
}

TEST_F(RunsTest, AnyDeviceThatIsAbleWillDo) {
  EXPECT_OK(Run(spec_));  // One may come.
  ASSERT_OK(server_.AddDevice("board", "arm-64-linux"));
  EXPECT_THAT(Run(spec_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no device can run it")));
  ASSERT_OK(server_.AddDevice("pc", "x86-64-v3-linux"));
  EXPECT_OK(Run(spec_));
}

TEST_F(RunsTest, AScenarioNeedsAnAgentThatKnowsThem) {
  v1::BenchmarkSpec spec;
  *spec.mutable_run() = spec_;
  spec.mutable_scenario()->set_kind(v1::Scenario::OFFLINE);
  ASSERT_OK(server_.AddDevice("old", "x86-64-v3-linux"));
  EXPECT_THAT(Measure(spec),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("update the agent")));
  spec.mutable_run()->set_device("old");
  EXPECT_THAT(Measure(spec),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("update the agent")));
  ASSERT_OK(server_.AddDevice("new", "x86-64-v3-linux", /*max_benchmark=*/1));
  spec.mutable_run()->set_device("new");
  const auto job = Measure(spec);
  ASSERT_OK(job);
  EXPECT_EQ(job->benchmark().scenario().kind(), v1::Scenario::OFFLINE);
  EXPECT_EQ(server_.store.Get(job->id())->run().benchmark(), 1);
  spec.mutable_scenario()->set_kind(v1::Scenario::SERVER);
  EXPECT_THAT(Measure(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("qps_millis is 0")));
}

class CheckInputsTest : public ::testing::Test {
 protected:
  absl::Status Check(const std::vector<v1::Tensor>& inputs) {
    v1::RunSpec spec;
    for (const v1::Tensor& input : inputs) *spec.add_inputs() = input;
    return CheckInputs(limits_, CheckedManifest::Check(TestManifest())->signature(), spec);
  }
  HandlerLimits limits_;
};

TEST_F(CheckInputsTest, TakesWhatFitsAndLetsTheDeviceDrawTheRest) {
  EXPECT_OK(Check({Input("x", {2, 8})}));
  EXPECT_OK(Check({}));
}

TEST_F(CheckInputsTest, SaysWhatIsExpected) {
  const struct {
    std::vector<v1::Tensor> inputs;
    const char* says;
  } bad[] = {
      {{Input("z", {2, 8})}, "no input \"z\"; the program takes \"x\" f32[2, 8]"},
      {{Input("x", {2, 8}), Input("x", {2, 8})}, "given twice"},
      {{Input("x", {8, 2})}, "input \"x\" is f32[2, 8], but f32[8, 2] is given"},
      {{Input("x", {2, 8, 1})}, "f32[2, 8, 1]"},
      {{Input("x", {2, 8}, v1::DATA_TYPE_INT32)}, "i32[2, 8]"},
  };
  for (const auto& row : bad) {
    EXPECT_THAT(Check(row.inputs),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.says)));
  }
  EXPECT_THAT(Check(std::vector<v1::Tensor>(kMaxInputs + 1, Input("x", {2, 8}))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1001 inputs")));
}

TEST_F(CheckInputsTest, ChecksTheTensorItself) {
  v1::Tensor short_data = Input("x", {2, 8});
  short_data.set_inline_data("short");
  EXPECT_THAT(Check({short_data}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CheckInputsTest, InputsTogetherHaveALimit) {
  limits_.max_input_bytes = 64;
  EXPECT_OK(Check({Input("x", {2, 8})}));
  limits_.max_input_bytes = 63;
  EXPECT_THAT(Check({Input("x", {2, 8})}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 63")));
}

TEST_F(RunsTest, NothingNewIsAcceptedWhereMemoryIsShort) {
  v1::CreateRunRequest request;
  request.set_request_id("earlier");
  *request.mutable_spec() = spec_;
  v1::CreateJobResponse response;
  ASSERT_OK(CreateRun(server_.caller, server_.env, request, &response));
  server_.TakeMemory();
  EXPECT_THAT(Run(spec_), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
  // Whoever asks again hears of what was accepted, and devices report.
  EXPECT_OK(CreateRun(server_.caller, server_.env, request, &response));
  EXPECT_OK(server_.AddDevice("board", "x86-64-linux"));
  server_.memory_bytes = 0;
  server_.clock.Advance(kMemoryReadEvery);
  EXPECT_OK(Run(spec_));
}

}  // namespace
}  // namespace slipway::server
