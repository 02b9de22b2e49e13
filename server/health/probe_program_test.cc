#include "server/health/probe_program.h"

#include <bit>
#include <cstdint>
#include <vector>

#include "core/store/memory_blob_store.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;

// What the kernel computes, of numbers that have room for what it rounds.
std::vector<uint32_t> Expected() {
  std::vector<uint32_t> outputs;
  for (uint64_t i = 0; i < 512; ++i) {
    uint64_t hash = i;
    double number = 1;
    for (int round = 0; round < 2000; ++round) {
      hash = (hash * 1664525 + 1013904223) % (uint64_t{1} << 32);
      hash = hash ^ (hash / 8192);
      number =
          static_cast<double>(static_cast<float>(number / 2 + static_cast<double>(hash % 65536)));
    }
    outputs.push_back(static_cast<uint32_t>(hash) ^
                      std::bit_cast<uint32_t>(static_cast<float>(number)));
  }
  return outputs;
}

v1::RunResult Result(const std::vector<uint32_t>& outputs) {
  v1::RunResult result;
  const auto size = static_cast<int64_t>(outputs.size());
  *result.add_outputs() =
      ToInlineProto("y", Tensor::Of<uint32_t>({size}, absl::MakeConstSpan(outputs)));
  return result;
}

TEST(ProbeProgramTest, TakesWhatASoundDeviceGivesAndNothingElse) {
  std::vector<uint32_t> outputs = Expected();
  EXPECT_OK(CheckProbeOutputs(Result(outputs)));
  for (const size_t wrong : {size_t{0}, outputs.size() - 1}) {
    outputs[wrong] ^= 1u << 31;
    EXPECT_THAT(CheckProbeOutputs(Result(outputs)), StatusIs(absl::StatusCode::kDataLoss));
    outputs[wrong] ^= 1u << 31;
  }
  outputs.pop_back();
  EXPECT_THAT(CheckProbeOutputs(Result(outputs)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(CheckProbeOutputs({}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(ProbeProgramTest, ThereIsOneForEachArchitectureThatRunsNativeCode) {
  ASSERT_OK_AND_ASSIGN(const ProbePrograms programs, ProbePrograms::Create());
  MemoryBlobStore blobs;
  ASSERT_OK(programs.PutInto(blobs));
  ASSERT_OK(programs.PutInto(blobs));
  EXPECT_EQ(programs.digests().size(), 8u);
  EXPECT_THAT(blobs.FindMissing(programs.digests()), ::testing::IsEmpty());
  for (const char* device :
       {"x86-64-v4-linux", "x86-64-linux", "arm-64-linux", "arm-32-linux-neon", "riscv-64-linux"}) {
    const auto program = programs.For(*ParseTarget(device));
    ASSERT_TRUE(program.has_value()) << device;
    EXPECT_OK(CheckRunsOn(*ParseTarget(program->facts.target()), *ParseTarget(device)));
    EXPECT_THAT(blobs.FindMissing({*FromProto(program->run.manifest())}), ::testing::IsEmpty());
  }
  EXPECT_FALSE(programs.For(*ParseTarget("wasm-32-wasi")).has_value());
}

}  // namespace
}  // namespace slipway::server
