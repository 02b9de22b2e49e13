#include "tests/codegen/instruction_count.h"

#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#include "core/base/check.h"

namespace slipway {
namespace {

constexpr unsigned long long kTrapFlag = 1 << 8;

// A handler of signals sees nothing but globals.
uint64_t code_begin = 0;
uint64_t code_bytes = 0;
volatile int64_t count = 0;

// Before each instruction, with its address.
void Step(int, siginfo_t*, void* context) {
  const auto address =
      static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (address - code_begin < code_bytes) count = count + 1;
}

}  // namespace

int64_t CountInstructions(absl::Span<const uint8_t> code, const std::function<void()>& run) {
  code_begin = reinterpret_cast<uint64_t>(code.data());
  code_bytes = code.size();
  count = 0;
  struct sigaction step = {};
  struct sigaction before = {};
  step.sa_sigaction = Step;
  step.sa_flags = SA_SIGINFO;
  SLIPWAY_CHECK(sigaction(SIGTRAP, &step, &before) == 0, "no handler for SIGTRAP");
  __writeeflags(__readeflags() | kTrapFlag);
  run();
  __writeeflags(__readeflags() & ~kTrapFlag);
  sigaction(SIGTRAP, &before, nullptr);
  return count;
}

}  // namespace slipway
