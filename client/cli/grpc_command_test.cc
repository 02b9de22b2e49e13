// Every verb, and every way it fails, against a fake server.
#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/grpc_command_fixture.h"
#include "client/testing/grpc_fake_server.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::FakeBehaviour;
using ::slipway::testing::IsOk;
using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CommandTest, Compile) {
  const std::string output = JoinPath(folder_.path(), "out.slip");
  ASSERT_EQ(Command({"compile", model_, "--target=x86-64-v3-linux", "-o", output}), 0) << err_;
  EXPECT_THAT(out_,
              AllOf(StartsWith("compiled model.onnx for x86-64-v3-linux in "),
                    HasSubstr("2 (1 compiled, 1 from the cache)"), HasSubstr("wrote " + output)));
  EXPECT_THAT(err_, HasSubstr("compile model.onnx: work\n"));
  EXPECT_THAT(ReadSlip(output), IsOk());
}

TEST_F(CommandTest, CompileDefaultsToThisMachineAndPrintsGraphs) {
  ASSERT_EQ(Command({"compile", model_, "--print-after", "FuseOps"}), 0) << err_;
  EXPECT_THAT(out_, StartsWith("graph \"fake\""));
  EXPECT_THAT(server_.jobs()[0].compilation().target().name(), HasSubstr("-linux"));
  const Json json =
      CommandJson({"compile", model_, "--device=fake", "--dimension", "n=4", "--keep=conv*",
                   "--keep=a", "--keep=a", "--no-winograd", "--no-folded-pads"});
  EXPECT_EQ(json["target"], "x86-64-v3-linux");
  EXPECT_EQ(server_.jobs()[1].compilation().options().dimensions(0).value(), 4);
  EXPECT_THAT(server_.jobs()[1].compilation().options().keep(), ElementsAre("a", "conv*"));
  EXPECT_THAT(server_.jobs()[1].compilation().options().without(),
              ElementsAre("ChooseConvolution", "FoldPad"));
}

