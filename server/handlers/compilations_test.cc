#include "server/handlers/compilations.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/compile_key.h"
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

class CompilationsTest : public ::testing::Test {
 protected:
  v1::CreateCompilationRequest Request(const std::string& id) {
    v1::CreateCompilationRequest request;
    request.set_request_id(id);
    v1::CompilationSpec& spec = *request.mutable_spec();
    spec.mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
    v1::ModelFile& file = *spec.mutable_model()->add_files();
    file.set_name("model.onnx");
    *file.mutable_digest() = server_.Put("a model");
    spec.mutable_target()->set_name("x86-64-v3-linux");
    return request;
  }
  absl::StatusOr<std::string> Create(const v1::CreateCompilationRequest& request) {
    v1::CreateCompilationResponse response;
    const absl::Status status = CreateCompilation(server_.caller, server_.env, request, &response);
    if (!status.ok()) return status;
    return response.job_id();
  }
  JobRecord Record(const std::string& id) { return *server_.store.Get(id); }

  testing::HandlerEnvironment server_;
};

TEST_F(CompilationsTest, AcceptsWithDefaultsAndFacts) {
  const auto id = Create(Request("r"));
  ASSERT_OK(id);
  const JobRecord record = Record(*id);
  EXPECT_EQ(record.job().state(), Job::QUEUED);
  EXPECT_EQ(record.job().request_id(), "r");
  EXPECT_EQ(record.job().owner(), server_.caller.owner);
  EXPECT_EQ(record.job().create_time_ns(), absl::ToUnixNanos(server_.clock.Now()));
  EXPECT_EQ(record.job().deadlines().queue_ns(), absl::ToInt64Nanoseconds(kDefaultQueueDeadline));
  EXPECT_EQ(record.job().deadlines().run_ns(), absl::ToInt64Nanoseconds(kDefaultRunDeadline));
  EXPECT_EQ(record.job().deadlines().total_ns(), absl::ToInt64Nanoseconds(kDefaultTotalDeadline));
  EXPECT_EQ(record.compilation().fingerprint(), std::string(64, 'f'));
  EXPECT_EQ(record.compilation().compile_key(),
            CompileKey(Request("r").spec(), std::string(64, 'f')).value());
  EXPECT_EQ(record.compilation().group(), record.compilation().compile_key());
  ASSERT_EQ(record.blobs_size(), 1);
  EXPECT_EQ(record.blobs(0).sha256(), Digest::Of("a model").hex());
}

TEST_F(CompilationsTest, KeepsTheDeadlinesThatAreGiven) {
  v1::CreateCompilationRequest request = Request("r");
  request.set_queue_deadline_ns(1);
  request.set_run_deadline_ns(2);
  request.set_total_deadline_ns(absl::ToInt64Nanoseconds(kMaxDeadline));
  const v1::JobDeadlines kept = Record(*Create(request)).job().deadlines();
  EXPECT_EQ(kept.queue_ns(), 1);
  EXPECT_EQ(kept.run_ns(), 2);
  EXPECT_EQ(kept.total_ns(), absl::ToInt64Nanoseconds(kMaxDeadline));
}

TEST_F(CompilationsTest, RefusesDeadlinesOutOfRange) {
  for (const int64_t bad : {int64_t{-1}, absl::ToInt64Nanoseconds(kMaxDeadline) + 1}) {
    v1::CreateCompilationRequest queue = Request("r"), run = queue, total = queue;
    queue.set_queue_deadline_ns(bad);
    run.set_run_deadline_ns(bad);
    total.set_total_deadline_ns(bad);
    EXPECT_THAT(Create(queue),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("queue_deadline_ns")));
    EXPECT_THAT(Create(run),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("run_deadline_ns")));
    EXPECT_THAT(Create(total),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("total_deadline_ns")));
  }
}

