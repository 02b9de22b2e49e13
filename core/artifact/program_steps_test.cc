#include "core/artifact/program_steps.h"

#include <string>
#include <vector>

#include "core/artifact/checked_manifest.h"
#include "core/artifact/test_manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProgramSteps, SayWhatAStepIs) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest()));
  const std::vector<StepInfo> steps = StepsOf(manifest);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(steps[0].operators, ElementsAre("Add"));
  EXPECT_EQ(DescribeStep(steps, 0), "step 0 'Add', kernel 0 of code 0");
  EXPECT_EQ(DescribeStep(steps, 1), "step 1 'Identity'");
  EXPECT_EQ(DescribeStep(steps, 2), "no step of the program");
  EXPECT_EQ(DescribeStep(steps, UINT32_MAX), "no step of the program");
}

TEST(ProgramSteps, NameFunctionsThatAreNoEntries) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest2()));
  std::vector<std::string> names;
  for (const StepInfo& step : StepsOf(manifest)) names.push_back(step.name);
  ASSERT_GE(names.size(), 10u);
  // "keep" has no steps.
  names.resize(10);
  EXPECT_THAT(names, ElementsAre("change/Change", "body/Turn", "Count", "Bind", "Find", "If",
                                 "Loop", "Copy", "Scale", "Copy"));
  EXPECT_EQ(DescribeStep(StepsOf(manifest), 8), "step 8 'Scale', kernel 0 of code 1 'scale_rows'");
}

TEST(ProgramSteps, SayWhereTheyAreAndWhatTheyCross) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest host, CheckedManifest::Check(TestManifest()));
  for (const StepInfo& step : StepsOf(host)) {
    EXPECT_EQ(step.device, 0u);
    EXPECT_EQ(step.copied, StepInfo::Copied::kWithin);
  }
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest2()));
  const v1::Manifest& proto = manifest.proto();
  const std::vector<StepInfo> steps = StepsOf(manifest);
  size_t number = 0;
  int crossing = 0;
  for (const v1::Function& function : proto.functions()) {
    for (const v1::Step& step : function.steps()) {
      const StepInfo& info = steps[number++];
      EXPECT_EQ(info.device, step.device());
      if (!step.has_copy()) continue;
      const auto is_of_host = [&](uint32_t value) {
        const v1::MemorySpace& space = proto.spaces(static_cast<int>(
            proto.buffers(static_cast<int>(proto.values(static_cast<int>(value)).buffer()))
                .space()));
        return space.device() == 0 || space.shared_with_size() > 0;
      };
      const bool from_host = is_of_host(step.copy().from());
      const bool to_host = is_of_host(step.copy().to());
      EXPECT_EQ(info.copied == StepInfo::Copied::kFromHost, from_host && !to_host);
      EXPECT_EQ(info.copied == StepInfo::Copied::kToHost, !from_host && to_host);
      crossing += from_host != to_host ? 1 : 0;
    }
  }
  EXPECT_GE(crossing, 1);
}

TEST(ProgramSteps, SayWhatIsWritten) {
  const v1::Manifest manifest = TestManifest2();
  const v1::Function& main = manifest.functions(3);
  const v1::Step::Kernel& find = main.steps(2).kernel();
  EXPECT_THAT(ValuesWrittenBy(main.steps(2)), ElementsAre(find.outputs(0)));
  EXPECT_THAT(ValuesWrittenBy(main.steps(1)), IsEmpty());
  EXPECT_THAT(ValuesWrittenBy(main.steps(3)), ElementsAre(main.steps(3).branch().outputs(0)));
  const v1::Step::Loop& loop = main.steps(4).loop();
  EXPECT_THAT(ValuesWrittenBy(main.steps(4)), ElementsAre(loop.results(0), loop.collected(0)));
  EXPECT_THAT(ValuesWrittenBy(main.steps(5)), ElementsAre(main.steps(5).copy().to()));
}

TEST(ProgramSteps, OrderOutputsAsTheyAreComputed) {
  v1::Manifest manifest;
  // Each value in a buffer of its own: 0 is the input, 1 an intermediate.
  for (uint32_t i = 0; i < 6; ++i) {
    manifest.add_buffers();
    manifest.add_values()->set_buffer(i);
  }
  v1::Function& main = *manifest.add_functions();
  for (const uint32_t value : {5, 3, 4, 2}) main.add_outputs()->set_value(value);
  const auto add_copy = [&main](uint32_t from, uint32_t to) {
    v1::Step::Copy& copy = *main.add_steps()->mutable_copy();
    copy.set_from(from);
    copy.set_to(to);
  };
  main.add_steps()->mutable_kernel()->add_outputs(1);
  main.add_steps()->mutable_kernel()->add_outputs(3);
  main.add_steps()->mutable_kernel()->add_outputs(5);
  add_copy(1, 4);
  add_copy(0, 2);
  // The input's copy, the intermediate's, then what later kernels made.
  EXPECT_THAT(OutputsAsComputed(manifest, main), ElementsAre(3, 2, 1, 0));
}

}  // namespace
}  // namespace slipway
