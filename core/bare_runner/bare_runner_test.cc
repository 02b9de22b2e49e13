// The bare runner's binary over a socket, as a host speaks to it.
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/bare_runner/protocol.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/kernel_abi/kernel_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr size_t kGreetingBytes = 35;
constexpr uint32_t kInvalidArgument = 3;
constexpr uint32_t kResourceExhausted = 8;
constexpr uint32_t kUnimplemented = 12;
constexpr uint32_t kInternal = 13;

// As testing/kernels.c has them.
enum Kernel : uint32_t { kAddRowNumbers, kFail, kCrash, kLoop, kEatScratch, kCallSystem };
constexpr uint32_t kKernels = 6;

template <typename T>
std::string Bytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
T From(absl::string_view bytes) {
  T value = {};
  EXPECT_GE(bytes.size(), sizeof(value));
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

struct Reply {
  uint32_t kind = 0;
  slipway_bare_reply reply = {};
  std::string data;
};

class BareRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(elf_, ReadFile("core/bare_runner/kernels.x86-64.so", 1 << 20));
    Start(int64_t{1} << 30);
  }

  void Start(int64_t memory_bytes) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    stream_.reset(sockets[0]);
    const UniqueFd theirs(sockets[1]);
    SubprocessOptions options;
    options.argv = {"core/bare_runner/slipway-bare-runner", "as-can", absl::StrCat(memory_bytes)};
    options.stdin_stream = ChildStream::Fd(theirs.get());
    options.stdout_stream = ChildStream::Fd(theirs.get());
    ASSERT_OK_AND_ASSIGN(process_, Subprocess::Start(options));
    EXPECT_THAT(Receive(kGreetingBytes), HasSubstr("slipway-attached-device"));
    hello_ = From<slipway_bare_hello>(Receive(sizeof(slipway_bare_hello)));
  }

  std::string Receive(size_t bytes) {
    std::string data(bytes, '\0');
    size_t received = 0;
    while (received < bytes) {
      const ssize_t got = read(stream_.get(), &data[received], bytes - received);
      if (got <= 0) break;
      received += static_cast<size_t>(got);
    }
    data.resize(received);
    return data;
  }

  void Send(uint32_t kind, absl::string_view body) {
    const slipway_bare_header header = {kind, static_cast<uint32_t>(body.size())};
    const std::string message = absl::StrCat(Bytes(header), body);
    ASSERT_EQ(send(stream_.get(), message.data(), message.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(message.size()));
  }

  Reply Await() {
    const std::string head = Receive(sizeof(slipway_bare_header));
    if (head.size() < sizeof(slipway_bare_header)) return {};
    const auto header = From<slipway_bare_header>(head);
    const std::string body = Receive(header.bytes);
    return {header.kind, From<slipway_bare_reply>(body), body.substr(sizeof(slipway_bare_reply))};
  }

  Reply Ask(uint32_t kind, absl::string_view body) {
    Send(kind, body);
    return Await();
  }

  uint64_t Allocate(uint64_t bytes) {
    const Reply reply = Ask(SLIPWAY_BARE_ALLOCATE, Bytes(slipway_bare_range{0, bytes}));
    EXPECT_EQ(reply.reply.code, 0u);
    return From<slipway_bare_range>(reply.data).address;
  }

  void Write(uint64_t address, absl::string_view data) {
    Send(SLIPWAY_BARE_WRITE, absl::StrCat(Bytes(slipway_bare_range{address, data.size()}), data));
  }

  std::string Read(uint64_t address, uint64_t bytes) {
    return Ask(SLIPWAY_BARE_READ, Bytes(slipway_bare_range{address, bytes})).data;
  }

  Reply Load(absl::string_view elf, uint32_t kernels = kKernels,
             uint32_t abi = SLIPWAY_ABI_VERSION) {
    const uint64_t at = Allocate(elf.size());
    Write(at, elf);
    const Reply reply =
        Ask(SLIPWAY_BARE_LOAD, Bytes(slipway_bare_load{0, {at, elf.size()}, abi, kernels}));
    Send(SLIPWAY_BARE_FREE, Bytes(slipway_bare_range{at, elf.size()}));
    return reply;
  }

  void LoadAndOpen(uint32_t threads = 1, uint64_t scratch_bytes = 64 << 20) {
    ASSERT_EQ(Load(elf_).reply.code, 0u);
    ASSERT_EQ(
        Ask(SLIPWAY_BARE_OPEN, Bytes(slipway_bare_open{0, scratch_bytes, threads, 0})).reply.code,
        0u);
  }

  static std::string Tensor(uint64_t address, uint8_t type, uint8_t bits,
                            std::vector<int32_t> innermost_first) {
    std::string bytes = Bytes(
        slipway_bare_tensor{address, type, bits, 1, static_cast<uint32_t>(innermost_first.size())});
    int32_t stride = 1;
    for (const int32_t extent : innermost_first) {
      bytes += Bytes(slipway_dimension{0, extent, stride, 0});
      stride *= extent;
    }
    return bytes;
  }

  static std::string Launch(uint32_t kernel, const std::vector<std::string>& tensors) {
    std::string bytes = Bytes(
        slipway_bare_launch{SLIPWAY_BARE_LAUNCH, 0, kernel, static_cast<uint32_t>(tensors.size())});
    for (const std::string& tensor : tensors) bytes += tensor;
    return bytes;
  }

  Reply Run(const std::vector<std::string>& commands) {
    std::string body = Bytes(slipway_bare_run{0, static_cast<uint32_t>(commands.size()), 0});
    for (const std::string& command : commands) body += command;
    return Ask(SLIPWAY_BARE_RUN, body);
  }

  // What the system answers to a kernel that calls it.
  int64_t CallSystem(int64_t number, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
    const uint64_t memory = Allocate(40);
    const int64_t arguments[] = {number, a, b, c, 0};
    Write(memory, Bytes(arguments));
    EXPECT_EQ(Run({Launch(kCallSystem, {Tensor(memory, SLIPWAY_TYPE_INT, 64, {4}),
                                        Tensor(memory + 32, SLIPWAY_TYPE_INT, 64, {1})})})
                  .reply.code,
              0u);
    return From<int64_t>(Read(memory + 32, 8));
  }

  std::string elf_;
  UniqueFd stream_;
  std::unique_ptr<Subprocess> process_;
  slipway_bare_hello hello_ = {};
};

