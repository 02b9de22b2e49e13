#include "device_agent/attached/bare_runners.h"

#include <elf.h>

#include <cstring>
#include <utility>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(BareRunnersTest, AreThereForMachinesOfAllKindsAndSmall) {
  for (const auto& [name, machine] :
       {std::pair("x86_64", EM_X86_64), std::pair("aarch64", EM_AARCH64),
        std::pair("armv7l", EM_ARM), std::pair("armv8l", EM_ARM), std::pair("riscv64", EM_RISCV)}) {
    ASSERT_OK_AND_ASSIGN(const absl::string_view file, FindBareRunner(name));
    EXPECT_LE(file.size(), 300u << 10);
    Elf64_Ehdr header;
    ASSERT_GE(file.size(), sizeof(header));
    std::memcpy(&header, file.data(), sizeof(header));
    EXPECT_EQ(header.e_machine, machine);
  }
}

TEST(BareRunnersTest, OtherMachinesAreNamed) {
  EXPECT_THAT(FindBareRunner("mips64"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("\"mips64\""), HasSubstr("x86-64 (x86_64)"),
                             HasSubstr("arm-64 (aarch64)"), HasSubstr("riscv-64 (riscv64)"))));
  EXPECT_THAT(FindBareRunner(""), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(BareRunnersTest, HaveANameOnDevices) {
  EXPECT_THAT(BareRunnerName(), MatchesRegex("slipway-bare-runner-[0-9a-f]+"));
}

}  // namespace
}  // namespace slipway
