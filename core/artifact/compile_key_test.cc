#include "core/artifact/compile_key.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Spec = v1::CompilationSpec;

const std::string kCompiler(64, 'c');

void AddFile(absl::string_view name, char digit, Spec& spec) {
  v1::ModelFile& file = *spec.mutable_model()->add_files();
  file.set_name(std::string(name));
  file.mutable_digest()->set_sha256(std::string(64, digit));
  file.mutable_digest()->set_size_bytes(10);
}

void AddInput(absl::string_view name, char digit, const std::vector<int64_t>& shape, Spec& spec) {
  v1::Tensor& input = *spec.mutable_options()->mutable_evaluation()->add_inputs();
  input.set_name(std::string(name));
  input.mutable_type()->set_dtype(v1::DATA_TYPE_FLOAT32);
  for (const int64_t extent : shape) input.mutable_type()->add_shape(extent);
  input.mutable_blob()->set_sha256(std::string(64, digit));
  input.mutable_blob()->set_size_bytes(24);
}

Spec TestSpec() {
  Spec spec;
  spec.mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
  AddFile("model.onnx", '1', spec);
  AddFile("a.bin", '2', spec);
  AddFile("b.bin", '3', spec);
  spec.mutable_target()->set_name("x86-64-v3-linux");
  v1::DimensionBinding& batch = *spec.mutable_options()->add_dimensions();
  batch.set_symbol("batch");
  batch.set_value(1);
  return spec;
}

TEST(CompileKey, EveryPartOfTheListCounts) {
  const std::vector<std::function<void(Spec&)>> changes = {
      [](Spec&) {},
      [](Spec& s) { s.mutable_model()->set_format(static_cast<v1::ModelFormat>(7)); },
      [](Spec& s) {
        s.mutable_model()->mutable_files(0)->mutable_digest()->set_sha256(std::string(64, '9'));
      },
      [](Spec& s) { s.mutable_model()->mutable_files(1)->set_name("c.bin"); },
      [](Spec& s) { s.mutable_model()->mutable_files()->RemoveLast(); },
      [](Spec& s) { s.mutable_target()->set_name("x86-64-v4-linux"); },
      [](Spec& s) { s.mutable_options()->mutable_dimensions(0)->set_value(2); },
      [](Spec& s) { s.mutable_options()->mutable_dimensions(0)->set_max(2); },
      [](Spec& s) { s.mutable_options()->mutable_dimensions(0)->set_max(3); },
      [](Spec& s) { s.mutable_options()->clear_dimensions(); },
      [](Spec& s) { s.mutable_options()->add_keep("*"); },
      [](Spec& s) {
        s.mutable_options()->add_keep("*");
        s.mutable_options()->add_keep("a");
      },
      [](Spec& s) { s.mutable_options()->add_without("*"); },
      [](Spec& s) { s.mutable_options()->set_observe(true); },
      [](Spec& s) { s.mutable_options()->add_ranges()->set_name("*"); },
      [](Spec& s) {
        s.mutable_options()->add_ranges()->set_name("*");
        s.mutable_options()->mutable_ranges(0)->set_least(-1);
      },
      [](Spec& s) {
        s.mutable_options()->add_ranges()->set_name("*");
        s.mutable_options()->mutable_ranges(0)->set_greatest(1);
      },
      [](Spec& s) { s.mutable_options()->set_schedules("*"); },
      [](Spec& s) { s.mutable_options()->set_precision(v1::PRECISION_BF16); },
      [](Spec& s) { s.mutable_options()->set_library_name("*"); },
      [](Spec& s) { s.mutable_options()->mutable_evaluation(); },
      [](Spec& s) {
        AddInput("x", '4', {2, 3}, s);
      },
      [](Spec& s) {
        AddInput("y", '4', {2, 3}, s);
      },
      [](Spec& s) {
        AddInput("x", '5', {2, 3}, s);
      },
      [](Spec& s) {
        AddInput("x", '4', {3, 2}, s);
      },
  };
  std::set<std::string> keys;
  for (const auto& change : changes) {
    Spec spec = TestSpec();
    change(spec);
    ASSERT_OK_AND_ASSIGN(const std::string key, CompileKey(spec, kCompiler));
    EXPECT_EQ(key.size(), 64u);
    keys.insert(key);
  }
  ASSERT_OK_AND_ASSIGN(const std::string other, CompileKey(TestSpec(), std::string(64, 'd')));
  keys.insert(other);
  EXPECT_EQ(keys.size(), changes.size() + 1);
}

TEST(CompileKey, NothingElseCounts) {
  ASSERT_OK_AND_ASSIGN(const std::string key, CompileKey(TestSpec(), kCompiler));
  Spec spec = TestSpec();
  spec.mutable_model()->set_display_name("resnet");
  spec.mutable_model()->mutable_files(0)->set_name("other.onnx");
  spec.mutable_model()->mutable_files()->SwapElements(1, 2);
  spec.mutable_options()->set_print_after("FuseOps");
  EXPECT_THAT(CompileKey(spec, kCompiler), IsOkAndHolds(key));
}

TEST(CompileKey, RefusesBadSpecifications) {
  Spec spec = TestSpec();
  spec.mutable_target()->set_name("host");
  EXPECT_THAT(CompileKey(spec, kCompiler), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CompileKey(Spec(), kCompiler),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no files")));
  EXPECT_THAT(CompileKey(TestSpec(), "short"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("fingerprint")));
  spec = TestSpec();
  AddFile("a.bin", '4', spec);
  EXPECT_THAT(CompileKey(spec, kCompiler), StatusIs(absl::StatusCode::kInvalidArgument,
                                                    HasSubstr("'a.bin' is in the model twice")));
}

}  // namespace
}  // namespace slipway
