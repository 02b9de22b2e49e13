#include "core/passes/plan_memory_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Kind = PlannedBuffer::Kind;

class PlanMemoryTest : public ::testing::Test {
 protected:
  void Plan(absl::string_view text) {
    ASSERT_OK_AND_ASSIGN(graph_, tester_.Parse(text));
    ASSERT_OK_AND_ASSIGN(plan_, PlanMemory(graph_, tester_.registry()));
    ASSERT_EQ(plan_.values.size(), graph_.values.size());
    ASSERT_EQ(plan_.outputs.size(), graph_.outputs.size());
  }
  int BufferOf(absl::string_view name) const {
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      if (graph_.values[id].name == name) return plan_.values[id].buffer;
    }
    return -2;
  }
  int64_t OffsetOf(absl::string_view name) const {
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      if (graph_.values[id].name == name) return plan_.values[id].offset;
    }
    return -2;
  }
  const PlannedBuffer& Buffer(absl::string_view name) const {
    return plan_.buffers[BufferOf(name)];
  }

  PassTester tester_;
  Graph graph_;
  MemoryPlan plan_;
};

TEST_F(PlanMemoryTest, ReusesTheArenaAlongAChain) {
  Plan(R"(
    graph "g" (%x: f32[100]) -> (%y) {
      %a = Relu(%x)
      %b = Exp(%a)
      %c = Neg(%b)
      %y = Abs(%c)
    })");
  EXPECT_EQ(Buffer("x").kind, Kind::kInput);
  EXPECT_EQ(Buffer("y").kind, Kind::kOutput);
  EXPECT_EQ(Buffer("x").size_bytes, 400);
  EXPECT_EQ(Buffer("a").kind, Kind::kArena);
  EXPECT_EQ(Buffer("a").size_bytes, 448);
  EXPECT_EQ(Buffer("a").arena_offset, Buffer("c").arena_offset);
  EXPECT_NE(Buffer("a").arena_offset, Buffer("b").arena_offset);
  EXPECT_EQ(plan_.arena_bytes, 896);
  EXPECT_EQ(plan_.arena_lower_bound_bytes, 896);
  EXPECT_FALSE(plan_.outputs[0].copy);
}

TEST_F(PlanMemoryTest, ViewsLieWhereTheirInputLies) {
  Plan(R"(
    graph "g" (%x: f32[4, 2]) -> (%y) {
      const %shape: i64[1] = {8}
      %a = Reshape(%x, %shape)
      %b = Relu(%a)
      %c = Reshape(%b, %shape)
      %d = Exp(%c)
      %y = Reshape(%d, %shape)
    })");
  EXPECT_EQ(BufferOf("a"), BufferOf("x"));
  EXPECT_EQ(BufferOf("c"), BufferOf("b"));
  EXPECT_EQ(Buffer("b").kind, Kind::kArena);
  // What the output is a view of is written straight into it.
  EXPECT_EQ(BufferOf("d"), BufferOf("y"));
  EXPECT_EQ(Buffer("d").kind, Kind::kOutput);
  EXPECT_FALSE(plan_.outputs[0].copy);
  // Only views read the shape.
  EXPECT_EQ(BufferOf("shape"), kNoBuffer);
}

