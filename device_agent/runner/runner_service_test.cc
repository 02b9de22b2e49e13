#include "device_agent/runner/runner_service.h"

#include <string>

#include "core/runtime/test_programs/test_programs.h"
#include "core/store/memory_blob_store.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

class RunnerServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    for (const Digest& digest : artifact.manifest().blobs()) {
      ASSERT_OK(store_.Put(digest, artifact.blob(digest).bytes()));
    }
    manifest_ = artifact.manifest().bytes();
  }
  runner::Response Load() {
    runner::Request request;
    request.mutable_load()->set_manifest(manifest_);
    request.mutable_load()->set_threads(1);
    request.mutable_load()->set_scratch_bytes(1 << 20);
    return service_.Handle(request);
  }
  runner::Response Put(uint64_t handle) {
    runner::Request request;
    request.mutable_put()->set_handle(handle);
    *request.mutable_put()->mutable_tensor() =
        ToInlineProto("x", Tensor::Zeros(DataType::kFloat32, {2, 8}));
    return service_.Handle(request);
  }
  runner::Response Call(uint64_t input, uint64_t output) {
    runner::Request request;
    request.mutable_call()->add_inputs(input);
    request.mutable_call()->add_outputs(output);
    return service_.Handle(request);
  }
  runner::Response Fetch(uint64_t handle, int64_t max_inline_bytes) {
    runner::Request request;
    request.mutable_fetch()->set_handle(handle);
    request.mutable_fetch()->set_name("y");
    request.mutable_fetch()->set_max_inline_bytes(max_inline_bytes);
    return service_.Handle(request);
  }

  MemoryBlobStore store_;
  std::string manifest_;
  RunnerService service_{store_};
};

TEST_F(RunnerServiceTest, LoadsCallsAndFetches) {
  ASSERT_EQ(Load().code(), 0);
  ASSERT_EQ(Put(5).code(), 0);
  ASSERT_EQ(Call(5, 6).code(), 0);
  // An output is an input of the next call without leaving the runner.
  ASSERT_EQ(Call(6, 7).code(), 0);
  const runner::Response fetched = Fetch(7, 1 << 20);
  ASSERT_EQ(fetched.code(), 0) << fetched.message();
  ASSERT_OK_AND_ASSIGN(const Tensor y, FromProto(fetched.tensor(), [](const Digest&) {
                         return absl::StatusOr<Blob>(absl::NotFoundError(""));
                       }));
  EXPECT_EQ(y.values<float>()[7], 14.0f);
  // As a blob, where there is no room for it inline.
  const runner::Response blob = Fetch(7, 0);
  ASSERT_TRUE(blob.tensor().has_blob());
  ASSERT_OK_AND_ASSIGN(const Tensor same, FromProto(blob.tensor(), [this](const Digest& digest) {
                         return store_.Get(digest);
                       }));
  EXPECT_EQ(same.bytes(), y.bytes());
}

TEST_F(RunnerServiceTest, MistakesAreNamed) {
  EXPECT_THAT(service_.Handle({}).message(), HasSubstr("no known kind"));
  EXPECT_THAT(Call(1, 2).message(), HasSubstr("no program is loaded"));
  ASSERT_EQ(Load().code(), 0);
  EXPECT_THAT(Call(1, 2).message(), HasSubstr("no tensor has handle 1"));
  EXPECT_THAT(Fetch(3, 0).message(), HasSubstr("no tensor has handle 3"));
  manifest_ = "garbage";
  EXPECT_EQ(Load().code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
}

TEST_F(RunnerServiceTest, UnloadDropsEverything) {
  ASSERT_EQ(Load().code(), 0);
  ASSERT_EQ(Put(1).code(), 0);
  runner::Request unload;
  unload.mutable_unload();
  ASSERT_EQ(service_.Handle(unload).code(), 0);
  EXPECT_NE(Fetch(1, 0).code(), 0);
  EXPECT_NE(Call(1, 2).code(), 0);
}

TEST_F(RunnerServiceTest, MissingBlobsAreNamed) {
  const Artifact program = TestProgram(TestKernel::kAdd);
  for (const Digest& digest : program.manifest().blobs()) {
    ASSERT_OK(store_.Remove(digest));
  }
  EXPECT_EQ(Load().code(), static_cast<int>(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace slipway
