#include "core/passes/merge_transposes_pass.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

TEST(MergeTransposes, WhatUndoesTheOtherIsAView) {
  const PassTester tester;
  EXPECT_OK(tester.Check(MergeTransposes, R"(
    graph "g" (%x: f32[1, 12, 4]) -> (%y) {
      const %image: i64[4] = {1, 4, 3, 4}
      const %rows: i64[3] = {1, 4, 12}
      %a = Transpose(%x) {perm = [0, 2, 1]}
      %b = Reshape(%a, %image)
      %c = Reshape(%b, %rows)
      %y = Transpose "y" (%c) {perm = [0, 2, 1]}
    })",
                         R"(
    graph "g" (%x: f32[1, 12, 4]) -> (%y) {
      const %y_shape: i64[3] = {1, 12, 4}
      %y = Reshape "y" (%x, %y_shape)
    })"));
}

// Rows of channels become an image in blocks, and back.
TEST(MergeTransposes, CutsDimensionsWhereViewsDo) {
  const PassTester tester;
  EXPECT_OK(tester.Check(MergeTransposes, R"(
    graph "g" (%x: f32[2, 12, 8]) -> (%y, %z) {
      const %image: i64[4] = {2, 8, 3, 4}
      const %rows: i64[3] = {2, 8, 12}
      %a = Transpose(%x) {perm = [0, 2, 1]}
      %b = Reshape(%a, %image)
      %p = slipway.Pack(%b) {block = 4}
      %y = Relu "r" (%p)
      %u = slipway.Unpack(%y) {block = 4}
      %c = Reshape(%u, %rows)
      %z = Transpose "z" (%c) {perm = [0, 2, 1]}
    })",
                         R"(
    graph "g" (%x: f32[2, 12, 8]) -> (%y, %z) {
      const %p_cut_shape: i64[4] = {2, 12, 2, 4}
      const %r_shape: i64[5] = {2, 2, 3, 4, 4}
      const %z_cut_shape: i64[4] = {2, 2, 12, 4}
      const %z_shape: i64[3] = {2, 12, 8}
      %p_cut = Reshape "p_cut" (%x, %p_cut_shape)
      %p_turned = Transpose "p_turned" (%p_cut) {perm = [0, 2, 1, 3]}
      %r = Relu "r" (%p_turned)
      %y = Reshape "r" (%r, %r_shape)
      %z_cut = Reshape "z_cut" (%y, %z_cut_shape)
      %z_turned = Transpose "z_turned" (%z_cut) {perm = [0, 2, 1, 3]}
      %z = Reshape "z" (%z_turned, %z_shape)
    })"));
}

TEST(MergeTransposes, LeavesWhatHasNoCommonCutsAndOpenExtents) {
  const PassTester tester;
  const auto stays = [&tester](const char* graph) {
    return tester.Check(MergeTransposes, graph, graph);
  };
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %shape: i64[2] = {2, 3}
      %a = Transpose "a" (%x) {perm = [1, 0]}
      %b = Reshape "b" (%a, %shape)
      %y = Transpose "y" (%b) {perm = [1, 0]}
    })"));
  ASSERT_OK_AND_ASSIGN(Graph open, tester.Parse(R"(
    graph "g" [n in 1..4] (%x: f32[n, 3]) -> (%y) {
      %a = Transpose "a" (%x) {perm = [1, 0]}
      %y = Transpose "y" (%a) {perm = [1, 0]}
    })"));
  ASSERT_OK_AND_ASSIGN(open, MergeTransposes(std::move(open), tester.context()));
  EXPECT_EQ(open.nodes.size(), 2u);
}

}  // namespace
}  // namespace slipway