// What is alive at one time on two devices shares no memory, and does not have to.
TEST_F(PlanMemoryTest, EachDeviceHasAnArenaOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(graph_, tester_.Parse(R"(
    graph "g" (%x: f32[100]) -> (%y) {
      %a = Relu(%x)
      %b = Neg(%a)
      const %c: f32[1] = {1}
      %d = Add(%b, %c)
      %y = Neg(%d)
    })"));
  std::vector<int> device_of;
  for (const Value& value : graph_.values) {
    device_of.push_back(value.name == "b" || value.name == "c" || value.name == "d" ? 1 : 0);
  }
  ASSERT_OK_AND_ASSIGN(plan_, PlanMemory(graph_, tester_.registry(), device_of));
  for (const char* name : {"x", "a", "y"}) EXPECT_EQ(Buffer(name).device, 0) << name;
  for (const char* name : {"b", "c", "d"}) EXPECT_EQ(Buffer(name).device, 1) << name;
  EXPECT_EQ(Buffer("c").kind, Kind::kConstant);
  EXPECT_EQ(Buffer("a").arena_offset, 0);
  EXPECT_EQ(Buffer("b").arena_offset + Buffer("d").arena_offset, 448);
  EXPECT_EQ(plan_.arena_bytes, 448);  // The host's.
}

TEST_F(PlanMemoryTest, OutputsThatAreSomethingElseAreCopied) {
  Plan(R"(
    graph "g" (%x: f32[4]) -> (%same, %y, %y, %k) {
      const %k: f32[4] = splat 1.0
      %same = Identity(%x)
      %y = Add(%x, %k)
    })");
  ASSERT_EQ(plan_.outputs.size(), 4u);
  EXPECT_TRUE(plan_.outputs[0].copy);
  EXPECT_FALSE(plan_.outputs[1].copy);
  EXPECT_TRUE(plan_.outputs[2].copy);
  EXPECT_TRUE(plan_.outputs[3].copy);
  for (int i = 0; i < 4; ++i) {
    const PlannedBuffer& buffer = plan_.buffers[plan_.outputs[i].buffer];
    EXPECT_EQ(buffer.kind, Kind::kOutput);
    EXPECT_EQ(buffer.index, i);
  }
  EXPECT_EQ(BufferOf("same"), BufferOf("x"));
  EXPECT_EQ(BufferOf("y"), plan_.outputs[1].buffer);
  EXPECT_EQ(Buffer("k").kind, Kind::kConstant);
  EXPECT_EQ(plan_.arena_bytes, 0);
}

TEST_F(PlanMemoryTest, AnOutputReadLaterKeepsItsBuffer) {
  Plan(R"(
    graph "g" (%x: f32[4]) -> (%a, %y) {
      %a = Relu(%x)
      %y = Exp(%a)
    })");
  EXPECT_EQ(BufferOf("a"), plan_.outputs[0].buffer);
  EXPECT_EQ(BufferOf("y"), plan_.outputs[1].buffer);
  EXPECT_EQ(plan_.arena_bytes, 0);
}

TEST_F(PlanMemoryTest, TensorsWithoutElementsHaveAPlaceToo) {
  Plan(R"(
    graph "g" (%x: f32[0]) -> (%y) {
      %a = Relu(%x)
      %y = Exp(%a)
    })");
  EXPECT_EQ(Buffer("a").kind, Kind::kArena);
  EXPECT_EQ(Buffer("a").size_bytes, 64);
}

TEST_F(PlanMemoryTest, InputsOfAConcatAreMadeInItsResult) {
  Plan(R"(
    graph "g" (%x: f32[1, 16, 2]) -> (%y) {
      const %shape: i64[3] = {1, 2, 16}
      %a = Relu(%x)
      %b = Exp(%x)
      %v = Reshape(%b, %shape)
      %w = Reshape(%a, %shape)
      %d = Neg(%w)
      %c = Concat(%v, %w, %d) {axis = 1}
      %y = Abs(%c)
    })");
  EXPECT_EQ(Buffer("c").kind, Kind::kArena);
  EXPECT_EQ(Buffer("c").size_bytes, 384);
  for (const char* name : {"a", "b", "v", "w", "d"}) EXPECT_EQ(BufferOf(name), BufferOf("c"));
  EXPECT_EQ(OffsetOf("b"), 0);
  EXPECT_EQ(OffsetOf("v"), 0);
  EXPECT_EQ(OffsetOf("a"), 128);
  EXPECT_EQ(OffsetOf("w"), 128);
  EXPECT_EQ(OffsetOf("d"), 256);
  EXPECT_EQ(plan_.arena_bytes, 384);
}

TEST_F(PlanMemoryTest, AConcatMayBeAnOutput) {
  Plan(R"(
    graph "g" (%x: f32[16]) -> (%y) {
      %a = Relu(%x)
      %b = Exp(%x)
      %y = Concat(%a, %b) {axis = 0}
    })");
  EXPECT_EQ(Buffer("a").kind, Kind::kOutput);
  EXPECT_EQ(OffsetOf("b"), 64);
  EXPECT_EQ(plan_.arena_bytes, 0);
  EXPECT_FALSE(plan_.outputs[0].copy);
}

TEST_F(PlanMemoryTest, PartsOfASplitLieInTheWhole) {
  Plan(R"(
    graph "g" (%x: f32[2, 16, 2]) -> (%y, %z) {
      const %shape: i64[2] = {16, 2}
      %a = Relu(%x)
      %b, %c = Split(%a) {axis = 0, num_outputs = 2}
      %v = Reshape(%c, %shape)
      %d = Neg(%b)
      %e = Exp(%c)
      %y = Concat(%d, %e) {axis = 0}
      %z = Abs(%v)
    })");
  for (const char* name : {"b", "c", "v"}) EXPECT_EQ(BufferOf(name), BufferOf("a"));
  EXPECT_EQ(OffsetOf("b"), 0);
  EXPECT_EQ(OffsetOf("c"), 128);
  EXPECT_EQ(OffsetOf("v"), 128);
  EXPECT_EQ(Buffer("d").kind, Kind::kOutput);
  EXPECT_EQ(plan_.arena_bytes, 256);
}

TEST_F(PlanMemoryTest, AWholeMayBeAPartItself) {
  Plan(R"(
    graph "g" (%x: f32[2, 16]) -> (%y, %z) {
      %a = Relu(%x)
      %b = Exp(%x)
      %c = Concat(%a, %b) {axis = 0}
      %d, %e = Split(%b) {axis = 0, num_outputs = 2}
      %y = Neg(%e)
      %z = Abs(%c)
    })");
  EXPECT_EQ(BufferOf("e"), BufferOf("c"));
  EXPECT_EQ(OffsetOf("d"), 128);
  EXPECT_EQ(OffsetOf("e"), 192);
}

TEST_F(PlanMemoryTest, RefusesInputsWithoutASize) {
  ASSERT_OK_AND_ASSIGN(graph_, tester_.Parse(R"(
    graph "g" (%x: f32[4], %unread: f32[?, 2]) -> (%y) { %y = Exp(%x) })"));
  EXPECT_THAT(PlanMemory(graph_, tester_.registry()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("value \"unread\" is f32[?, 2], whose size cannot be told")));
}

TEST_F(PlanMemoryTest, Dumps) {
  Plan(R"(
    graph "g" (%x: f32[4]) -> (%y) {
      const %k: f32[4] = splat 1.0
      %a = Add(%x, %k)
      %y = Exp(%a)
    })");
  EXPECT_EQ(DumpMemory(graph_, plan_),
            "arena 64 bytes, lower bound 64\n"
            "%x: input 0\n"
            "%k: constant\n"
            "%a: arena [0, 16)\n"
            "%y: output 0\n");
}

}  // namespace
}  // namespace slipway
