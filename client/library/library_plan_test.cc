#include "client/library/library_plan.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/artifact.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = LibraryStep::Kind;

constexpr char kObject[] = "an object";
constexpr int64_t kRowBytes = 64;

// Loops with a body of one kernel, which carry a f32[16] from `x` on and collect it, for `turns` turns.
class Programs {
 public:
  explicit Programs(int64_t turns) {
    std::string bytes(sizeof(turns), '\0');
    std::memcpy(bytes.data(), &turns, sizeof(turns));
    turns_ = bytes;
    manifest_.set_format_version(2);
    manifest_.set_min_reader_abi(SLIPWAY_ABI_VERSION);
    manifest_.set_target("x86-64-linux");
    manifest_.add_devices()->set_target("x86-64-linux");
    v1::Code& code = *manifest_.add_code();
    code.set_kind(v1::Code::KIND_ELF_OBJECT);
    *code.mutable_blob() = ToProto(Digest::Of(kObject));
    code.set_kernel_count(1);
    v1::Constant& constant = *manifest_.add_constants();
    *constant.mutable_blob() = ToProto(Digest::Of(turns_));
    constant.set_size_bytes(sizeof(turns));

    v1::Function& body = *manifest_.add_functions();
    body.set_name("body");
    AddInput(body, Value(v1::DATA_TYPE_INT64, {}, v1::Buffer::CLASS_EXTERNAL));
    const uint32_t carried = Row(v1::Buffer::CLASS_EXTERNAL);
    AddInput(body, carried);
    const uint32_t made = Row(v1::Buffer::CLASS_STATIC, kRowBytes);
    v1::Step& step = *body.add_steps();
    step.set_name("kernel");
    step.mutable_kernel()->add_inputs(carried);
    step.mutable_kernel()->add_outputs(made);
    AddOutput(body, made);
    AddOutput(body, made);
    entry_ = manifest_.add_functions();
    entry_->set_name("main");
    manifest_.set_entry(1);
    limit_ = Value(v1::DATA_TYPE_INT64, {}, v1::Buffer::CLASS_CONSTANT);
    x_ = Row(v1::Buffer::CLASS_EXTERNAL);
    AddInput(*entry_, x_);
  }

  // Which collects so many rows.
  void AddLoop(int64_t rows, int64_t arena_offset = 0) {
    const uint32_t all =
        Value(v1::DATA_TYPE_FLOAT32, {rows, 16}, v1::Buffer::CLASS_EXTERNAL, rows * kRowBytes);
    v1::Step& step = *entry_->add_steps();
    step.set_name("turns");
    v1::Step::Loop& loop = *step.mutable_loop();
    loop.set_body(0);
    loop.set_max_turns(limit_);
    loop.add_initial(x_);
    loop.add_results(Row(v1::Buffer::CLASS_STATIC, arena_offset));
    loop.add_collected(all);
    AddOutput(*entry_, all);
  }

  absl::StatusOr<LibraryPlan> Plan() const {
    const absl::StatusOr<Artifact> artifact =
        Artifact::Create(manifest_, [this](const Digest& digest) -> absl::StatusOr<Blob> {
          return Blob::Own(digest == Digest::Of(kObject) ? std::string(kObject) : turns_);
        });
    if (!artifact.ok()) return absl::InternalError(artifact.status().message());
    return PlanLibrary(*artifact);
  }

 private:
  uint32_t Value(v1::DataType dtype, const std::vector<int64_t>& shape, v1::Buffer::Class kind,
                 int64_t bytes = sizeof(int64_t), int64_t arena_offset = 0) {
    v1::Buffer& buffer = *manifest_.add_buffers();
    buffer.set_class_(kind);
    buffer.mutable_size()->set_constant(bytes);
    buffer.set_arena_offset(arena_offset);
    v1::Value& value = *manifest_.add_values();
    value.set_dtype(dtype);
    for (const int64_t extent : shape) value.add_shape()->set_value(extent);
    value.set_buffer(static_cast<uint32_t>(manifest_.buffers_size()) - 1);
    return static_cast<uint32_t>(manifest_.values_size()) - 1;
  }
  uint32_t Row(v1::Buffer::Class kind, int64_t arena_offset = 0) {
    return Value(v1::DATA_TYPE_FLOAT32, {16}, kind, kRowBytes, arena_offset);
  }
  static void AddInput(v1::Function& function, uint32_t value) {
    v1::Binding& input = *function.add_inputs();
    input.set_name(absl::StrCat("input ", function.inputs_size()));
    input.set_value(value);
  }
  static void AddOutput(v1::Function& function, uint32_t value) {
    v1::Binding& output = *function.add_outputs();
    output.set_name(absl::StrCat("output ", function.outputs_size()));
    output.set_value(value);
  }

  v1::Manifest manifest_;
  v1::Function* entry_ = nullptr;
  std::string turns_;
  uint32_t limit_ = 0;
  uint32_t x_ = 0;
};

TEST(PlanLibraryTest, ABodyStandsWhereItIsRun) {
  Programs programs(3);
  programs.AddLoop(3);
  ASSERT_OK_AND_ASSIGN(const LibraryPlan plan, programs.Plan());
  std::vector<Kind> kinds;
  for (const LibraryStep& step : plan.steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::kCopy, Kind::kBegin, Kind::kWhile, Kind::kKernel,
                                 Kind::kPutSlice, Kind::kCopy, Kind::kNext));
  EXPECT_TRUE(plan.has_control);
  EXPECT_EQ(plan.steps[2].turns, 3);
  EXPECT_EQ(plan.steps[2].target, 7u);
  EXPECT_EQ(plan.steps[6].target, 2u);
  EXPECT_EQ(plan.steps[3].name, "body/kernel");
  // What the body takes lies where the loop's result is to be; the number of the turn behind the arena.
  const LibraryValue& carried = plan.values[plan.steps[3].arguments[0]];
  EXPECT_EQ(carried.place, LibraryValue::Place::kArena);
  EXPECT_EQ(carried.offset, plan.values[plan.steps[5].arguments[1]].offset);
  EXPECT_EQ(plan.values[plan.steps[1].arguments[0]].offset, 2 * kRowBytes);
  EXPECT_EQ(plan.arena_bytes, 3 * kRowBytes);
}

TEST(PlanLibraryTest, NoTurnsAreNone) {
  for (const int64_t turns : {int64_t{0}, int64_t{-5}}) {
    Programs programs(turns);
    programs.AddLoop(0);
    ASSERT_OK_AND_ASSIGN(const LibraryPlan plan, programs.Plan());
    EXPECT_EQ(plan.steps[2].turns, 0);
  }
}

TEST(PlanLibraryTest, WhatCannotBeFollowedIsRefusedByName) {
  Programs more(3);
  more.AddLoop(4);
  EXPECT_THAT(more.Plan(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("step \"turns\" collects 4 slices, but makes 3")));
  Programs twice(3);
  twice.AddLoop(3);
  twice.AddLoop(3, 2 * kRowBytes);
  EXPECT_THAT(twice.Plan(), StatusIs(absl::StatusCode::kUnimplemented,
                                     AllOf(HasSubstr("step \"turns\" runs a function"),
                                           HasSubstr("another one runs, too"))));
}

}  // namespace
}  // namespace slipway
