#include "core/artifact/input_match.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/tensor/tensor.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

const TensorType kImage = {DataType::kFloat32, {1, 8}};
const TensorType kIndex = {DataType::kInt64, {}};

std::vector<NamedType> Inputs() {
  return {{"image", PortType::Of(kImage)}, {"index", PortType::Of(kIndex)}};
}

TEST(CheckInput, AdmitsWhatIsWithinTheBounds) {
  PortType batched = PortType::Of(kImage);
  batched.extents[0] = {1, 4, "batch"};
  const NamedType input = {"image", batched};
  EXPECT_OK(CheckInput(input, kImage));
  EXPECT_OK(CheckInput(input, {DataType::kFloat32, {4, 8}}));
  EXPECT_THAT(CheckInput(input, {DataType::kFloat32, {5, 8}}),
              StatusIs(kInvalid, "input \"image\" is f32[batch, 8], but f32[5, 8] is given"));
}

TEST(InputNames, FindsEachOnce) {
  const std::vector<NamedType> inputs = Inputs();
  InputNames names(inputs);
  EXPECT_THAT(names.Take("index"), IsOkAndHolds(1u));
  EXPECT_THAT(names.Take("index"), StatusIs(kInvalid, "input \"index\" is given twice"));
  EXPECT_THAT(names.Take("image"), IsOkAndHolds(0u));
  EXPECT_THAT(names.Take("mask"),
              StatusIs(kInvalid,
                       "no input \"mask\"; the program takes \"image\" f32[1, 8], "
                       "\"index\" i64[]"));
  EXPECT_THAT(InputNames({}).Take(""),
              StatusIs(kInvalid, "no input \"\"; the program takes no inputs"));
}

TEST(InputNames, SaysNoMoreThanPeopleRead) {
  std::vector<NamedType> inputs;
  for (int i = 0; i < 1000; ++i) inputs.push_back({absl::StrCat("x", i), PortType::Of(kIndex)});
  InputNames names(inputs);
  EXPECT_THAT(names.Take("x999"), IsOkAndHolds(999u));
  const absl::Status status = names.Take(std::string(1 << 20, '\n')).status();
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("\\n\\n"), HasSubstr("984 more")));
  EXPECT_LT(status.message().size(), 2000u);
}

TEST(MatchInputs, GivesTheTensorOfEachInput) {
  const std::vector<NamedType> inputs = Inputs();
  google::protobuf::RepeatedPtrField<v1::Tensor> given;
  EXPECT_THAT(MatchInputs(inputs, given), IsOkAndHolds(ElementsAre(nullptr, nullptr)));
  *given.Add() = ToInlineProto("index", Tensor::Zeros(kIndex.dtype, kIndex.shape));
  EXPECT_THAT(MatchInputs(inputs, given), IsOkAndHolds(ElementsAre(nullptr, &given[0])));
  *given.Add() = ToInlineProto("image", Tensor::Zeros(kImage.dtype, kImage.shape));
  EXPECT_THAT(MatchInputs(inputs, given), IsOkAndHolds(ElementsAre(&given[1], &given[0])));
}

TEST(MatchInputs, RefusesWhatDoesNotFit) {
  const std::vector<NamedType> inputs = Inputs();
  const v1::Tensor good = ToInlineProto("index", Tensor::Zeros(kIndex.dtype, kIndex.shape));
  const auto match = [&inputs](const std::vector<v1::Tensor>& tensors) {
    const google::protobuf::RepeatedPtrField<v1::Tensor> given(tensors.begin(), tensors.end());
    return MatchInputs(inputs, given).status();
  };
  EXPECT_THAT(match({good, good}), StatusIs(kInvalid, HasSubstr("given twice")));
  v1::Tensor bad = good;
  bad.set_name("z");
  EXPECT_THAT(match({bad}), StatusIs(kInvalid, HasSubstr("no input \"z\"")));
  bad.set_name("image");
  EXPECT_THAT(match({bad}), StatusIs(kInvalid, HasSubstr("but i64[] is given")));
  bad = good;
  bad.mutable_inline_data()->pop_back();
  EXPECT_THAT(match({bad}), StatusIs(kInvalid));
  bad.clear_content();
  EXPECT_THAT(match({bad}), StatusIs(kInvalid));
}

}  // namespace
}  // namespace slipway