TEST_F(BareRunnerTest, SaysWhatTheMachineIs) {
  EXPECT_EQ(hello_.protocol, uint32_t{SLIPWAY_BARE_PROTOCOL});
  EXPECT_EQ(hello_.machine, uint32_t{EM_X86_64});
  EXPECT_EQ(hello_.newest_abi, uint32_t{SLIPWAY_ABI_VERSION});
  EXPECT_GE(hello_.processors, 1u);
  timespec resolution = {};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  EXPECT_EQ(hello_.clock_resolution_ns, static_cast<uint64_t>(resolution.tv_sec) * 1'000'000'000 +
                                            static_cast<uint64_t>(resolution.tv_nsec));
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(hello_.memory_bytes, pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(hello_.missing, 0u);
  EXPECT_THAT(hello_.system, HasSubstr("Linux "));
}

TEST_F(BareRunnerTest, RunsListsOnSeveralThreadsAndAgain) {
  constexpr int kRows = 200;
  constexpr int kColumns = 16;
  constexpr uint64_t kBytes = kRows * kColumns * 4;
  LoadAndOpen(/*threads=*/4);
  const uint64_t x = Allocate(kBytes);
  const uint64_t y = Allocate(kBytes);
  const uint64_t z = Allocate(kBytes);
  const auto write = [&](float first) {
    std::vector<float> values(kRows * kColumns);
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 7);
    Write(x, {reinterpret_cast<const char*>(values.data()), kBytes});
  };
  const auto expect = [&](float first) {
    const std::string read = Read(z, kBytes);
    ASSERT_EQ(read.size(), kBytes);
    for (size_t i = 0; i < kRows * kColumns; ++i) {
      float value;
      std::memcpy(&value, read.data() + i * sizeof(value), sizeof(value));
      ASSERT_EQ(value, first + static_cast<float>(i % 7) + static_cast<float>(i / kColumns)) << i;
    }
  };
  const auto rows = [&](uint64_t address) {
    return Tensor(address, SLIPWAY_TYPE_FLOAT, 32, {kColumns, kRows});
  };
  write(1);
  const Reply first = Run({Launch(kAddRowNumbers, {rows(x), rows(y)}),
                           Bytes(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, y, z, kBytes})});
  EXPECT_EQ(first.reply.code, 0u) << first.data;
  EXPECT_GT(first.reply.duration_ns, 0u);
  expect(1);
  write(50);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Run({}).reply.code, 0u);
  expect(50);
  // What has gone since is looked at again: it is a rule that is broken now.
  Send(SLIPWAY_BARE_FREE, Bytes(slipway_bare_range{y, kBytes}));
  EXPECT_THAT(Run({}).data, HasSubstr("memory that was given out"));
}

