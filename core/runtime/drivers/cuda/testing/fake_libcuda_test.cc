// That the fake ends a process that does what no caller may: a driver's test over it can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/runtime/drivers/cuda/cuda_library.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

constexpr char kText[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".entry two(.param .u64 .ptr a, .param .u64 .ptr b, .param .u64 n) { ret; }\n";

class FakeLibcudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cuda_, CudaLibrary::Load());
    ASSERT_EQ(cuda_->DevicePrimaryCtxRetain(&context_, 0), kCudaSuccess);
    ASSERT_EQ(cuda_->CtxPushCurrent(context_), kCudaSuccess);
  }
  void TearDown() override {
    CUcontext context = nullptr;
    EXPECT_EQ(cuda_->CtxPopCurrent(&context), kCudaSuccess);
    EXPECT_EQ(context, context_);
    EXPECT_EQ(cuda_->DevicePrimaryCtxRelease(0), kCudaSuccess);
  }

  const CudaLibrary* cuda_ = nullptr;
  CUcontext context_ = nullptr;
};

TEST_F(FakeLibcudaTest, MemoryIsFreedOnceAndNotUsedAfterwards) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuda_->MemAlloc(&memory, 64), kCudaSuccess);
  CUstream stream = nullptr;
  ASSERT_EQ(cuda_->StreamCreate(&stream, kCudaStreamNonBlocking), kCudaSuccess);
  std::vector<char> bytes(65);
  EXPECT_DEATH(cuda_->MemcpyDtoHAsync(bytes.data(), memory, 65, stream), "65 bytes are not");
  EXPECT_DEATH(
      {
        cuda_->MemcpyHtoDAsync(memory, bytes.data(), 64, stream);
        cuda_->MemFree(memory);
      },
      "queued work uses");
  ASSERT_EQ(cuda_->MemFree(memory), kCudaSuccess);
  EXPECT_DEATH(cuda_->MemFree(memory), "no such memory");
  EXPECT_DEATH(cuda_->MemcpyHtoDAsync(memory, bytes.data(), 1, stream), "not allocated");
  ASSERT_EQ(cuda_->StreamDestroy(stream), kCudaSuccess);
  EXPECT_DEATH(cuda_->StreamSynchronize(stream), "not there");
}

TEST_F(FakeLibcudaTest, ContextsAreCurrentAndAlive) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuda_->DevicePrimaryCtxRetain(&other, 1), kCudaSuccess);
  ASSERT_EQ(cuda_->CtxPushCurrent(other), kCudaSuccess);
  CUevent event = nullptr;
  ASSERT_EQ(cuda_->EventCreate(&event, 0), kCudaSuccess);
  ASSERT_EQ(cuda_->CtxPopCurrent(&other), kCudaSuccess);
  EXPECT_DEATH(cuda_->EventDestroy(event), "another context");
  EXPECT_DEATH(cuda_->DevicePrimaryCtxRelease(1), "before its events");
  ASSERT_EQ(cuda_->CtxPushCurrent(other), kCudaSuccess);
  ASSERT_EQ(cuda_->EventDestroy(event), kCudaSuccess);
  ASSERT_EQ(cuda_->CtxPopCurrent(&other), kCudaSuccess);
  ASSERT_EQ(cuda_->DevicePrimaryCtxRelease(1), kCudaSuccess);
  EXPECT_DEATH(cuda_->DevicePrimaryCtxRelease(1), "twice");
  EXPECT_DEATH(cuda_->CtxPushCurrent(other), "destroyed context");
  EXPECT_DEATH(
      {
        cuda_->CtxPopCurrent(&other);
        cuda_->EventCreate(&event, 0);
      },
      "cuEventCreate without a current context");
}

TEST_F(FakeLibcudaTest, LaunchesGetPointersToMemory) {
  CUmodule module = nullptr;
  ASSERT_EQ(cuda_->ModuleLoadDataEx(&module, kText, 0, nullptr, nullptr), kCudaSuccess);
  CUfunction function = nullptr;
  ASSERT_EQ(cuda_->ModuleGetFunction(&function, module, "two"), kCudaSuccess);
  CUstream stream = nullptr;
  ASSERT_EQ(cuda_->StreamCreate(&stream, kCudaStreamNonBlocking), kCudaSuccess);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuda_->MemAlloc(&memory, 64), kCudaSuccess);
  int64_t count = 1;
  int64_t wrong = 17;
  void* parameters[] = {&memory, &memory, &count};
  const auto launch = [&] {
    return cuda_->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  };
  ASSERT_EQ(launch(), kCudaSuccess);
  EXPECT_DEATH(cuda_->ModuleUnload(module), "queued work uses it");
  EXPECT_DEATH(cuda_->MemFree(memory), "queued work uses");
  parameters[1] = &wrong;
  EXPECT_DEATH(launch(), "two: 1 bytes are not allocated");
  ASSERT_EQ(cuda_->StreamSynchronize(stream), kCudaSuccess);
  ASSERT_EQ(cuda_->ModuleUnload(module), kCudaSuccess);
  ASSERT_EQ(cuda_->MemFree(memory), kCudaSuccess);
  ASSERT_EQ(cuda_->StreamDestroy(stream), kCudaSuccess);
}