TEST_F(CompilationsTest, TheSameRequestIsTheSameJob) {
  const auto id = Create(Request("r"));
  ASSERT_OK(id);
  // Even when its blobs have gone, and with no compiler.
  ASSERT_OK(server_.blobs.Remove(Digest::Of("a model")));
  server_.env.fingerprint = [](const Target&) { return absl::UnavailableError("none"); };
  v1::CreateCompilationRequest again = Request("r");
  EXPECT_EQ(Create(again).value(), *id);
  again.mutable_spec()->mutable_target()->set_name("x86-64-v4-linux");
  EXPECT_THAT(Create(again), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(*id)));
  again.clear_request_id();
  EXPECT_THAT(Create(again), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CompilationsTest, WantsTheModelsFilesAndACompiler) {
  v1::CreateCompilationRequest request = Request("r");
  ASSERT_OK(server_.blobs.Remove(Digest::Of("a model")));
  EXPECT_THAT(Create(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the model")));
  server_.Put("a model");
  server_.env.fingerprint = [](const Target&) { return absl::UnavailableError("no compiler"); };
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no compiler")));
}

TEST_F(CompilationsTest, WhatIsInTheCacheIsDoneAtOnce) {
  const v1::Digest manifest = server_.PutProgram();
  v1::CreateCompilationRequest request = Request("r");
  ASSERT_OK(server_.cache->Record(CompileKey(request.spec(), std::string(64, 'f')).value(),
                                  {.manifest = FromProto(manifest).value(), .report = ""}));
  const Job done = Record(*Create(request)).job();
  EXPECT_EQ(done.state(), Job::SUCCEEDED);
  EXPECT_TRUE(done.compilation_result().cached());
  EXPECT_EQ(done.compilation_result().manifest().sha256(), manifest.sha256());
  EXPECT_EQ(server_.dispatcher->Counters().artifact_cache_hits(), 1);
  // Who wants to see a graph gets it compiled, on its own.
  request = Request("print");
  request.mutable_spec()->mutable_options()->set_print_after("FuseOps");
  const JobRecord printed = Record(*Create(request));
  EXPECT_EQ(printed.job().state(), Job::QUEUED);
  EXPECT_EQ(printed.compilation().group(), "");
  request = Request("print how kernels are cut");
  request.mutable_spec()->mutable_options()->set_print_schedules(true);
  EXPECT_EQ(Record(*Create(request)).job().state(), Job::QUEUED);
  request = Request("tell how else they may be cut");
  request.mutable_spec()->mutable_options()->set_tell_candidates(true);
  EXPECT_EQ(Record(*Create(request)).job().state(), Job::QUEUED);
}

TEST_F(CompilationsTest, TargetsAreCanonical) {
  v1::CompilationSpec spec = Request("r").spec();
  spec.mutable_target()->set_name("x86-64-v3-linux-avx2");
  ASSERT_OK(CheckCompilationSpec({}, &spec));
  EXPECT_EQ(spec.target().name(), "x86-64-v3-linux");
}

struct BadSpec {
  const char* says;
  std::function<void(v1::CompilationSpec&)> spoil;
};

v1::DimensionBinding Bound(const std::string& symbol, int64_t value) {
  v1::DimensionBinding binding;
  binding.set_symbol(symbol);
  binding.set_value(value);
  return binding;
}

TEST_F(CompilationsTest, RefusesWhatIsMalformed) {
  const auto add_file = [](v1::CompilationSpec& spec, const std::string& name) {
    v1::ModelFile file = spec.model().files(0);
    file.set_name(name);
    *spec.mutable_model()->add_files() = file;
  };
  const std::vector<BadSpec> bad = {
      {"format", [](auto& spec) { spec.mutable_model()->clear_format(); }},
      {"0 files", [](auto& spec) { spec.mutable_model()->clear_files(); }},
      {"1001 files",
       [&](auto& spec) {
         for (int i = 0; i < kMaxModelFiles; ++i) add_file(spec, absl::StrCat("f", i));
       }},
      {"display_name",
       [](auto& spec) { spec.mutable_model()->set_display_name(std::string(256, 'x')); }},
      {"comes twice", [&](auto& spec) { add_file(spec, "model.onnx"); }},
      {"'..'", [&](auto& spec) { add_file(spec, "../weights"); }},
      {"'..'", [&](auto& spec) { add_file(spec, "a/../b"); }},
      {"'..'", [&](auto& spec) { add_file(spec, "/etc/passwd"); }},
      {"'..'", [&](auto& spec) { add_file(spec, "a/./b"); }},
      {"'..'", [&](auto& spec) { add_file(spec, std::string("a\0b", 3)); }},
      {"'..'", [&](auto& spec) { add_file(spec, std::string(256, 'x')); }},
      {"file 'model.onnx'",
       [](auto& spec) { spec.mutable_model()->mutable_files(0)->clear_digest(); }},
      {"name one", [](auto& spec) { spec.clear_target(); }},
      {"z80", [](auto& spec) { spec.mutable_target()->set_name("z80-linux"); }},
      {"1001 dimensions",
       [](auto& spec) {
         for (int i = 0; i <= kMaxDimensionBindings; ++i) {
           *spec.mutable_options()->add_dimensions() = Bound(absl::StrCat(10'000 + i), 1);
         }
       }},
      {"0 bytes", [](auto& spec) { *spec.mutable_options()->add_dimensions() = Bound("", 1); }},
      {"256 bytes",
       [](auto& spec) {
         *spec.mutable_options()->add_dimensions() = Bound(std::string(256, 'n'), 1);
       }},
      {"bound to 0", [](auto& spec) { *spec.mutable_options()->add_dimensions() = Bound("n", 0); }},
      {"bound to 2147483648",
       [](auto& spec) { *spec.mutable_options()->add_dimensions() = Bound("n", 2147483648); }},
      {"bound twice",
       [](auto& spec) {
         *spec.mutable_options()->add_dimensions() = Bound("n", 1);
         *spec.mutable_options()->add_dimensions() = Bound("n", 1);
       }},
      {"out of order",
       [](auto& spec) {
         *spec.mutable_options()->add_dimensions() = Bound("n", 1);
         *spec.mutable_options()->add_dimensions() = Bound("m", 1);
       }},
      {"print_after",
       [](auto& spec) { spec.mutable_options()->set_print_after(std::string(256, 'x')); }},
      {"precision 7 is not known; known are f32 (0), bf16 (1), f16 (2), tf32 (3)",
       [](auto& spec) { spec.mutable_options()->set_precision(static_cast<v1::Precision>(7)); }},
      {"schedules of 1048577 bytes",
       [](auto& spec) {
         spec.mutable_options()->set_schedules(std::string(kMaxSchedulesBytes + 1, ' '));
       }},
      {"no name for a library",
       [](auto& spec) { spec.mutable_options()->set_library_name("../Net"); }},
      {"257 names of values",
       [](auto& spec) {
         for (int i = 0; i < 257; ++i) spec.mutable_options()->add_keep(absl::StrCat(1000 + i));
       }},
      {"has 1025 bytes",
       [](auto& spec) { spec.mutable_options()->add_keep(std::string(1025, 'x')); }},
      {"65 names of passes",
       [](auto& spec) {
         for (int i = 0; i < 65; ++i) spec.mutable_options()->add_without(absl::StrCat(1000 + i));
       }},
      {"passes to leave out has 256 bytes",
       [](auto& spec) { spec.mutable_options()->add_without(std::string(256, 'x')); }},
      {"'a' among the names of passes to leave out is out of order",
       [](auto& spec) {
         spec.mutable_options()->add_without("b");
         spec.mutable_options()->add_without("a");
       }},
      {"1025 names of values with ranges are given; at most 1024",
       [](auto& spec) {
         for (int i = 0; i < 1025; ++i) {
           spec.mutable_options()->add_ranges()->set_name(absl::StrCat(1000 + i));
         }
       }},
      {"'a' among the names of values with ranges is out of order or given twice",
       [](auto& spec) {
         spec.mutable_options()->add_ranges()->set_name("a");
         spec.mutable_options()->add_ranges()->set_name("a");
       }},
      {"the range of 'a' is 2 to 1; two finite numbers in order are wanted",
       [](auto& spec) {
         spec.mutable_options()->add_ranges()->set_name("a");
         spec.mutable_options()->mutable_ranges(0)->set_least(2);
         spec.mutable_options()->mutable_ranges(0)->set_greatest(1);
       }},
      {"the range of 'a' is 0 to nan; two finite numbers in order are wanted",
       [](auto& spec) {
         spec.mutable_options()->add_ranges()->set_name("a");
         spec.mutable_options()->mutable_ranges(0)->set_greatest(
             std::numeric_limits<float>::quiet_NaN());
       }},
      {"what ranges are given for cannot be observed as well",
       [](auto& spec) {
         spec.mutable_options()->add_ranges()->set_name("a");
         spec.mutable_options()->set_observe(true);
       }},
      {"'a' among the names of values to keep is out of order or given twice",
       [](auto& spec) {
         spec.mutable_options()->add_keep("a");
         spec.mutable_options()->add_keep("a");
       }},
  };
  for (const BadSpec& row : bad) {
    v1::CompilationSpec spec = Request("r").spec();
    row.spoil(spec);
    EXPECT_THAT(CheckCompilationSpec({}, &spec),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.says)));
  }
}

v1::Tensor EvaluatedFor(const std::string& name, const std::string& bytes) {
  v1::Tensor input;
  input.set_name(name);
  input.mutable_type()->set_dtype(v1::DATA_TYPE_FLOAT32);
  input.mutable_type()->add_shape(static_cast<int64_t>(bytes.size()) / 4);
  *input.mutable_blob() = ToProto(Digest::Of(bytes));
  return input;
}

TEST_F(CompilationsTest, KeepsTheInputsToEvaluateFor) {
  v1::CreateCompilationRequest request = Request("r");
  *request.mutable_spec()->mutable_options()->mutable_evaluation()->add_inputs() =
      EvaluatedFor("x", "8 bytes.");
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kFailedPrecondition));
  server_.Put("8 bytes.");
  const auto id = Create(request);
  ASSERT_OK(id);
  EXPECT_EQ(Record(*id).blobs_size(), 2);
}