TEST_F(BareRunnerTest, TakesLittleMemory) {
  LoadAndOpen();
  const uint64_t x = Allocate(64);
  ASSERT_EQ(Run(std::vector<std::string>(
                    1000, Launch(kAddRowNumbers, {Tensor(x, SLIPWAY_TYPE_FLOAT, 32, {4, 4}),
                                                  Tensor(x, SLIPWAY_TYPE_FLOAT, 32, {4, 4})})))
                .reply.code,
            0u);
  const auto facts = From<slipway_bare_facts>(Ask(SLIPWAY_BARE_FACTS, "").data);
  EXPECT_GT(facts.peak_bytes, 0u);
  EXPECT_LE(facts.peak_bytes, 2u << 20);
  EXPECT_EQ(facts.allocated_bytes, 64u);
  EXPECT_EQ(facts.limit_bytes, 1u << 30);
}

TEST_F(BareRunnerTest, TellsTheMachinesStateWhileItIsConfined) {
  const Reply reply = Ask(SLIPWAY_BARE_STATE, "");
  EXPECT_EQ(reply.reply.code, 0u);
  ASSERT_EQ(reply.data.size(), sizeof(slipway_bare_state));
  const auto state = From<slipway_bare_state>(reply.data);
  double load = 0;
  ASSERT_EQ(getloadavg(&load, 1), 1);
  EXPECT_NEAR(static_cast<double>(state.load_millis), load * 1000, 500);
  // What there is to be told is the machine's affair.
  EXPECT_LT(state.frequency_khz, 100'000'000u);
  EXPECT_LT(state.temperature_millicelsius, 300'000);
}

TEST_F(BareRunnerTest, TellsWhichCommandFailedAndWhatItsKernelSaid) {
  LoadAndOpen(1, /*scratch_bytes=*/4 << 20);
  const uint64_t x = Allocate(64);
  const std::string copy = Bytes(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, x, x + 32, 32});
  const Reply failed = Run({copy, Launch(kFail, {}), copy});
  EXPECT_EQ(failed.reply.code, kInternal);
  EXPECT_EQ(failed.reply.command, 1u);
  EXPECT_EQ(failed.reply.result, 7);
  EXPECT_EQ(failed.reply.flags, 0u);
  EXPECT_EQ(failed.data, "this kernel always fails");
  const Reply hungry = Run({Launch(kEatScratch, {})});
  EXPECT_EQ(hungry.reply.flags, uint32_t{SLIPWAY_BARE_REFUSED_SCRATCH});
  EXPECT_EQ(hungry.data, "no scratch memory left");
  EXPECT_EQ(Run({copy}).reply.code, 0u);
}

TEST_F(BareRunnerTest, TellsWhereAProgramCrashed) {
  LoadAndOpen();
  const uint64_t x = Allocate(64);
  const std::string copy = Bytes(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, x, x + 32, 32});
  const Reply end = Run({copy, copy, Launch(kCrash, {})});
  EXPECT_EQ(end.kind, uint32_t{SLIPWAY_BARE_END});
  EXPECT_EQ(end.reply.flags, 11u);
  EXPECT_EQ(end.reply.command, 2u);
  EXPECT_EQ(Receive(1), "");
}

TEST_F(BareRunnerTest, EndsWithTheStreamWhateverItDoes) {
  LoadAndOpen();
  Send(SLIPWAY_BARE_RUN, absl::StrCat(Bytes(slipway_bare_run{0, 1, 0}), Launch(kLoop, {})));
  stream_.reset();
  EXPECT_OK(process_->Wait(absl::Seconds(30)).status());
}

TEST_F(BareRunnerTest, HoldsMemoryToALimit) {
  const Reply much = Ask(SLIPWAY_BARE_ALLOCATE, Bytes(slipway_bare_range{0, uint64_t{2} << 30}));
  EXPECT_EQ(much.reply.code, kResourceExhausted);
  EXPECT_EQ(Ask(SLIPWAY_BARE_ALLOCATE, Bytes(slipway_bare_range{0, UINT64_MAX})).reply.code,
            kResourceExhausted);
  const uint64_t large = Allocate(700 << 20);
  EXPECT_EQ(Ask(SLIPWAY_BARE_ALLOCATE, Bytes(slipway_bare_range{0, 700 << 20})).reply.code,
            kResourceExhausted);
  Send(SLIPWAY_BARE_FREE, Bytes(slipway_bare_range{large, 700 << 20}));
  EXPECT_NE(Allocate(700 << 20), 0u);
  // Threads have stacks, which are memory.
  EXPECT_EQ(Ask(SLIPWAY_BARE_OPEN, Bytes(slipway_bare_open{0, 1 << 20, 1000, 0})).reply.code,
            kResourceExhausted);
  EXPECT_EQ(Ask(SLIPWAY_BARE_OPEN, Bytes(slipway_bare_open{0, 1 << 20, 2, 0})).reply.code, 0u);
}

