// slipway session against a fake device: every command, at a prompt and as a script, and every way it ends.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <sstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/session.h"
#include "client/testing/grpc_fake_device.h"
#include "core/artifact/artifact.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::FakeDevice;
using ::slipway::testing::FakeDeviceBehaviour;
using ::slipway::testing::IsOk;
using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Interrupts whenever `may` says so and somebody listens.
class ManyInterrupts final : public Interrupts {
 public:
  explicit ManyInterrupts(std::function<bool()> may) : may_(std::move(may)) {
    thread_ = std::thread([this] {
      while (!is_over_) {
        std::this_thread::yield();
        if (!may_()) continue;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handler_ == nullptr) continue;
        std::exchange(handler_, nullptr)();
      }
    });
  }
  ~ManyInterrupts() override {
    is_over_ = true;
    thread_.join();
  }
  void SetHandler(std::function<void()> handler) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    handler_ = std::move(handler);
  }

 private:
  const std::function<bool()> may_;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;
  std::function<void()> handler_;
  std::thread thread_;
};

// Keeps what is written, and knows when something was said that the client waits.
class NotingBuffer final : public std::stringbuf {
 public:
  explicit NotingBuffer(std::atomic<bool>& is_waiting) : is_waiting_(is_waiting) {}

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    const std::streamsize written = std::stringbuf::xsputn(bytes, size);
    if (absl::StartsWith(absl::string_view(bytes, static_cast<size_t>(size)), "waiting")) {
      is_waiting_ = true;
    }
    return written;
  }

  std::atomic<bool>& is_waiting_;
};

class VerbSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("session"));
    ASSERT_OK_AND_ASSIGN(
        const Artifact artifact,
        Artifact::Create(TestManifest(), [](const Digest& digest) -> absl::StatusOr<Blob> {
          return Blob::Own(digest == Digest::Of(TestCode()) ? TestCode() : TestConstants());
        }));
    slip_ = JoinPath(folder_.path(), "net.slip");
    ASSERT_THAT(WriteSlip(artifact, slip_), IsOk());
    x_ = WriteNumbers("x.npy", {1, 2, 3});
  }
  std::string WriteNumbers(const std::string& name, std::vector<float> values) {
    const std::string path = JoinPath(folder_.path(), name);
    const Tensor tensor =
        Tensor::Of<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values));
    EXPECT_THAT(WriteFileAtomically(path, FormatNpy(tensor).value(), false), IsOk());
    return path;
  }

  int Command(std::vector<std::string> arguments, const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out;
    NotingBuffer err_buffer(is_waiting_);
    std::ostream err(&err_buffer);
    Environment environment = {.out = out,
                               .err = err,
                               .executable = "/nowhere/client/slipway",
                               .interrupts = interrupts_,
                               .in = &in,
                               .in_is_terminal = is_terminal_,
                               .variable = [this](const std::string& name) {
                                 return name == "SLIPWAY_SERVER" ? device_.address()
                                                                 : std::string();
                               }};
    arguments.insert(arguments.begin(), "session");
    const ExitCode code = RunCommand(environment, arguments);
    out_ = out.str();
    err_ = err_buffer.str();
    return static_cast<int>(code);
  }
  // As a script.
  int Script(const std::string& input) { return Command({}, input); }

  FakeDevice device_;
  TemporaryFolder folder_;
  std::string slip_, x_;
  Interrupts* interrupts_ = nullptr;
  bool is_terminal_ = false;
  std::atomic<bool> is_waiting_ = false;
  std::string out_, err_;
};

TEST_F(VerbSessionTest, FromArtifactToOutputs) {
  const std::string file = JoinPath(folder_.path(), "y.npy");
  ASSERT_EQ(Script(absl::StrCat("# first\nnet = load ", slip_, "\nx = put ", x_,
                                "\n\ny = call net x x\nget y\nget y ", file, "\n")),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(StartsWith("net: add(a, b) -> y f32[n]  (5.00 us)\n"),
                          HasSubstr("\nx: f32[3]\ny: f32[3]  (1.23 us)\n"),
                          HasSubstr("y: f32[3]  min 2, max 6, mean 4, largest at 2: 2 4 6\n"),
                          HasSubstr("wrote " + file)));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(file, 1 << 20));
  ASSERT_OK_AND_ASSIGN(const Tensor y, ParseNpy(bytes));
  EXPECT_EQ(y.values<float>()[2], 6);
  EXPECT_TRUE(device_.is_closed());
}

