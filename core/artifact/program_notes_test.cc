#include "core/artifact/program_notes.h"

#include <map>
#include <string>

#include "core/artifact/program_steps.h"
#include "core/artifact/test_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

v1::ProgramNotes::StepCost Cost(int64_t flops, int64_t bytes, int64_t constant_bytes) {
  v1::ProgramNotes::StepCost cost;
  cost.set_flops(flops);
  cost.set_bytes(bytes);
  cost.set_constant_bytes(constant_bytes);
  return cost;
}

// The test manifest, which has two steps and a constant, with these bytes behind it.
Artifact With(v1::Manifest manifest, const std::string& notes) {
  const auto get = [&](const Digest& digest) -> absl::StatusOr<Blob> {
    for (const std::string& bytes : {TestCode(), TestConstants(), notes}) {
      if (Digest::Of(bytes) == digest) return Blob::Own(bytes);
    }
    return absl::NotFoundError("no such blob");
  };
  absl::StatusOr<Artifact> artifact = Artifact::Create(std::move(manifest), get);
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  return *std::move(artifact);
}

Artifact With(const v1::ProgramNotes& notes) {
  v1::Manifest manifest = TestManifest();
  const std::string bytes = AddNotes(notes, manifest);
  return With(std::move(manifest), bytes);
}

Artifact WithBytes(const std::string& bytes) {
  v1::Manifest manifest = TestManifest();
  v1::Constant& constant = *manifest.add_constants();
  *constant.mutable_blob() = ToProto(Digest::Of(bytes));
  constant.set_size_bytes(static_cast<int64_t>(bytes.size()));
  return With(std::move(manifest), bytes);
}

TEST(ProgramNotesTest, CostsAreReadAsTheyWereWritten) {
  v1::ProgramNotes notes;
  *notes.add_steps() = Cost(100, 60, 20);
  notes.mutable_steps(0)->set_product_type(v1::DATA_TYPE_FLOAT32);
  notes.mutable_steps(0)->set_product_precision(v1::PRECISION_TF32);
  notes.add_steps();
  const Artifact artifact = With(notes);
  const StepCost cost{100, 60, 20, v1::DATA_TYPE_FLOAT32, v1::PRECISION_TF32};
  EXPECT_THAT(CostsOf(artifact), ElementsAre(Optional(cost), std::nullopt));
  const std::vector<StepInfo> steps = StepsOf(artifact);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(steps[0].cost, Optional(cost));
  EXPECT_EQ(steps[1].cost, std::nullopt);
}

TEST(ProgramNotesTest, ScratchIsToldOfEachKernel) {
  v1::ProgramNotes notes;
  const int kernels = static_cast<int>(TestManifest().code(0).kernel_count());
  for (int i = 0; i < kernels; ++i) notes.add_kernel_scratch_bytes(i == 0 ? -7 : 64 * i);
  std::vector<KernelScratch> wanted = {{-1, -1}};
  for (int i = 1; i < kernels; ++i) wanted.push_back({64 * i, -1});
  EXPECT_EQ(KernelScratchOf(With(notes)), wanted);
  EXPECT_FALSE(TellsTaskScratch(With(notes)));
  for (int i = 0; i < kernels; ++i) {
    notes.add_kernel_task_scratch_bytes(32 * i);
    wanted[static_cast<size_t>(i)].task = 32 * i;
  }
  EXPECT_EQ(KernelScratchOf(With(notes)), wanted);
  EXPECT_TRUE(TellsTaskScratch(With(notes)));
  notes.add_kernel_task_scratch_bytes(1);
  EXPECT_FALSE(TellsTaskScratch(With(notes))) << "of one kernel more than there are";
  EXPECT_EQ(KernelScratchOf(With(notes))[0], KernelScratch());
  notes.add_kernel_scratch_bytes(1);
  EXPECT_THAT(KernelScratchOf(With(notes)), IsEmpty()) << "of one kernel more than there are";
  EXPECT_THAT(KernelScratchOf(WithBytes("\xff\xff\xff")), IsEmpty());
  EXPECT_THAT(KernelScratchOf(With(TestManifest(), "")), IsEmpty());
}

TEST(ProgramNotesTest, AnArtifactOfBeforeHasNone) {
  const Artifact artifact = With(TestManifest(), "");
  EXPECT_THAT(CostsOf(artifact), IsEmpty());
  EXPECT_EQ(StepsOf(artifact)[0].cost, std::nullopt);
}

TEST(ProgramNotesTest, WhatDoesNotFitIsNone) {
  v1::ProgramNotes notes;
  *notes.add_steps() = Cost(1, 1, 1);
  EXPECT_THAT(CostsOf(With(notes)), IsEmpty()) << "one step of two";
  EXPECT_THAT(CostsOf(WithBytes("\xff\xff\xff")), IsEmpty()) << "no message";
  EXPECT_THAT(CostsOf(WithBytes("")), IsEmpty());
}

TEST(ProgramNotesTest, CostsThatCannotBeAreNone) {
  for (const v1::ProgramNotes::StepCost& cost : {Cost(-1, 2, 1), Cost(1, 1, 2), Cost(1, 1, -1)}) {
    v1::ProgramNotes notes;
    *notes.add_steps() = cost;
    *notes.add_steps() = Cost(0, 0, 0);
    EXPECT_THAT(CostsOf(With(notes)), ElementsAre(std::nullopt, Optional(StepCost{})))
        << cost.ShortDebugString();
  }
}

// What a later version adds is no reason to show nothing.
TEST(ProgramNotesTest, FieldsThatNobodyKnowsAreLeftAlone) {
  v1::ProgramNotes notes;
  *notes.add_steps() = Cost(1, 2, 1);
  *notes.add_steps() = Cost(3, 4, 1);
  std::string bytes = notes.SerializeAsString();
  bytes += "\xfa\x06\x01x";  // Field 111.
  EXPECT_THAT(CostsOf(WithBytes(bytes)),
              ElementsAre(Optional(StepCost{1, 2, 1}), Optional(StepCost{3, 4, 1})));
}

// The last constant of an artifact without notes may be any tensor.
TEST(ProgramNotesTest, AConstantThatABufferNamesIsNoNotes) {
  v1::ProgramNotes notes;
  *notes.add_steps() = Cost(1, 2, 1);
  *notes.add_steps() = Cost(3, 4, 1);
  v1::Manifest manifest = TestManifest();
  const std::string bytes = AddNotes(notes, manifest);
  for (v1::Buffer& buffer : *manifest.mutable_buffers()) {
    if (buffer.class_() != v1::Buffer::CLASS_CONSTANT) continue;
    buffer.set_constant(1);
    buffer.mutable_size()->set_constant(static_cast<int64_t>(bytes.size()));
  }
  for (v1::Value& value : *manifest.mutable_values()) {
    if (manifest.buffers(static_cast<int>(value.buffer())).class_() != v1::Buffer::CLASS_CONSTANT) {
      continue;
    }
    value.set_dtype(v1::DATA_TYPE_UINT8);
    value.mutable_shape(0)->set_value(static_cast<int64_t>(bytes.size()));
  }
  EXPECT_THAT(CostsOf(With(std::move(manifest), bytes)), IsEmpty());
}

}  // namespace
}  // namespace slipway
