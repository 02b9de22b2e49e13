#include "core/passes/complete_outputs_pass.h"

#include "core/graph/verifier.h"
#include "core/passes/testing/pass_tester.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

TEST(CompleteOutputs, ListsWhatNobodyReads) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[5, 2], %s: f32[2]) -> (%all) {
      _, %all = Scan(%s, %x) {num_scan_inputs = 1, body = graph "b" (%state, %slice) -> (%next, %out) {
        %next = Add(%state, %slice)
        %out = Relu(%next)
      }}
    })"));
  ASSERT_OK_AND_ASSIGN(const Graph complete, CompleteOutputs(graph, tester.context()));
  ASSERT_EQ(complete.nodes[0].outputs.size(), 2);
  ASSERT_NE(complete.nodes[0].outputs[0], kNoValue);
  EXPECT_EQ(ToString(*complete.values[complete.nodes[0].outputs[0]].type), "f32[2]");
  EXPECT_OK(Verify(complete, tester.registry(), {.require_types = true}));
  EXPECT_OK(tester.CheckSameResults(graph, complete, 3));
}

}  // namespace
}  // namespace slipway