TEST_F(CommandTest, SchedulesOfKernelsAreWrittenAndGiven) {
  const std::string file = JoinPath(folder_.path(), "schedules");
  ASSERT_EQ(Command({"compile", model_, "--write-schedules", file}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("wrote " + file));
  ASSERT_OK_AND_ASSIGN(const std::string written, ReadFile(file, 10000));
  EXPECT_EQ(written, "3f0c9a4410be72d1 rows\n");
  EXPECT_TRUE(server_.jobs()[0].compilation().options().print_schedules());
  EXPECT_EQ(server_.jobs()[0].compilation().options().schedules(), "");

  EXPECT_EQ(CommandJson({"compile", model_, "--schedules", file})["kernels_recorded"], 1);
  EXPECT_THAT(err_, HasSubstr("schedules: 1 of 2 records are of kernels of the model\n"));
  EXPECT_EQ(server_.jobs()[1].compilation().options().schedules(), written);
  EXPECT_FALSE(server_.jobs()[1].compilation().options().print_schedules());
  ASSERT_EQ(Command({"bench", model_, "--schedules", file}), 0) << err_;
  EXPECT_EQ(server_.jobs()[2].compilation().options().schedules(), written);

  EXPECT_EQ(Command({"compile", model_, "--schedules", "nowhere"}), 2);
  EXPECT_THAT(Error(), HasSubstr("flag \"--schedules\": "));
  EXPECT_EQ(Command({"bench", slip_, "--schedules", file}), 2);
  EXPECT_THAT(Error(), HasSubstr("is compiled already"));
}

TEST_F(CommandTest, WhatDoesNotGoWithTuningIsAWrongCall) {
  const std::string file = JoinPath(folder_.path(), "schedules");
  const std::vector<std::vector<std::string>> calls = {
      {"--tune-on=fake"},
      {"--tune-on=fake", "--schedules", file, "--device=fake"},
      {"--tune-on=fake", "--schedules", file, "--detach"},
      {"--tune-limit=1s"},
      {"--tune-threads=2", "--schedules", file},
      {"--tune-input=x=x.npy"}};
  for (std::vector<std::string> call : calls) {
    call.insert(call.begin(), {"compile", model_});
    EXPECT_EQ(Command(call), 2) << call[2];
    EXPECT_THAT(Error(), HasSubstr("--tune-on"));
  }
  EXPECT_TRUE(server_.jobs().empty());
  ASSERT_OK(WriteFileAtomically(file, "width=5\n", false));
  EXPECT_EQ(Command({"compile", model_, "--tune-on=fake", "--schedules", file}), 2);
  EXPECT_THAT(Error(), HasSubstr("flag \"--schedules\": schedules, line 1"));
}

TEST_F(CommandTest, ExportAsksForALibraryAndLooksBeforeItWrites) {
  const std::string folder = JoinPath(folder_.path(), "library");
  // The fake compiler is one from before libraries.
  EXPECT_EQ(Command({"export", model_, "--target=x86-64-v3-linux", "-o", folder}), 1);
  EXPECT_THAT(Error(),
              HasSubstr("the compiler makes no code for exports; it is older than this command"));
  EXPECT_EQ(server_.jobs()[0].compilation().options().library_name(), "model");
  EXPECT_EQ(Command({"export", model_, "--name=net_2", "-o", folder}), 1);
  EXPECT_EQ(server_.jobs()[1].compilation().options().library_name(), "net_2");
  struct stat info;
  EXPECT_NE(stat(folder.c_str(), &info), 0) << "written though there is nothing to write";

  const auto wrong = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"export", model_});
    EXPECT_EQ(Command(arguments), 2);
    return Error();
  };
  EXPECT_THAT(wrong({}), HasSubstr("no \"--output\""));
  EXPECT_THAT(wrong({"-o", folder_.path()}), HasSubstr("is not empty"));
  EXPECT_THAT(wrong({"-o", model_}), HasSubstr("is no folder"));
  EXPECT_THAT(wrong({"-o", folder, "--name=Net"}),
              HasSubstr("flag \"--name\": \"Net\" is no name"));
  EXPECT_THAT(wrong({"-o", folder, "--weights=both"}), HasSubstr("neither section nor file"));
  EXPECT_THAT(wrong({"-o", folder, "--target=pdp-11"}), HasSubstr("flag \"--target\""));
  EXPECT_EQ(Command({"export", slip_, "-o", folder}), 2);
  EXPECT_THAT(Error(), HasSubstr("is compiled already"));
  for (const char* target : {"arm-64-linux,opencl", "x86-64-linux,cuda-sm90"}) {
    EXPECT_EQ(Command({"export", model_, "-o", folder, "--target", target}), 1);
    EXPECT_THAT(Error(), HasSubstr("nothing is exported for"));
  }
  EXPECT_EQ(server_.jobs().size(), 2u);
}

