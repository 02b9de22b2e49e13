#include "tests/gpu/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kDisassembly[] = R"(
.text.kernel:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
        /*0030*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0040*/              @P1  LDG.E.CONSTANT R3, desc[UR4][R6.64] ;
.L_x_2:
        /*0050*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0060*/              @P0  BRA `(.L_x_1) ;
.L_x_3:
        /*0070*/                   BRA `(.L_x_3) ;
)";

TEST(MainLoopOf, IsTheOneThatMultiplies) {
  ASSERT_OK_AND_ASSIGN(const InstructionMix mix, MainLoopOf(kDisassembly));
  EXPECT_THAT(mix, ElementsAre(Pair("BAR.SYNC.DEFER_BLOCKING", 1), Pair("BRA", 2),
                               Pair("HMMA.16816.F32", 2), Pair("LDG.E.CONSTANT", 1)));
  EXPECT_EQ(CountOf(mix, "HMMA"), 2);
  EXPECT_EQ(CountOf(mix, ""), 6);
}

TEST(MainLoopOf, MultipliesByWarpGroupsToo) {
  ASSERT_OK_AND_ASSIGN(const InstructionMix mix, MainLoopOf(R"(
.L_x_1:
        /*0010*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4].tnspB, R24, gsb0 ;
        /*0020*/              @P0  BRA `(.L_x_1) ;
)"));
  EXPECT_EQ(CountOf(mix, "HGMMA"), 1);
}

TEST(ReadResources, AreTheMostOfAnyKernel) {
  const KernelResources resources = ReadResources(R"(ptxas info    : 0 bytes gmem
ptxas info    : Function properties for first
    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 242 registers, used 1 barriers, 33792 bytes smem, 384 bytes cmem[0]
ptxas info    : Used 20 registers, 384 bytes cmem[0]
)");
  EXPECT_EQ(resources.registers, 242);
  EXPECT_EQ(resources.shared_bytes, 33792);
  EXPECT_EQ(resources.spilled_bytes, 8);
  EXPECT_EQ(GroupsAtATime(resources, 128), 2);  // By registers,
  EXPECT_EQ(GroupsAtATime({.registers = 32, .shared_bytes = 48 << 10}, 128),
            3);                                                            // by shared memory,
  EXPECT_EQ(GroupsAtATime({.registers = 32, .shared_bytes = 0}, 256), 8);  // and by instances.
}

TEST(MainLoopOf, WantsOne) {
  EXPECT_THAT(MainLoopOf(".L_x_3:\n  /*0070*/  BRA `(.L_x_3) ;\n"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(MainLoopOf(""), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace slipway::testing
