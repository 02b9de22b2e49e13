// How many instructions models execute on boards, held against what they executed when somebody last looked: exactly counted, by an emulator,
// so that no clock and no load of this machine is in it. Caches, memory and what runs at once are not in it either.
#include "tests/devices/emulated_instructions.h"

#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/library/models.h"

namespace slipway::testing {
namespace {

// Either way: what became better is recorded anew, or the next change to make it worse goes unseen.
constexpr double kTolerance = 0.03;

struct Case {
  const char* target;
  int64_t digits;
  int64_t residual;
  int64_t quantized;
};

constexpr Case kCases[] = {
    {"arm-64-linux", 39424, 143901, 24222},
    {"arm-32-linux-neon", 97049, 393415, 38670},
    {"riscv-64-linux", 197081, 680843, 118328},
};

class EmulatedInstructionsTest : public ::testing::TestWithParam<Case> {
 protected:
  void Expect(const ModelSource& model, const std::string& name, int64_t recorded) {
    ASSERT_OK_AND_ASSIGN(const int64_t counted,
                         InstructionsPerRun(model, GetParam().target, name, tree_));
    std::cout << name << " for " << GetParam().target << ": " << counted << " instructions\n";
    EXPECT_NEAR(static_cast<double>(counted), static_cast<double>(recorded),
                static_cast<double>(recorded) * kTolerance)
        << "\"" << name << "\" executes " << counted << " instructions and not " << recorded
        << ": if it shall, write the new number into this test";
  }

  TempTree tree_;
};

INSTANTIATE_TEST_SUITE_P(Targets, EmulatedInstructionsTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           std::string name = info.param.target;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(EmulatedInstructionsTest, OfDigits) { Expect(DigitsModel(), "digits", GetParam().digits); }

TEST_P(EmulatedInstructionsTest, OfAResidualNetwork) {
  Expect(TextModel(kResidual), "residual", GetParam().residual);
}

TEST_P(EmulatedInstructionsTest, OfAQuantizedConvolution) {
  Expect(TextModel(kQuantized), "quantized", GetParam().quantized);
}

}  // namespace
}  // namespace slipway::testing
