// What programs print, to a session's client: kernels of C source packed by the command, straight and through a server.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/session.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

// There is no C library, but there is Linux.
constexpr char kSource[] = R"(
#include "core/kernel_abi/kernel_source.h"

static void say(int64_t stream, const char* text, int64_t size) {
  while (size > 0) {
    int64_t written = 1;  // write(2)
    __asm__ volatile("syscall"
                     : "+a"(written)
                     : "D"(stream), "S"(text), "d"(size)
                     : "rcx", "r11", "memory");
    if (written <= 0) return;
    text += written;
    size -= written;
  }
}

static int32_t copy(void** args) {
  const float* x = (const float*)slipway_tensor(args, 0)->host;
  float* y = (float*)slipway_tensor(args, 1)->host;
  for (int64_t i = 0; i < slipway_elements(args, 1); ++i) y[i] = x[i];
  return SLIPWAY_OK;
}

static int32_t print(void** args) {
  say(1, "to standard output\n", 19);
  say(2, "to standard error, \xff\n", 21);
  say(1, "not en", 6);
  say(1, "ded\n", 4);
  return copy(args);
}

static int32_t flood(void** args) {
  static char lines[65536];
  for (int i = 0; i < 65536; ++i) lines[i] = i % 64 == 63 ? '\n' : 'x';
  for (int i = 0; i < 2048; ++i) say(1, lines, 65536);
  return copy(args);
}

SLIPWAY_KERNELS({print, 2, 0}, {flood, 2, 0})
)";
constexpr int64_t kFloodBytes = 128 << 20;
constexpr int64_t kMostMoreMemory = 16 << 20;

// What on_log is told.
class Told {
 public:
  void Add(const std::string& text) {
    absl::MutexLock lock(&mutex_);
    all_ += text;
  }
  std::string all() const {
    absl::MutexLock lock(&mutex_);
    return all_;
  }
  bool Await(absl::string_view text) const {
    const auto has_come = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return absl::StrContains(all_, text);
    };
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&has_come), absl::Seconds(10));
  }

 private:
  mutable absl::Mutex mutex_;
  std::string all_ ABSL_GUARDED_BY(mutex_);
};

enum class Way { kStraight, kThroughTheServer };

class SessionLogTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    const bool is_straight = GetParam() == Way::kStraight;
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Create({.agents = 1}));
    if (is_straight) {
      agent().options().argv = {AgentBinary(), "--listen", cluster_->address(), "--state-dir",
                                cluster_->Path("agent0")};
    } else {
      ASSERT_OK(cluster_->server().Start());
    }
    ASSERT_OK(agent().Start());
    ASSERT_OK(WriteFileAtomically(cluster_->Path("say.c"), kSource, false));
  }
  ServiceProcess& agent() { return cluster_->agent(0); }

  RemoteProgram Load(Session& session, int kernel) {
    const std::string slip = cluster_->Path(absl::StrCat(kernel, ".slip"));
    const CommandResult packed =
        cluster_->Slipway({"pack", cluster_->Path("say.c"), slip, "--kernel", absl::StrCat(kernel),
                           "--input", "x=f32[4]", "--output", "y=f32[4]"});
    EXPECT_TRUE(packed.status.ok()) << packed.ToString();
    absl::StatusOr<RemoteProgram> program = session.LoadFile(slip);
    EXPECT_OK(program);
    return *std::move(program);
  }
  absl::StatusOr<Session> Open() {
    return Session::Open({.address = cluster_->address(),
                          .on_log = [this](const std::string& text) { told_.Add(text); }});
  }
  static int64_t PeakMemory(const ServiceProcess& process) {
    const absl::StatusOr<std::string> status =
        ReadFile(absl::StrCat("/proc/", process.pid(), "/status"), 1 << 16);
    int64_t kib = 0;
    for (const absl::string_view line : absl::StrSplit(status.value_or(""), '\n')) {
      if (!absl::StartsWith(line, "VmHWM:")) continue;
      EXPECT_TRUE(absl::SimpleAtoi(line.substr(6, line.size() - 6 - 3), &kib)) << line;
    }
    return kib << 10;
  }

  std::unique_ptr<Cluster> cluster_;
  Told told_;
};

TEST_P(SessionLogTest, WhatAKernelPrintsComesAsItIsPrinted) {
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  const RemoteProgram print = Load(session, 0);
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Tensor::Zeros(DataType::kFloat32, {4})));
  ASSERT_OK(print.Call({&x}));
  // No further request is made.
  EXPECT_TRUE(told_.Await("not ended\n")) << told_.all();
  // And nothing of what the device does for it.
  EXPECT_EQ(told_.all(), "to standard output\nto standard error, ?\nnot ended\n");
}

TEST_P(SessionLogTest, AFloodHoldsUpNobody) {
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  const RemoteProgram flood = Load(session, 1);
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Tensor::Zeros(DataType::kFloat32, {4})));
  ASSERT_OK(session.Facts());
  const int64_t agent_before = PeakMemory(agent());
  const int64_t server_before = GetParam() == Way::kStraight ? 0 : PeakMemory(cluster_->server());
  ASSERT_OK(flood.Call({&x}, {.deadline = absl::Seconds(50)}));
  const absl::Time begin = absl::Now();
  ASSERT_OK(session.Facts());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(2));
  EXPECT_LT(PeakMemory(agent()) - agent_before, kMostMoreMemory);
  if (GetParam() != Way::kStraight) {
    EXPECT_LT(PeakMemory(cluster_->server()) - server_before, kMostMoreMemory);
  }
  // What was dropped is told to the byte.
  const auto count = [this] {
    int64_t bytes = 0;
    for (const absl::string_view line : absl::StrSplit(told_.all(), '\n')) {
      if (absl::StartsWith(line, "x")) bytes += static_cast<int64_t>(line.size()) + 1;
      if (!absl::StrContains(line, "bytes of the log were dropped")) continue;
      int64_t dropped = 0;
      EXPECT_TRUE(absl::SimpleAtoi(line.substr(1, line.find(' ') - 1), &dropped)) << line;
      bytes += dropped;
    }
    return bytes;
  };
  for (int i = 0; i < 500 && count() < kFloodBytes; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(count(), kFloodBytes);
  EXPECT_LT(told_.all().size(), size_t{kFloodBytes} / 2);
}

INSTANTIATE_TEST_SUITE_P(Ways, SessionLogTest,
                         ::testing::Values(Way::kStraight, Way::kThroughTheServer));

}  // namespace
}  // namespace slipway::testing
