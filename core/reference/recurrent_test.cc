// Recurrent networks of one cell against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// h = 2 x + h for one cell, over two samples of three steps.
constexpr char kSum[] =
    "const %x: f32[3, 2, 1] = {1, 10, 2, 20, 3, 30}\nconst %w: f32[1, 1, 1] = {2}\n"
    "const %r: f32[1, 1, 1] = {1}\nconst %l: i32[2] = {3, 2}\nconst %bad: i32[2] = {3, 4}\n";

TEST(RecurrentTest, SequencesEnd) {
  EXPECT_EQ(ValuesOf(kSum, "%y, %h = RNN(%x, %w, %r, _, %l) {activations = [\"Affine\"]}"),
            "f32[3, 1, 2, 1] = {2, 20, 6, 60, 12, 0}; f32[1, 2, 1] = {12, 60}");
}

TEST(RecurrentTest, BackwardsBeginsAtTheEndOfEachSequence) {
  EXPECT_EQ(ValuesOf(kSum,
                     "%y, %h = RNN(%x, %w, %r, _, %l) {activations = [\"Affine\"], direction = "
                     "\"reverse\"}"),
            "f32[3, 1, 2, 1] = {12, 60, 10, 40, 6, 0}; f32[1, 2, 1] = {12, 60}");
}

TEST(RecurrentTest, ActivationsAreClippedAndParametersGoToThoseThatTakeThem) {
  EXPECT_EQ(ValuesOf(kSum,
                     "%y = RNN(%x, %w, %r) {activation_alpha = [3.0], activation_beta = [1.0], "
                     "activations = [\"affine\"], clip = 5.0}"),
            "f32[3, 1, 2, 1] = {7, 16, 16, 16, 16, 16}");
  EXPECT_THAT(ValuesOf(kSum, "%y = RNN(%x, %w, %r) {activations = [\"Sine\"]}"),
              HasSubstr("the activation \"Sine\" is not known"));
}

TEST(RecurrentTest, LengthsStayWithinTheSteps) {
  EXPECT_THAT(ValuesOf(kSum, "%y = RNN(%x, %w, %r, _, %bad)"),
              HasSubstr("a sequence's length (input 4) is outside"));
}

TEST(RecurrentTest, WeightsMustFit) {
  EXPECT_THAT(ValuesOf(kSum, "%y = GRU(%x, %w, %r)"),
              HasSubstr("input 1 has the shape [1, 1, 1] where [1, 3, 1] is needed"));
  EXPECT_THAT(ValuesOf(kSum, "%y = RNN(%x, %w, %r) {hidden_size = 2}"),
              HasSubstr("\"hidden_size\" is 2, the weights have 1"));
}

// Gates of 1 (input), 0 (forget) and 1 (output) by Affine functions of nothing.
TEST(RecurrentTest, AnLstmForgetsWhatItTakesInWhereTheGatesAreOne) {
  const std::string cell =
      "const %x: f32[2, 1, 1] = {3, 5}\nconst %w: f32[1, 4, 1] = {0, 0, 0, 1}\n"
      "const %r: f32[1, 4, 1] = {0, 0, 0, 0}\n";
  const std::string node =
      "%y, %h, %c = LSTM(%x, %w, %r) {activation_alpha = [0.0, 1.0, 1.0], activation_beta = [1.0, "
      "0.0, 0.0], activations = [\"Affine\", \"Affine\", \"Affine\"]";
  EXPECT_EQ(ValuesOf(cell, node + "}"),
            "f32[2, 1, 1, 1] = {3, 8}; f32[1, 1, 1] = {8}; f32[1, 1, 1] = {8}");
  EXPECT_EQ(ValuesOf(cell, node + ", input_forget = 1}"),
            "f32[2, 1, 1, 1] = {3, 5}; f32[1, 1, 1] = {5}; f32[1, 1, 1] = {5}");
}

}  // namespace
}  // namespace slipway
