#include "core/compiler/own_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/codegen/kernel_cache.h"
#include "core/compiler/compiler.h"
#include "core/compiler/fingerprint.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::slipway::testing::TempTree;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<ValueType>> SameType(const NodeView& node) {
  return std::vector<ValueType>{node.input_type(0)};
}

absl::Status Twice(const KernelCall& call) {
  const auto x = call.inputs[0]->values<float>();
  const auto y = call.outputs[0].mutable_values<float>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Halide::Func>> LowerTwice(LoweringContext& context) {
  const std::vector<Halide::Var> at = FreshVars(context.output_types[0].rank());
  Halide::Func y("twice");
  y(at) = context.inputs[0](AsExprs(at)) * 2.0f;
  return std::vector<Halide::Func>{y};
}

OwnOperator MakeTwice(const std::string& name = "test.Twice", const std::string& revision = "1") {
  OperatorSchema schema;
  schema.name = name;
  schema.type_rule = SameType;
  schema.pattern = Pattern::kElementwise;
  return {schema, Twice, {LowerTwice, revision}};
}

class OwnOperatorTest : public ::testing::Test {
 protected:
  absl::StatusOr<CompiledModel> Compile(absl::string_view text,
                                        const std::vector<OwnOperator>& own_operators) {
    CompileEnvironment environment;
    environment.clock = &clock_;
    environment.kernel_cache = cache_.get();
    environment.own_operators = own_operators;
    ModelSource model;
    model.format = v1::MODEL_FORMAT_GRAPH_TEXT;
    model.files = {{"model.txt", Blob::Own(std::string(text))}};
    return CompileModel(model, *ParseTarget("x86-64-v3-linux"), {}, environment);
  }

  TempTree tree_;
  SystemClock clock_;
  std::unique_ptr<KernelCache> cache_ =
      FileKernelCache::Create({.folder = tree_.Path("kernels")}).value();
};

constexpr char kText[] = R"(
  graph "own" (%x: f32[4]) -> (%y) {
    %a = Exp(%x)
    %y = test.Twice(%a)
  })";

TEST_F(OwnOperatorTest, IsCompiledIntoTheKernelOfItsNeighbours) {
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, Compile(kText, {MakeTwice()}));
  EXPECT_EQ(model.report.kernels_compiled(), 1);
  // Nothing is left of it for the next compilation.
  EXPECT_THAT(Compile(kText, {}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("test.Twice")));
}

TEST_F(OwnOperatorTest, ItsKernelFoldsConstants) {
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, Compile(R"(
    graph "own" () -> (%y) {
      const %x: f32[2] = {1.5, -4}
      %y = test.Twice(%x)
    })",
                                                          {MakeTwice()}));
  EXPECT_EQ(model.report.kernels(), 0);
  const v1::Manifest& manifest = model.artifact.manifest().proto();
  ASSERT_EQ(manifest.constants_size(), 2);  // What y is, and the program's notes.
  EXPECT_EQ(manifest.constants(0).size_bytes(), 8);
}

TEST_F(OwnOperatorTest, ItsRevisionTellsKernelsApart) {
  ASSERT_OK(Compile(kText, {MakeTwice()}));
  ASSERT_OK_AND_ASSIGN(const CompiledModel again, Compile(kText, {MakeTwice()}));
  EXPECT_EQ(again.report.kernels_cached(), 1);
  ASSERT_OK_AND_ASSIGN(const CompiledModel changed, Compile(kText, {MakeTwice("test.Twice", "2")}));
  EXPECT_EQ(changed.report.kernels_compiled(), 1);
  // Kernels without it are nobody's business but Slipway's.
  constexpr char kOther[] = R"(graph "o" (%x: f32[4]) -> (%y) { %y = Exp(%x) })";
  ASSERT_OK(Compile(kOther, {MakeTwice()}));
  ASSERT_OK_AND_ASSIGN(const CompiledModel other, Compile(kOther, {MakeTwice("test.Twice", "2")}));
  EXPECT_EQ(other.report.kernels_cached(), 1);
}

TEST_F(OwnOperatorTest, ItsRevisionIsPartOfTheFingerprint) {
  const std::vector<OwnOperator> one = {MakeTwice("test.A"), MakeTwice("test.B")};
  const std::vector<OwnOperator> turned = {MakeTwice("test.B"), MakeTwice("test.A")};
  const std::vector<OwnOperator> changed = {MakeTwice("test.A"), MakeTwice("test.B", "2")};
  ASSERT_OK_AND_ASSIGN(const auto texts, FingerprintTexts(one));
  EXPECT_THAT(texts.at("x86-64-linux"), HasSubstr("\noperator test.A 1\noperator test.B 1\n"));
  const auto fingerprint = [](const std::vector<OwnOperator>& own) {
    return CompilerTargets(own)->front().fingerprint;
  };
  EXPECT_EQ(fingerprint(one), fingerprint(turned));
  EXPECT_NE(fingerprint(one), fingerprint(changed));
  EXPECT_NE(fingerprint(one), fingerprint({}));
}

TEST_F(OwnOperatorTest, WhatIsIncompleteIsRefused) {
  for (const char* name : {"Twice", "slipway.Twice", ""}) {
    EXPECT_THAT(Compile(kText, {MakeTwice(name)}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a name with a dot")));
  }
  EXPECT_THAT(Compile(kText, {MakeTwice("test.Twice", "")}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("\"test.Twice\""), HasSubstr("revision"))));
  OwnOperator own = MakeTwice();
  own.kernel = Kernel();
  EXPECT_THAT(Compile(kText, {own}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a kernel")));
  own = MakeTwice();
  own.lowering.lower = nullptr;
  EXPECT_THAT(Compile(kText, {own}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a lowering")));
  EXPECT_THAT(Compile(kText, {MakeTwice(), MakeTwice()}),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("test.Twice")));
}

}  // namespace
}  // namespace slipway