TEST_F(BareRunnerTest, RefusesCodeThatIsNone) {
  EXPECT_EQ(Load("no code at all").reply.code, kInvalidArgument);
  const Reply other_count = Load(elf_, kKernels + 1);
  EXPECT_EQ(other_count.reply.code, kInvalidArgument);
  EXPECT_THAT(other_count.data, HasSubstr("another number of kernels"));
  EXPECT_EQ(Load(elf_, kKernels, SLIPWAY_ABI_VERSION + 1).reply.code, kUnimplemented);
  const Reply loaded = Load(elf_);
  EXPECT_EQ(loaded.reply.code, 0u);
  EXPECT_EQ(From<int32_t>(loaded.data), 2);
  EXPECT_EQ(loaded.data.size(), kKernels * sizeof(int32_t));
}

TEST_F(BareRunnerTest, LeavesItsCodeLittleOfTheSystem) {
  LoadAndOpen();
  const uint64_t path = Allocate(64);
  Write(path, std::string("/etc/passwd\0", 12));
  constexpr int64_t kRefused = -1;  // -EPERM
  EXPECT_EQ(CallSystem(SYS_openat, -100, static_cast<int64_t>(path)), kRefused);
  EXPECT_EQ(CallSystem(SYS_open, static_cast<int64_t>(path)), kRefused);
  EXPECT_EQ(CallSystem(SYS_socket, AF_INET, SOCK_STREAM), kRefused);
  EXPECT_EQ(CallSystem(SYS_execve, static_cast<int64_t>(path)), kRefused);
  EXPECT_EQ(CallSystem(SYS_fork), kRefused);
  EXPECT_EQ(CallSystem(SYS_clone, 0), kRefused);
  EXPECT_EQ(CallSystem(SYS_kill, 1, 0), kRefused);
  EXPECT_EQ(CallSystem(SYS_ptrace, 0), kRefused);
  EXPECT_EQ(CallSystem(SYS_read, 2, static_cast<int64_t>(path), 8), kRefused);
  EXPECT_EQ(CallSystem(SYS_write, 2, static_cast<int64_t>(path), 8), kRefused);
  EXPECT_EQ(CallSystem(SYS_writev, 2, static_cast<int64_t>(path), 0), kRefused);
  EXPECT_EQ(CallSystem(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), kRefused);
  EXPECT_EQ(CallSystem(SYS_mprotect, 0, 4096, PROT_WRITE | PROT_EXEC), kRefused);
  EXPECT_EQ(CallSystem(SYS_prctl, 38, 1), kRefused);
  // Nothing is read of the stream but by its own way.
  EXPECT_EQ(CallSystem(SYS_pread64, 0, static_cast<int64_t>(path), 8), -ESPIPE);
  EXPECT_EQ(CallSystem(SYS_sched_yield), 0);
}

struct Broken {
  const char* name;
  uint32_t kind;
  std::string body;
  const char* rule;
};

class BrokenRuleTest : public BareRunnerTest, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenRuleTest, EndsTheRunnerAndIsNamed) {
  const Reply end = Ask(GetParam().kind, GetParam().body);
  EXPECT_EQ(end.kind, uint32_t{SLIPWAY_BARE_END});
  EXPECT_THAT(end.data, HasSubstr(GetParam().rule));
  stream_.reset();
  EXPECT_OK(process_->Wait(absl::Seconds(30)).status());
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenRuleTest,
    ::testing::Values(
        Broken{"Kind", 77, "", "no known kind"}, Broken{"NoKind", 0, "", "no known kind"},
        Broken{"Size", SLIPWAY_BARE_ALLOCATE, "1234", "no known kind or size"},
        Broken{"Free", SLIPWAY_BARE_FREE, Bytes(slipway_bare_range{4096, 64}), "not given out"},
        Broken{"Read", SLIPWAY_BARE_READ, Bytes(slipway_bare_range{4096, 64}), "not given out"},
        Broken{"Write", SLIPWAY_BARE_WRITE, Bytes(slipway_bare_range{4096, 0}), "not given out"},
        Broken{"ShortWrite", SLIPWAY_BARE_WRITE, Bytes(slipway_bare_range{4096, 64}), "cut off"},
        Broken{"Load", SLIPWAY_BARE_LOAD, Bytes(slipway_bare_load{0, {4096, 64}, 1, 1}),
               "not given out"},
        Broken{"Unload", SLIPWAY_BARE_UNLOAD, Bytes(uint64_t{SLIPWAY_BARE_MAX_CODES}), "not there"},
        Broken{"Threads", SLIPWAY_BARE_OPEN, Bytes(slipway_bare_open{0, 0, 0, 0}), "threads"},
        Broken{"Close", SLIPWAY_BARE_CLOSE, Bytes(uint64_t{3}), "not open"},
        Broken{"Run", SLIPWAY_BARE_RUN, Bytes(slipway_bare_run{UINT64_MAX, 0, 0}), "not open"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace slipway