TEST_F(VerbSessionTest, TensorsAndTheirParts) {
  ASSERT_EQ(Script(absl::StrCat("x = put ", x_, R"(
z = zeros f32[3]
r = random f32[4] seed=7
c = copy x
s = slice x 1:3
assign z s 1
get z
get s
list
free r c
facts
)")),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("z: f32[3]  min 0, max 3, mean 1.667, largest at 2: 0 2 3\n"),
                          HasSubstr("s: f32[2]  min 2, max 3"),
                          HasSubstr("c  f32[3]\nr  f32[4]\ns  f32[2]\nx  f32[3]\nz  f32[3]\n"),
                          HasSubstr("tensors      3, "), HasSubstr("temperature  42.0 C")));
}

TEST_F(VerbSessionTest, PutsEachArrayOfAnArchive) {
  const auto path = [](const std::string& name) {
    return testing::RunfilePath(absl::StrCat("core/tensor/npz_corpus/", name));
  };
  ASSERT_EQ(Script(absl::StrCat("put ", path("stored.npz"), "\na, b = put ", path("deflated.npz"),
                                "\nlist\nget layer/w\n")),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(StartsWith("x: f32[3]\nlayer/w: i64[2, 3]\na: f32[40, 50]\nb: i8[]\n"),
                          HasSubstr("layer/w: i64[2, 3]  min 0, max 5")));
  EXPECT_EQ(Script(absl::StrCat("a = put ", path("stored.npz"), "\n")), 2);
  EXPECT_THAT(err_, AllOf(HasSubstr("1 names are given"), HasSubstr("has 2 arrays")));
  EXPECT_EQ(Script(absl::StrCat("put ", path("objects.npz"), "\n")), 2);
  EXPECT_THAT(err_, AllOf(HasSubstr("objects.npz\": array \"bad\": ")));
  EXPECT_EQ(Script(absl::StrCat("put ", x_, "\n")), 2);
  EXPECT_THAT(err_, HasSubstr("is one tensor: NAME = put FILE"));
}

TEST_F(VerbSessionTest, OutputsHaveTheirOwnNamesWithoutOthers) {
  ASSERT_EQ(Script(absl::StrCat("net = load ", slip_, "\nx = put ", x_,
                                "\ncall net x function=print\nget y\n")),
            0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("y: f32[3]  min 1"));
}

TEST_F(VerbSessionTest, TimesAndProfiles) {
  ASSERT_EQ(Script(absl::StrCat("net = load ", slip_, "\nx = put ", x_,
                                "\ntime net x x samples=3 warmup=1 cache=cold pause=2\n"
                                "profile net x x\n")),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("3 samples of 1 call"), HasSubstr("1.00 us"),
                          HasSubstr("coarse: 3 of 3 samples are shorter than 20 times the 100 ns"),
                          HasSubstr("slowest of 1 steps"), HasSubstr("step0")));
  const std::vector<v1::SessionRequest> done = device_.carried_out();
  const auto timed = std::find_if(done.begin(), done.end(),
                                  [](const v1::SessionRequest& r) { return r.has_time(); });
  ASSERT_NE(timed, done.end());
  EXPECT_EQ(timed->time().samples(), 3);
  EXPECT_EQ(timed->time().warmup(), 1);
  EXPECT_TRUE(timed->time().flush_cache());
  EXPECT_EQ(timed->time().cool_down_ns(), 2'000'000);
}

