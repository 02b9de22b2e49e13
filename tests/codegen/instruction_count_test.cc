#include "tests/codegen/instruction_count.h"

#include "gtest/gtest.h"

namespace slipway {
namespace {

extern "C" uint8_t slipway_ten_turns_begin[];
extern "C" uint8_t slipway_ten_turns_end[];

// 1 + 10 * 2 + 1 instructions.
asm(R"(
.pushsection .text
slipway_ten_turns_begin:
  movl $10, %ecx
1:
  decl %ecx
  jnz 1b
  ret
slipway_ten_turns_end:
.popsection
)");

absl::Span<const uint8_t> TenTurns() {
  return {slipway_ten_turns_begin,
          static_cast<size_t>(slipway_ten_turns_end - slipway_ten_turns_begin)};
}

void RunTenTurns() { reinterpret_cast<void (*)()>(slipway_ten_turns_begin)(); }

TEST(InstructionCountTest, CountsWhatIsExecuted) {
  EXPECT_EQ(CountInstructions(TenTurns(), RunTenTurns), 22);
  EXPECT_EQ(CountInstructions(TenTurns(),
                              [] {
                                for (int i = 0; i < 3; ++i) RunTenTurns();
                              }),
            66);
}

TEST(InstructionCountTest, CountsNothingElse) {
  EXPECT_EQ(CountInstructions(TenTurns(), [] {}), 0);
  EXPECT_EQ(CountInstructions(TenTurns().subspan(0, 1), RunTenTurns), 1);
}

}  // namespace
}  // namespace slipway