TEST_F(CommandTest, SaysWhatProductsAreComputedIn) {
  ASSERT_EQ(Command({"compile", model_, "--precision=bf16", "--target=x86-64-v4-linux-bf16"}), 0)
      << err_;
  EXPECT_EQ(server_.jobs()[0].compilation().options().precision(), v1::PRECISION_BF16);
  EXPECT_THAT(err_, HasSubstr("precision: bf16\n"));
  ASSERT_EQ(Command({"compile", model_, "--precision=bf16", "--target=x86-64-v3-linux"}), 0)
      << err_;
  EXPECT_THAT(err_, HasSubstr("precision: f32, which is faster than emulating bf16: "
                              "\"x86-64-v3-linux\" has no instructions for it\n"));
  ASSERT_EQ(Command({"compile", model_, "--precision=f16", "--target=x86-64-v4-linux-bf16"}), 0)
      << err_;
  EXPECT_THAT(err_, HasSubstr("precision: f32, which is faster than emulating f16: "));
  ASSERT_EQ(Command({"compile", model_, "--precision=tf32", "--target=x86-64-v4-linux-bf16"}), 0)
      << err_;
  EXPECT_EQ(server_.jobs()[3].compilation().options().precision(), v1::PRECISION_TF32);
  EXPECT_THAT(err_, HasSubstr("precision: f32, which is faster than emulating tf32: "));
  ASSERT_EQ(Command({"compile", model_, "--target=x86-64-v4-linux-bf16"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[4].compilation().options().precision(), v1::PRECISION_UNSPECIFIED);
  EXPECT_THAT(err_, Not(HasSubstr("precision")));
}

TEST_F(CommandTest, RunModelWithInputsAndOutputs) {
  const std::string x = WriteTensor("x.npy", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  const std::string folder = JoinPath(folder_.path(), "outputs");
  ASSERT_EQ(Command({"run", model_, "--input", "x=" + x, "--output-dir", folder, "--seed=5",
                     "--loop-turns=7", "--dynamic-bytes=2KiB"}),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("y/0     f32[1, 3]  min -1, max 2"),
                          HasSubstr("wrote y/0 to " + folder + "/y%2F0.npy")));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(folder + "/y%2F0.npy", 10000));
  EXPECT_THAT(ParseNpy(bytes), IsOk());
  const v1::RunSpec spec = server_.jobs()[1].run();
  EXPECT_EQ(spec.inputs(0).name(), "x");
  EXPECT_EQ(spec.seed(), 5u);
  EXPECT_EQ(spec.loop_turns(), 7);
  EXPECT_EQ(spec.name(), "model.onnx");
  EXPECT_EQ(spec.dynamic_bytes(), 2048);
}

TEST_F(CommandTest, RunArtifact) {
  EXPECT_EQ(CommandJson({"run", slip_, "--device=fake"})["device"], "fake");
  EXPECT_EQ(server_.jobs().size(), 1u);
}

TEST_F(CommandTest, Bench) {
  ASSERT_EQ(Command({"bench", slip_, "--profile", "--threads=2"}), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("fake, 2 threads"), HasSubstr("5.00 ms"), HasSubstr("conv")));
  const Json json = CommandJson({"bench", model_, "--warmup=0", "--samples=7"});
  EXPECT_EQ(json["model"], "model.onnx");
  EXPECT_EQ(json["versions"]["server"], "0.1.0");
  EXPECT_EQ(server_.jobs()[2].benchmark().samples(), 7);
  EXPECT_EQ(server_.jobs()[2].benchmark().warmup(), 0);
}

