// The command `slipway session` as a person has it: a process at a pseudo-terminal, with a fake device.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/testing/grpc_fake_device.h"
#include "core/artifact/artifact.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
#include "core/wire/session_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPrompt[] = "board-1> ";
constexpr char kCtrlC[] = "\x03";
constexpr char kCtrlD[] = "\x04";
constexpr char kUp[] = "\x1b[A";
constexpr absl::Duration kPatience = absl::Seconds(30);

// A process with a terminal of its own, and what it shows.
class Terminal {
 public:
  Terminal(std::vector<std::string> argv, std::vector<std::string> environment) {
    const auto pointers = [](std::vector<std::string>& strings) {
      std::vector<char*> all;
      for (std::string& string : strings) all.push_back(string.data());
      all.push_back(nullptr);
      return all;
    };
    const std::vector<char*> arguments = pointers(argv);
    const std::vector<char*> variables = pointers(environment);
    const winsize size = {.ws_row = 24, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      execve(arguments[0], arguments.data(), variables.data());
      _exit(127);
    }
  }
  ~Terminal() {
    close(master_);
    if (!has_ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  void Type(const std::string& keys) const {
    ASSERT_EQ(write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // Returns what was shown since the last Await, up to `text`.
  std::string Await(const std::string& text) {
    const absl::Time give_up = absl::Now() + kPatience;
    while (shown_.find(text) == std::string::npos) {
      if (!Read(give_up)) {
        ADD_FAILURE() << "\"" << text << "\" was not shown, but: " << shown_;
        return "";
      }
    }
    const size_t end = shown_.find(text) + text.size();
    const std::string before = shown_.substr(0, end);
    shown_.erase(0, end);
    return before;
  }
  // At the next prompt.
  std::string Enter(const std::string& keys) {
    Await(kPrompt);
    Type(keys);
    return Await("\r\n");
  }
  // Its exit code; -1 for one that a signal ended.
  int AwaitEnd() {
    const absl::Time give_up = absl::Now() + kPatience;
    while (Read(give_up)) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    has_ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void Signal(int signal) const { kill(pid_, signal); }

 private:
  // False at its end, and when nothing comes in time.
  bool Read(absl::Time give_up) {
    pollfd fd = {.fd = master_, .events = POLLIN, .revents = 0};
    const int64_t ms = absl::ToInt64Milliseconds(give_up - absl::Now());
    if (poll(&fd, 1, static_cast<int>(std::max<int64_t>(ms, 0))) <= 0) return false;
    char bytes[4096];
    const ssize_t size = read(master_, bytes, sizeof(bytes));
    if (size <= 0) return false;
    shown_.append(bytes, static_cast<size_t>(size));
    return true;
  }

  int master_ = -1;
  pid_t pid_ = -1;
  bool has_ended_ = false;
  std::string shown_;
};

class SessionTerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("terminal"));
    ASSERT_OK_AND_ASSIGN(
        const Artifact artifact,
        Artifact::Create(TestManifest(), [](const Digest& digest) -> absl::StatusOr<Blob> {
          return Blob::Own(digest == Digest::Of(TestCode()) ? TestCode() : TestConstants());
        }));
    ASSERT_OK(WriteSlip(artifact, Path("net.slip")));
    const Tensor numbers = Tensor::Of<float>({3}, {1, 2, 3});
    ASSERT_OK(WriteFileAtomically(Path("numbers.npy"), FormatNpy(numbers).value(), false));
  }
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }
  std::string HistoryPath() const { return Path("state/slipway/session_history"); }

  Terminal Start(const std::string& kind = "xterm") {
    return Terminal(
        {testing::RunfilePath("client/slipway"), "session", "--server", device_.address()},
        {"TERM=" + kind, "HOME=" + folder_.path(), "XDG_STATE_HOME=" + Path("state")});
  }

  FakeDevice device_;
  TemporaryFolder folder_;
};

TEST_F(SessionTerminalTest, CommandsNamesAndFilesAreCompleted) {
  Terminal terminal = Start();
  terminal.Enter("zero = ze\tf32[3]\r");
  terminal.Await("zero: f32[3]");
  terminal.Enter(absl::StrCat("net = lo\t", folder_.path(), "/n\t\r"));
  terminal.Await("net: add(a, b) -> y f32[n]");
  terminal.Enter(absl::StrCat("x = put ", folder_.path(), "/num\t\r"));
  terminal.Await("x: f32[3]");
  terminal.Enter("sum = call n\tz\tx\t\r");
  terminal.Await("sum: f32[3]");
  terminal.Enter("get su\t\r");
  terminal.Await("1 2 3");
  terminal.Await(kPrompt);
  // Several: they are listed, and the line stands as it stood.
  terminal.Type("co\t");
  terminal.Type(kCtrlC);
  terminal.Type("f\t\t");
  EXPECT_THAT(terminal.Await("free"), HasSubstr("facts  free"));
  terminal.Type(absl::StrCat("acts\r"));
  terminal.Await("memory");
  terminal.Enter("quit\r");
  EXPECT_EQ(terminal.AwaitEnd(), 0);
  EXPECT_TRUE(device_.is_closed());
}

TEST_F(SessionTerminalTest, LinesComeAgainAlsoInTheNextSession) {
  {
    Terminal terminal = Start();
    terminal.Enter("x = zeros f32[3]\r");
    terminal.Await("x: f32[3]");
    terminal.Enter("get x\r");
    terminal.Await("0 0 0");
    terminal.Enter(absl::StrCat(kUp, kUp, "\r"));
    terminal.Await("x: f32[3]");
    terminal.Await(kPrompt);
    terminal.Type(kCtrlD);
    EXPECT_EQ(terminal.AwaitEnd(), 0);
  }
  struct stat info = {};
  ASSERT_EQ(stat(HistoryPath().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Terminal next = Start();
  next.Enter(absl::StrCat(kUp, "\r"));
  next.Await("x: f32[3]");
  next.Enter(absl::StrCat(kUp, kUp, "\r"));
  next.Await("0 0 0");
}

TEST_F(SessionTerminalTest, CtrlCClearsALineOrCancelsTheCommand) {
  Terminal terminal = Start();
  terminal.Enter(absl::StrCat("net = load ", Path("net.slip"), "\r"));
  terminal.Await("net: add");
  terminal.Enter(absl::StrCat("nonsense", kCtrlC, "x = zeros f32[3]\r"));
  EXPECT_THAT(terminal.Await("x: f32[3]"), Not(HasSubstr("error")));
  terminal.Enter("call net x function=wait\r");
  while (device_.held() == 0) std::this_thread::yield();
  terminal.Type(kCtrlC);
  terminal.Await("error: ");
  terminal.Enter("list\r");
  terminal.Await("f32[3]");
  terminal.Await(kPrompt);
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.AwaitEnd(), 0);
  EXPECT_TRUE(device_.is_closed());
}

TEST_F(SessionTerminalTest, NewsStandsAboveWhatIsTyped) {
  Terminal terminal = Start();
  terminal.Await(kPrompt);
  terminal.Type("x = zer");
  terminal.Await("zer");
  v1::SessionResponse news;
  news.mutable_log()->set_text("hot\n");
  device_.Send(WriteSessionResponse(news));
  terminal.Await("log: hot\r\n");
  // And what was typed stands below it.
  terminal.Await(absl::StrCat(kPrompt, "x = zer"));
  terminal.Type("os f32[3]\r");
  terminal.Await("x: f32[3]");
}

TEST_F(SessionTerminalTest, WhoEndsTheProcessEndsTheSession) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    Terminal terminal = Start();
    terminal.Await(kPrompt);
    terminal.Signal(signal);
    EXPECT_EQ(terminal.AwaitEnd(), 0);
    EXPECT_TRUE(device_.is_closed());
  }
}

TEST_F(SessionTerminalTest, ATerminalThatCannotMoveItsCursorGetsLinesAsTheyAre) {
  Terminal terminal = Start("dumb");
  terminal.Enter("x = zeros f32[3]\r");
  terminal.Await("x: f32[3]");
  terminal.Await(kPrompt);
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.AwaitEnd(), 0);
  EXPECT_NE(access(HistoryPath().c_str(), F_OK), 0);
}

TEST_F(SessionTerminalTest, AHistoryThatCannotBeKeptIsToldOnce) {
  ASSERT_OK(MakeFolders(HistoryPath()));
  Terminal terminal = Start();
  EXPECT_THAT(terminal.Await(kPrompt), HasSubstr("what is typed is not kept for the next time"));
  terminal.Type("x = zeros f32[3]\r");
  terminal.Await("x: f32[3]");
  terminal.Await(kPrompt);
  terminal.Type(absl::StrCat(kUp, "\r"));
  EXPECT_THAT(terminal.Await("x: f32[3]"), Not(HasSubstr("not kept")));
}

}  // namespace
}  // namespace slipway