TEST_F(VerbSessionTest, ComparesTensorsAndPrograms) {
  const std::string other = WriteNumbers("other.npy", {1, 2, 4});
  ASSERT_EQ(Script(absl::StrCat("x = put ", x_, "\nz = put ", other, "\ndiff x x\ndiff x z\n",
                                "diff x z absolute=2\none = load ", slip_, "\ntwo = load ", slip_,
                                "\ndiff one two x x\n")),
            0)
      << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("1 values compared: all agree\n1 values compared: 1 differ, "
                                    "first \"x\"\n"),
                          HasSubstr("1 of 3"), HasSubstr("[2]: 3, not 4")));
  EXPECT_TRUE(absl::EndsWith(out_, "1 values compared: all agree\n")) << out_;
}

TEST_F(VerbSessionTest, EachCommandIsAJsonObject) {
  ASSERT_EQ(Command({"--json"}, absl::StrCat("x = put ", x_, "\n")), 0) << err_;
  ASSERT_OK_AND_ASSIGN(const Json put, ParseJson(out_));
  EXPECT_EQ(put["tensors"][0]["name"], "x");
  for (const char* const command :
       {"call net x x", "time net x x samples=2", "profile net x x", "get x", "diff x x",
        "s = slice x 0:1", "assign x x", "free x", "list", "facts", "help", "quit"}) {
    const std::string start = absl::StrCat("net = load ", slip_, "\nx = put ", x_, "\n");
    ASSERT_EQ(Command({"--json"}, start), 0) << err_;
    const size_t before = out_.size();
    ASSERT_EQ(Command({"--json"}, absl::StrCat(start, command, "\n")), 0) << err_;
    const absl::StatusOr<Json> json = ParseJson(out_.substr(before));
    ASSERT_THAT(json, IsOk()) << command << ": " << out_;
    EXPECT_EQ((*json)["schema_version"], 1) << command;
    if (absl::StartsWith(command, "time ")) EXPECT_EQ((*json)["clock_resolution_ns"], 100);
  }
}

TEST_F(VerbSessionTest, AScriptEndsWithItsFirstError) {
  EXPECT_EQ(Script("x = zeros f32[3]\ny = cal x\nfacts\n"), 2);
  EXPECT_THAT(err_, HasSubstr("slipway: error: input:2: unknown command \"cal\"; known are load"));
  EXPECT_THAT(out_, Not(HasSubstr("memory")));
  EXPECT_TRUE(device_.is_closed());
  EXPECT_EQ(Script(absl::StrCat("net = load ", slip_, "\nx = put ", x_,
                                "\ny = call net x function=crash\n")),
            1);
  EXPECT_THAT(err_, HasSubstr("input:3: the runner was ended by signal 11"));
}

TEST_F(VerbSessionTest, AScriptIsAFile) {
  const std::string script = JoinPath(folder_.path(), "script");
  ASSERT_THAT(WriteFileAtomically(script, "facts\nquit\nnonsense\n", false), IsOk());
  EXPECT_EQ(Command({"--script", script}, ""), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("memory"));
  EXPECT_EQ(Command({"--script", "/nowhere"}, ""), 2);
}

TEST_F(VerbSessionTest, WhatIsTypedWrongIsAWrongCall) {
  const std::string start = absl::StrCat("net = load ", slip_, "\nx = put ", x_, "\n");
  for (const std::string line : {"load a.slip",
                                 "x = load",
                                 "x = put nowhere.npy",
                                 "x = put a b",
                                 "get nothing",
                                 "get net",
                                 "call x",
                                 "call net x samples=1",
                                 "x, y = call net x x",
                                 "time net x x samples=0",
                                 "time net x x cache=icy",
                                 "x = zeros f32",
                                 "x = random f32[2] seed=-1",
                                 "s = slice x",
                                 "s = slice x 2:9",
                                 "assign x x 0 0",
                                 "assign x x b",
                                 "diff x net",
                                 "diff x x x",
                                 "diff x x relative=-1",
                                 "free nothing",
                                 "x = facts",
                                 "get x y.txt",
                                 "\"",
                                 "x, x = call"}) {
    EXPECT_EQ(Script(start + line), 2) << line << ": " << err_;
    EXPECT_THAT(err_, HasSubstr("input:3: ")) << line;
  }
  EXPECT_EQ(Command({"--lease", "nonsense"}, ""), 2);
  EXPECT_EQ(Command({"--target", "abacus"}, ""), 2);
  EXPECT_EQ(Command({"word"}, ""), 2);
  EXPECT_EQ(Command({"--idle=1ms"}, ""), 2);
}