TEST_F(CommandTest, BenchToAGoal) {
  const Json json = CommandJson({"bench", slip_, "--precision-goal=1%"});
  EXPECT_EQ(json["precision_ppm"], 12'300);
  EXPECT_EQ(server_.jobs()[0].benchmark().precision_goal_ppm(), 10'000);
  EXPECT_EQ(server_.jobs()[0].benchmark().samples(), 10'000);
  EXPECT_THAT(err_, HasSubstr("the median is known to 1.2 % only, after all 100 samples\n"));
  // An agent that knows no goals.
  ASSERT_EQ(Command({"bench", slip_, "--precision-goal=2%", "--samples=50"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[1].benchmark().samples(), 50);
  EXPECT_THAT(err_, HasSubstr("knows no \"--precision-goal\" yet, and has taken all samples\n"));
  for (const char* const goal : {"1", "0%", "-1%", "nan%", "200%", "%"}) {
    EXPECT_EQ(Command({"bench", slip_, absl::StrCat("--precision-goal=", goal)}), 2) << goal;
    EXPECT_THAT(err_, HasSubstr("takes a share such as 1%")) << goal;
  }
  EXPECT_EQ(server_.jobs().size(), 2u);
}

TEST_F(CommandTest, BenchInAScenario) {
  const Json met = CommandJson(
      {"bench", slip_, "--scenario=server", "--qps=50", "--latency-bound=80ms", "--samples=100"});
  EXPECT_EQ(met["scenario"]["name"], "server");
  EXPECT_EQ(met["scenario"]["bound"], "met");
  EXPECT_EQ(met["scenario"]["achieved_qps"], 50.0);
  EXPECT_EQ(server_.jobs()[0].benchmark().scenario().qps_millis(), 50'000);
  EXPECT_EQ(server_.jobs()[0].benchmark().scenario().percentile_ppm(), 990'000);
  // What missed its bound is shown, and is no success.
  EXPECT_EQ(Command({"bench", slip_, "--scenario=server", "--qps=50", "--latency-bound=20ms"}), 1);
  EXPECT_THAT(out_, HasSubstr("missed: p99 within 20.0 ms at 50.00 queries a second"));
  EXPECT_THAT(err_, HasSubstr("the latency bound is not met"));
  EXPECT_EQ(server_.jobs()[1].benchmark().samples(), 736);
  // Times of calls that followed each other are not shown as something else.
  EXPECT_EQ(Command({"bench", slip_, "--scenario=offline"}), 1);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("knows no scenarios"));
  EXPECT_EQ(Command({"bench", slip_, "--scenario=server", "--qps=nan"}), 2);
  EXPECT_EQ(Command({"bench", slip_, "--scenario=server", "--qps=5", "--precision-goal=1%"}), 2);
  EXPECT_EQ(server_.jobs().size(), 3u);
}

TEST_F(CommandTest, BenchCountsTheSamplesThatItIsTo) {
  ASSERT_EQ(Command({"bench", slip_}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("10 of 100 samples while other programs took processor time"));
  EXPECT_EQ(CommandJson({"bench", slip_})["min_ns"], 100'000.0);
  const Json json =
      CommandJson({"bench", slip_, "--leave-out=disturbed", "--settle", "--cool-down=60C"});
  EXPECT_EQ(json["samples_ns"].size(), 90u);
  EXPECT_EQ(json["min_ns"], 1'100'000.0);
  EXPECT_EQ(json["disturbed_samples"], 0);
  EXPECT_TRUE(json["settled"]["is_steady"]);
  EXPECT_THAT(err_, HasSubstr("tells no temperature"));
  EXPECT_EQ(server_.jobs()[2].benchmark().settling().cool_down_millicelsius(), 60'000);
  EXPECT_EQ(Command({"bench", slip_, "--leave-out=slow"}), 2);
  EXPECT_EQ(Command({"bench", slip_, "--cool-down=cold"}), 2);
}

TEST_F(CommandTest, CompareIsCalledRightly) {
  EXPECT_EQ(Command({"compare", slip_}), 2);
  EXPECT_THAT(err_, HasSubstr("B is missing"));
  EXPECT_EQ(Command({"compare", slip_, slip_ + ".no"}), 2);
  EXPECT_EQ(Command({"compare", slip_, slip_, "--margin=60%"}), 2);
  EXPECT_THAT(err_, HasSubstr("flag \"--margin\" takes a share such as 1%"));
  EXPECT_EQ(Command({"compare", slip_, slip_, "--target-b=x86-64-linux"}), 2);
  EXPECT_THAT(err_, HasSubstr("is compiled already"));
}

TEST_F(CommandTest, DevicesTargetsInspectHelpVersion) {
  EXPECT_EQ(Command({"devices"}), 0);
  EXPECT_THAT(out_, HasSubstr("fake    idle   x86-64-v3-linux      2  4.0 GiB"));
  EXPECT_EQ(CommandJson({"devices"})["devices"][0]["id"], "fake");
  EXPECT_EQ(Command({"targets"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("x86-64-v4-linux"), HasSubstr("host is ")));
  EXPECT_THAT(CommandJson({"targets"})["server_targets"], ElementsAre("x86-64-v3-linux"));
  EXPECT_EQ(Command({"inspect", slip_}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("x: f32[2, 8]"), HasSubstr("x86-64-linux")));
  EXPECT_EQ(CommandJson({"inspect", slip_})["inputs"][0]["name"], "x");
  EXPECT_EQ(Command({"version"}), 0);
  EXPECT_EQ(out_, "slipway 0.1.0\n");
  EXPECT_EQ(Command({"help"}), 0);
  EXPECT_THAT(out_, HasSubstr("  bench         measure a model"));
}

TEST_F(CommandTest, PrioritiesGoWithJobs) {
  ASSERT_EQ(Command({"compile", model_, "--priority=-5"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[0].priority(), -5);
  ASSERT_EQ(Command({"run", slip_, "--priority=7"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[1].priority(), 7);
  ASSERT_EQ(Command({"bench", slip_, "--priority=1000"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[2].priority(), 1000);
  EXPECT_EQ(CommandJson({"job", server_.jobs()[1].id()})["priority"], 7);
  EXPECT_EQ(Command({"job", server_.jobs()[1].id()}), 0);
  EXPECT_THAT(out_, HasSubstr("priority          7\n"));
  EXPECT_EQ(Command({"run", slip_, "--priority=1001"}), 2);
}

TEST_F(CommandTest, Leases) {
  EXPECT_EQ(Command({"lease", "list"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("fake    idle"));
  EXPECT_EQ(CommandJson({"lease", "list"})["devices"][0]["id"], "fake");
  EXPECT_EQ(Command({"lease", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("list, take, release"));
  EXPECT_EQ(Command({"lease", "take", "--help"}), 0);
  EXPECT_THAT(out_, AllOf(StartsWith("usage: slipway lease take"), HasSubstr("--idle")));
  EXPECT_EQ(Command({"lease"}), 2);
  EXPECT_EQ(Command({"lease", "give"}), 2);
  EXPECT_EQ(Command({"lease", "release"}), 2);
  ASSERT_EQ(Command({"run", slip_, "--detach"}), 0) << err_;
  EXPECT_EQ(Command({"lease", "release", out_.substr(0, out_.size() - 1)}), 2);
  EXPECT_THAT(Error(), HasSubstr("is a run and no session"));
  server_variable_.clear();
  EXPECT_EQ(Command({"lease", "list"}), 2);
  EXPECT_EQ(Command({"lease", "take"}), 2);
}

TEST_F(CommandTest, EveryVerbHasHelpAndConfig) {
  for (const std::string verb : {"compile", "run", "bench", "session", "devices", "jobs", "job",
                                 "history", "cancel", "results", "targets", "inspect"}) {
    EXPECT_EQ(Command({verb, "--help"}), 0);
    EXPECT_THAT(out_, StartsWith("usage: slipway " + verb));
    EXPECT_EQ(Command({verb, "--print-config"}), 0);
    EXPECT_THAT(out_, HasSubstr("json: false\n"));
    EXPECT_EQ(Command({verb, "--nonsense"}), 2);
    EXPECT_THAT(Error(), HasSubstr("--nonsense"));
  }
}

TEST_F(CommandTest, DetachThenJobsJobResultsCancel) {
  ASSERT_EQ(Command({"run", slip_, "--detach"}), 0) << err_;
  const std::string id = out_.substr(0, 26);
  EXPECT_EQ(Command({"results", id}), 1);
  EXPECT_THAT(Error(), HasSubstr("it is queued"));
  EXPECT_EQ(Command({"job", id}), 0);
  EXPECT_THAT(out_, HasSubstr("state             queued"));
  EXPECT_EQ(Command({"jobs"}), 0);
  EXPECT_THAT(out_, HasSubstr(id));
  EXPECT_EQ(CommandJson({"jobs"})["jobs"][0]["id"], id);
  v1::Job of_another;
  of_another.set_id("01JB");
  of_another.set_owner("bob");
  of_another.set_state(v1::Job::QUEUED);
  of_another.mutable_compilation();
  server_.Configure([&](FakeBehaviour& behaviour) { behaviour.jobs_of_others = {of_another}; });
  EXPECT_EQ(Command({"jobs"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr(id), Not(HasSubstr("01JB")), Not(HasSubstr("OWNER"))));
  EXPECT_EQ(Command({"jobs", "--all"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr(id), HasSubstr("01JB"), HasSubstr("bob")));
  EXPECT_EQ(CommandJson({"jobs", "--all"})["jobs"][0]["owner"], "bob");
  EXPECT_EQ(Command({"cancel", id}), 0);
  EXPECT_EQ(out_, "job " + id + " is cancelled\n");
  EXPECT_EQ(CommandJson({"cancel", id})["state"], "cancelled");
  EXPECT_EQ(CommandJson({"job", id})["state"], "cancelled");
}

TEST_F(CommandTest, ResultsOfEveryKind) {
  ASSERT_EQ(Command({"run", model_}), 0) << err_;
  ASSERT_EQ(Command({"bench", slip_}), 0) << err_;
  const std::vector<v1::Job> jobs = server_.jobs();
  ASSERT_EQ(jobs.size(), 3u);
  for (const v1::Job& job : jobs) {
    ASSERT_EQ(Command({"results", job.id(), "--output-dir", folder_.path()}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("wrote "));
    EXPECT_EQ(CommandJson({"results", job.id()})["job"], job.id());
  }
  EXPECT_THAT(ReadSlip(folder_.path() + "/model.onnx.slip"), IsOk());
  EXPECT_THAT(ReadFile(folder_.path() + "/y%2F0.npy", 10000), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string benchmark,
                       ReadFile(folder_.path() + "/benchmark.json", 100000));
  EXPECT_THAT(ParseJson(benchmark), IsOk());
}

TEST_F(CommandTest, WrongCallsExitWith2) {
  const std::string x = WriteTensor("x.npy", Tensor::Zeros(DataType::kFloat32, {2, 7}));
  const std::string good = WriteTensor("good.npy", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  const std::string text = Write("x.txt", "1 2 3");
  const std::string empty = JoinPath(folder_.path(), "empty");
  ASSERT_OK(MakeFolders(empty));
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no verb"},
      {{"fly"}, "unknown verb \"fly\"; known are compile, export, run"},
      {{"compile"}, "MODEL.onnx is missing"},
      {{"compile", model_, "b"}, "one argument too many"},
      {{"compile", "/no/such.onnx"}, "no file \"/no/such.onnx\""},
      {{"compile", folder_.path()}, "is a folder"},
      {{"compile", slip_}, "compiled already"},
      {{"compile", model_, "--target=z80"}, "z80"},
      {{"compile", model_, "-o", "x.bin"}, "does not end in .slip"},
      {{"compile", model_, "--dimension", "n=x"}, "SYMBOL=N"},
      {{"compile", model_, "--dimension", "n=4..2"}, "SYMBOL=MIN..MAX"},
      {{"compile", model_, "--detach", "-o", "x.slip"}, "nothing to write"},
      {{"compile", model_, "--precision=int8"}, "name them with \"--examples\""},
      {{"compile", model_, "--precision=int8", "--examples=/no/folder"}, "\"/no/folder\""},
      {{"compile", model_, "--precision=int8", "--examples", empty}, "there is no .npz, .npy or"},
      {{"compile", model_, "--examples", good}, "are for \"--precision int8\""},
      {{"bench", model_, "--precision=int4"}, "takes f32, tf32, f16, bf16 or int8, not \"int4\""},
      {{"run", slip_, "--precision=int8", "--examples", good}, "compiled already"},
      {{"quantize", model_}, "name them with \"--examples\""},
      {{"quantize", model_, "--precision=f32"}, "nothing to quantize"},
      {{"quantize", slip_, "--examples", good}, "compiled already"},
      {{"quantize", model_, "--examples", good, "-o", "x.onnx"}, "does not end in .slip"},
      {{"run", slip_, "--target=x86-64-linux"}, "compiled already"},
      {{"run", slip_, "--no-winograd"}, "compiled already"},
      {{"run", slip_, "--input", "z=" + good}, "no input \"z\"; the program takes \"x\" f32[2, 8]"},
      {{"run", slip_, "--input", "x=" + x}, "f32[2, 7]"},
      {{"run", slip_, "--input", "x=" + text}, "neither in .npy nor in .pb"},
      {{"run", slip_, "--input", "x=/no.npy"}, "/no.npy"},
      {{"run", slip_, "--input", "x"}, "NAME=FILE"},
      {{"run", slip_, "--input", "x=" + good, "--input", "x=" + good}, "given twice"},
      {{"bench", slip_, "--samples=0"}, "from 1 to 1000000"},
      {{"devices", "--local", "--server=a:1"}, "exclude each other"},
      {{"devices", "--server=nonsense"}, "HOST:PORT"},
      {{"devices", "--token-file=/no/file"}, "--token-file"},
      {{"job", "01JZZZZZZZZZZZZZZZZZZZZZZZ"}, "no job"},
      {{"inspect", "/no.slip"}, "no file"},
  };
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(Command(arguments), 2) << err_;
    EXPECT_THAT(Error(), HasSubstr(message));
    EXPECT_THAT(out_, IsEmpty());
  }
}

TEST_F(CommandTest, FailedWorkExitsWith1) {
  EXPECT_EQ(Command({"compile", Write("empty.onnx", "")}), 1);
  EXPECT_THAT(Error(), HasSubstr("is empty"));
  std::string slip = *ReadFile(slip_, 1 << 20);
  EXPECT_EQ(Command({"run", Write("short.slip", slip.substr(0, slip.size() / 2))}), 1);
  EXPECT_THAT(Error(), HasSubstr("short.slip"));
  slip[slip.size() - 1] ^= 1;
  EXPECT_EQ(Command({"inspect", Write("flipped.slip", slip)}), 1);
  EXPECT_THAT(Error(), HasSubstr("flipped.slip"));
  EXPECT_EQ(Command({"inspect", Write("other.slip", "not a slip file")}), 1);

  server_.Configure([](FakeBehaviour& b) {
    b.finish = [](v1::Job& job) {
      job.set_state(v1::Job::FAILED);
      job.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kUnimplemented));
      job.mutable_error()->set_message("operator \"X\" of node \"n\" is not supported");
      job.mutable_error()->set_log_tail("first\nsecond \x1b[2J\n");
    };
  });
  EXPECT_EQ(Command({"compile", model_}), 1);
  EXPECT_EQ(Error(),
            "slipway: error: \"model.onnx\": operator \"X\" of node \"n\" is not supported\n");
  EXPECT_THAT(err_, HasSubstr("  first\n  second \\x1b[2J\n"));

  server_.Configure([](FakeBehaviour& b) {
    b.create_status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION,
                                   "device \"fake\" lacks the feature \"avx512f\"");
    b.info.mutable_limits()->set_max_model_bytes(3);
  });
  EXPECT_EQ(Command({"compile", model_}), 1);
  EXPECT_THAT(Error(), HasSubstr("limit of 3 bytes"));
  server_.Configure(
      [](FakeBehaviour& b) { b.info.mutable_limits()->set_max_model_bytes(1 << 30); });
}

TEST_F(CommandTest, DeviceWithoutAFeatureExitsWith1) {
  const grpc::Status lacks(grpc::StatusCode::FAILED_PRECONDITION, "it lacks \"avx512f\"");
  // Once for the call, once more after the blobs were looked at again.
  server_.Configure([&](FakeBehaviour& b) { b.create_status = lacks; });
  EXPECT_EQ(Command({"run", slip_}), 1);
  EXPECT_THAT(Error(), HasSubstr("avx512f"));
}

TEST_F(CommandTest, RefusedInputsExitWith2AndUnknownDevicesWith3) {
  server_.Configure([](FakeBehaviour& b) {
    b.create_status = grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "input \"x\" is wrong");
  });
  EXPECT_EQ(Command({"run", slip_}), 2);
  server_.Configure([](FakeBehaviour& b) {
    b.create_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no device \"d\"");
  });
  EXPECT_EQ(Command({"run", slip_, "--device=d"}), 3);
  EXPECT_EQ(Command({"run", model_, "--device=d"}), 3);
  EXPECT_THAT(Error(), HasSubstr("no device \"d\"; there are: fake"));
  server_.Configure([](FakeBehaviour& b) { b.devices.clear(); });
  EXPECT_EQ(Command({"run", model_}), 3);
  EXPECT_THAT(Error(), HasSubstr("has no device"));
}

TEST_F(CommandTest, DevicesThatDifferNeedAChoice) {
  server_.Configure([](FakeBehaviour& b) {
    v1::Device other = b.devices[0];
    other.mutable_description()->set_id("other");
    other.mutable_description()->set_target("arm-64-linux");
    b.devices.push_back(other);
  });
  EXPECT_EQ(Command({"run", model_}), 2);
  EXPECT_THAT(Error(), AllOf(HasSubstr("\"fake\" (x86-64-v3-linux)"), HasSubstr("--device")));
  EXPECT_EQ(Command({"run", model_, "--device=other"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[0].compilation().target().name(), "arm-64-linux");
}

TEST_F(CommandTest, DeviceThatNeverTookTheJobExitsWith3) {
  server_.Configure([](FakeBehaviour& b) {
    b.finish = [](v1::Job& job) {
      job.set_state(v1::Job::FAILED);
      job.set_attempts(0);
      job.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kDeadlineExceeded));
      job.mutable_error()->set_message("no device took the job in time");
    };
  });
  EXPECT_EQ(Command({"run", slip_}), 3);
}

TEST_F(CommandTest, NoServerExitsWith3) {
  EXPECT_EQ(Command({"devices", "--server=127.0.0.1:1", "--insecure"}), 3);
  EXPECT_THAT(Error(), AllOf(HasSubstr("\"127.0.0.1:1\""), HasSubstr("slipwayd")));
  server_variable_.clear();
  EXPECT_EQ(Command({"devices"}), 3);
  EXPECT_THAT(Error(), AllOf(HasSubstr("/nowhere/client/slipwayd"), HasSubstr("--server")));
  EXPECT_EQ(Command({"jobs"}), 2);
  EXPECT_THAT(Error(), HasSubstr("$SLIPWAY_SERVER"));
  EXPECT_EQ(Command({"targets"}), 0);
}

TEST_F(CommandTest, WrongTokenExitsWith2) {
  server_.Configure([](FakeBehaviour& b) { b.token = "a-secret-of-tests"; });
  EXPECT_EQ(Command({"devices"}), 2);
  const std::string token = Write("token", "a-secret-of-tests\n");
  ASSERT_EQ(chmod(token.c_str(), 0644), 0);
  EXPECT_EQ(Command({"devices", "--token-file", token}), 2);
  EXPECT_THAT(Error(), HasSubstr("chmod 600 " + token));
  ASSERT_EQ(chmod(token.c_str(), 0600), 0);
  EXPECT_EQ(Command({"devices", "--token-file", token}), 0);
}

TEST_F(CommandTest, InterruptCancelsTheJob) {
  server_.Configure([](FakeBehaviour& b) { b.hold = true; });
  EagerInterrupts interrupts([this] {
    const auto jobs = server_.jobs();
    return !jobs.empty() && jobs[0].state() == v1::Job::RUNNING;
  });
  interrupts_ = &interrupts;
  EXPECT_EQ(Command({"compile", model_}), 1);
  EXPECT_THAT(Error(), HasSubstr("is cancelled"));
  EXPECT_EQ(server_.jobs()[0].state(), v1::Job::CANCELLED);
}

TEST_F(CommandTest, TextFromAPeerCannotMoveTheCursor) {
  server_.Configure([](FakeBehaviour& b) {
    b.finish = [](v1::Job& job) {
      job.set_state(v1::Job::FAILED);
      job.mutable_error()->set_code(13);
      job.mutable_error()->set_message("bad \x1b[2J name");
    };
  });
  EXPECT_EQ(Command({"compile", model_}), 1);
  EXPECT_THAT(err_, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace slipway::cli