TEST_F(CompilationsTest, InputsToEvaluateForAreChecked) {
  const auto check = [this](const std::vector<v1::Tensor>& inputs,
                            const HandlerLimits& limits = {}) {
    v1::CompilationSpec spec = Request("r").spec();
    v1::Evaluation& evaluation = *spec.mutable_options()->mutable_evaluation();
    for (const v1::Tensor& input : inputs) *evaluation.add_inputs() = input;
    return CheckCompilationSpec(limits, &spec);
  };
  const v1::Tensor x = EvaluatedFor("x", "8 bytes.");
  EXPECT_OK(check({}));
  EXPECT_OK(check({x, EvaluatedFor("y", "8 bytes.")}));
  EXPECT_THAT(check({x, x}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x'")));
  v1::Tensor inlined = x;
  inlined.set_inline_data("8 bytes.");
  EXPECT_THAT(check({inlined}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x' is no blob")));
  v1::Tensor shorter = x;
  shorter.mutable_type()->set_shape(0, 1);
  EXPECT_THAT(check({shorter}), StatusIs(absl::StatusCode::kInvalidArgument));
  HandlerLimits limits;
  limits.max_input_bytes = 7;
  EXPECT_THAT(check({x}, limits), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(check(std::vector<v1::Tensor>(kMaxInputs + 1, x)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1001 inputs")));
}

TEST_F(CompilationsTest, TakesWhatIsAtItsLimit) {
  v1::CompilationSpec spec = Request("r").spec();
  spec.mutable_model()->set_format(v1::MODEL_FORMAT_GRAPH_TEXT);
  spec.mutable_model()->set_display_name(std::string(kMaxDisplayNameBytes, 'x'));
  while (spec.model().files_size() < kMaxModelFiles) {
    v1::ModelFile file = spec.model().files(0);
    file.set_name(absl::StrCat("folder/", spec.model().files_size(),
                               std::string(kMaxFileNameBytes - 11, 'x')));
    *spec.mutable_model()->add_files() = file;
  }
  *spec.mutable_options()->add_dimensions() = Bound(std::string(kMaxSymbolBytes, 'm'), 1);
  *spec.mutable_options()->add_dimensions() = Bound("n", kMaxDimensionValue);
  spec.mutable_options()->set_print_after(std::string(kMaxSymbolBytes, 'x'));
  spec.mutable_options()->set_schedules(std::string(kMaxSchedulesBytes, ' '));
  spec.mutable_options()->set_precision(v1::PRECISION_BF16);
  for (int i = 0; i < kMaxKeptNames; ++i) {
    spec.mutable_options()->add_keep(
        absl::StrCat(1000 + i, std::string(kMaxKeptNameBytes - 4, 'x')));
  }
  EXPECT_OK(CheckCompilationSpec({}, &spec));
}

TEST_F(CompilationsTest, TheModelsFilesTogetherHaveALimit) {
  v1::CompilationSpec spec = Request("r").spec();
  v1::ModelFile& second = *spec.mutable_model()->add_files();
  second.set_name("weights");
  *second.mutable_digest() = ToProto(Digest::Of("12345"));
  HandlerLimits limits;
  limits.max_model_bytes = 12;
  EXPECT_OK(CheckCompilationSpec(limits, &spec));
  limits.max_model_bytes = 11;
  EXPECT_THAT(CheckCompilationSpec(limits, &spec),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 11")));
}

}  // namespace
}  // namespace slipway::server