TEST_F(VerbSessionTest, ErrorsAtThePromptAreToldAndItGoesOn) {
  is_terminal_ = true;
  EXPECT_EQ(Script("nonsense\nx = zeros f32[2]\nlist\n"), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("error: unknown command \"nonsense\""));
  EXPECT_EQ(out_, "board-1> board-1> x: f32[2]\nboard-1> x  f32[2]\nboard-1> ");
}

TEST_F(VerbSessionTest, AnInterruptCancelsTheRequestAndNotTheSession) {
  is_terminal_ = true;
  // A call that waits alone is not carried out at once.
  ManyInterrupts interrupt([this] { return device_.held() > 0; });
  interrupts_ = &interrupt;
  EXPECT_EQ(Script(absl::StrCat("net = load ", slip_, "\nx = put ", x_,
                                "\ny = call net x function=wait\nfacts\n")),
            0)
      << err_;
  EXPECT_THAT(err_, HasSubstr("error: cancelled"));
  EXPECT_THAT(out_, HasSubstr("memory"));
}

TEST_F(VerbSessionTest, TellsWhatProgramsPrintAndWhatItWaitsFor) {
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.let_wait = true; });
  std::thread releaser([this] {
    while (!is_waiting_) std::this_thread::yield();
    device_.Release();
  });
  EXPECT_EQ(Script(absl::StrCat("net = load ", slip_, "\nx = put ", x_,
                                "\ny = call net x function=print\n")),
            0)
      << err_;
  releaser.join();
  EXPECT_THAT(err_, AllOf(HasSubstr("waiting for the device: 1 ahead, held by somebody, for "
                                    "something\n"),
                          HasSubstr("log: printed\n")));
}

TEST_F(VerbSessionTest, ASessionThatIsTakenUpIsLeftAgain) {
  {
    ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device_.address()}));
    ASSERT_OK_AND_ASSIGN(const RemoteProgram program,
                         session.Load(Digest::Of("toy"), {.name = "net"}));
    const TensorType type = {DataType::kFloat32, {2}};
    ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Zeros(type, "x"));
    ASSERT_OK_AND_ASSIGN(const RemoteTensor again, session.Zeros(type, "x"));
    ASSERT_OK_AND_ASSIGN(const RemoteTensor unnamed, session.Zeros(type));
    ASSERT_THAT(session.Detach(), IsOk());
  }
  ASSERT_EQ(Command({"--lease", "s1:t1"}, "list\nsum = call net x x\n"), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("net"), HasSubstr("\nunnamed.4  f32[2]\n"),
                          HasSubstr("\nx          f32[2]\nx.3        f32[2]\n")));
  EXPECT_FALSE(device_.is_closed());
  ASSERT_EQ(Command({"--lease", "s1:t1"}, "diff sum x\n"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("all agree"));
  EXPECT_EQ(Command({"--lease", "s1:forged"}, "list\n"), 3) << err_;
  EXPECT_THAT(err_, HasSubstr("no such session"));
}

TEST_F(VerbSessionTest, WhoCannotBeReached) {
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.refusal = grpc::Status(grpc::StatusCode::NOT_FOUND, "no device \"b\"");
  });
  EXPECT_EQ(Script(""), 3);
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.refusal = grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "no device came free");
  });
  EXPECT_EQ(Command({"--wait=0s"}, ""), 3);
  device_.StopListening();
  EXPECT_EQ(Script(""), 3);
  EXPECT_THAT(err_, HasSubstr("cannot be reached"));
}

}  // namespace
}  // namespace slipway::cli