TEST_F(FakeLibcudaTest, TimesAreOfEventsThatHaveHappened) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuda_->StreamCreate(&stream, kCudaStreamNonBlocking), kCudaSuccess);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuda_->MemAlloc(&memory, 64), kCudaSuccess);
  CUevent from = nullptr;
  CUevent to = nullptr;
  CUevent without = nullptr;
  ASSERT_EQ(cuda_->EventCreate(&from, 0), kCudaSuccess);
  ASSERT_EQ(cuda_->EventCreate(&to, 0), kCudaSuccess);
  ASSERT_EQ(cuda_->EventCreate(&without, kCudaEventDisableTiming), kCudaSuccess);
  float milliseconds = 0;
  ASSERT_EQ(cuda_->EventRecord(from, stream), kCudaSuccess);
  EXPECT_DEATH(cuda_->EventElapsedTime(&milliseconds, from, to), "not recorded");
  EXPECT_DEATH(cuda_->EventElapsedTime(&milliseconds, from, without), "made without");
  const uint32_t number = 7;
  ASSERT_EQ(cuda_->MemcpyHtoDAsync(memory, &number, 4, stream), kCudaSuccess);
  ASSERT_EQ(cuda_->EventRecord(to, stream), kCudaSuccess);
  EXPECT_DEATH(cuda_->EventElapsedTime(&milliseconds, from, to), "not happened");
  ASSERT_EQ(cuda_->EventSynchronize(to), kCudaSuccess);
  ASSERT_EQ(cuda_->EventElapsedTime(&milliseconds, from, to), kCudaSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 0.001F);
  for (const CUevent event : {from, to, without}) {
    ASSERT_EQ(cuda_->EventDestroy(event), kCudaSuccess);
  }
  ASSERT_EQ(cuda_->MemFree(memory), kCudaSuccess);
  ASSERT_EQ(cuda_->StreamDestroy(stream), kCudaSuccess);
}

TEST_F(FakeLibcudaTest, GraphsDoWhatWasCapturedWithWhatIsThere) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuda_->StreamCreate(&stream, kCudaStreamNonBlocking), kCudaSuccess);
  CUdeviceptr from = 0;
  CUdeviceptr to = 0;
  ASSERT_EQ(cuda_->MemAlloc(&from, 64), kCudaSuccess);
  ASSERT_EQ(cuda_->MemAlloc(&to, 64), kCudaSuccess);
  uint32_t number = 7;
  ASSERT_EQ(cuda_->MemcpyHtoDAsync(from, &number, 4, stream), kCudaSuccess);
  CUgraph graph = nullptr;
  EXPECT_DEATH(cuda_->StreamEndCapture(stream, &graph), "did not begin");
  ASSERT_EQ(cuda_->StreamBeginCapture(stream, kCudaCaptureThreadLocal), kCudaSuccess);
  ASSERT_EQ(cuda_->MemcpyDtoDAsync(to, from, 4, stream), kCudaSuccess);
  CUdeviceptr more = 0;
  EXPECT_DEATH(cuda_->MemAlloc(&more, 64), "cuMemAlloc_v2 while a stream captures");
  EXPECT_DEATH(cuda_->StreamSynchronize(stream), "cuStreamSynchronize while a stream captures");
  ASSERT_EQ(cuda_->StreamEndCapture(stream, &graph), kCudaSuccess);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuda_->GraphInstantiate(&exec, graph, 0), kCudaSuccess);
  ASSERT_EQ(cuda_->GraphDestroy(graph), kCudaSuccess);
  EXPECT_DEATH(cuda_->GraphInstantiate(&exec, graph, 0), "not there");
  // What is captured is not done, until the graph is launched, and then each time.
  const auto read = [&] {
    EXPECT_EQ(cuda_->MemcpyDtoHAsync(&number, to, 4, stream), kCudaSuccess);
    return number;
  };
  EXPECT_NE(read(), 7u);
  for (const uint32_t value : {7, 8}) {
    ASSERT_EQ(cuda_->MemcpyHtoDAsync(from, &value, 4, stream), kCudaSuccess);
    ASSERT_EQ(cuda_->GraphLaunch(exec, stream), kCudaSuccess);
    EXPECT_EQ(read(), value);
  }
  ASSERT_EQ(cuda_->MemFree(to), kCudaSuccess);
  EXPECT_DEATH(cuda_->GraphLaunch(exec, stream), "4 bytes are not allocated");
  ASSERT_EQ(cuda_->MemFree(from), kCudaSuccess);
  ASSERT_EQ(cuda_->StreamDestroy(stream), kCudaSuccess);
  EXPECT_DEATH(cuda_->DevicePrimaryCtxRelease(0), "before its graphs");
  ASSERT_EQ(cuda_->GraphExecDestroy(exec), kCudaSuccess);
  EXPECT_DEATH(cuda_->GraphExecDestroy(exec), "not there");
}

}  // namespace
}  // namespace slipway
