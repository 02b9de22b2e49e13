#include "core/compiler/kept_values.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using Code = absl::StatusCode;

constexpr char kModel[] = R"(
  graph "g" (%x: f32[2]) -> (%d) {
    const %k: f32[2] = {1.0, 2.0}
    %kk = Add(%k, %k)
    %a.1 = Relu(%x)
    %a.2 = Exp(%a.1)
    %b, %c = Split(%a.2) {num_outputs = 2}
    %d = Add(%a.2, %k)
  })";

absl::StatusOr<std::vector<std::string>> Keep(const std::vector<std::string>& patterns,
                                              absl::string_view text = kModel) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  const absl::Status status = KeepValues(patterns, *graph);
  if (!status.ok()) return status;
  std::vector<std::string> names;
  for (const ValueId id : graph->outputs) names.push_back(graph->values[id].name);
  return names;
}

TEST(KeepValues, KeepsWhatNodesMakeInTheirOrder) {
  ASSERT_OK_AND_ASSIGN(std::vector<std::string> outputs, Keep({}));
  EXPECT_THAT(outputs, ElementsAre("d"));
  ASSERT_OK_AND_ASSIGN(outputs, Keep({"c", "a.1"}));
  EXPECT_THAT(outputs, ElementsAre("d", "a.1", "c"));
  ASSERT_OK_AND_ASSIGN(outputs, Keep({"a.*", "a.2"}));
  EXPECT_THAT(outputs, ElementsAre("d", "a.1", "a.2"));
  ASSERT_OK_AND_ASSIGN(outputs, Keep({"*"}));
  EXPECT_THAT(outputs, ElementsAre("d", "a.1", "a.2", "b", "c"));
}

TEST(KeepValues, NamesWhatNothingMatches) {
  for (const std::string name : {"x", "k", "kk", "a", "A.1", ""}) {
    EXPECT_THAT(Keep({"a.1", name}),
                StatusIs(Code::kInvalidArgument,
                         absl::StrCat("nothing that the model computes of its inputs is called \"",
                                      name, "\", which should be kept")));
  }
}

TEST(KeepValues, AProgramCannotHaveAnyNumberOfOutputs) {
  std::string text = "graph \"g\" (%v0: f32[2]) -> (%v1024) {\n";
  for (int i = 1; i <= 1024; ++i) absl::StrAppend(&text, "%v", i, " = Relu(%v", i - 1, ")\n");
  EXPECT_OK(Keep({"*"}, text + "}").status());
  EXPECT_THAT(Keep({"*"}, text + "%more = Relu(%v0)\n}"),
              StatusIs(Code::kResourceExhausted,
                       "with the values that are kept the program has 1025 outputs, more than the "
                       "limit of 1024; keep fewer at a time"));
}

}  // namespace
}  // namespace slipway
