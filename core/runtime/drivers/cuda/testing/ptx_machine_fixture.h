// Runs PTX that tests write on the libcuda without a GPU.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_FIXTURE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_FIXTURE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/runtime/drivers/cuda/cuda_library.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cuda_testing {

using Words = std::vector<uint32_t>;

inline uint32_t BitsOf(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

class PtxMachineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cuda_, CudaLibrary::Load());
    ASSERT_EQ(cuda_->DevicePrimaryCtxRetain(&context_, 0), kCudaSuccess);
    ASSERT_EQ(cuda_->CtxPushCurrent(context_), kCudaSuccess);
    ASSERT_EQ(cuda_->StreamCreate(&stream_, kCudaStreamNonBlocking), kCudaSuccess);
  }
  void TearDown() override {
    ASSERT_EQ(cuda_->StreamDestroy(stream_), kCudaSuccess);
    CUcontext context = nullptr;
    EXPECT_EQ(cuda_->CtxPopCurrent(&context), kCudaSuccess);
    EXPECT_EQ(cuda_->DevicePrimaryCtxRelease(0), kCudaSuccess);
  }

  // What a group of so many instances makes of a, b and out. %r0 is the instance's number; %a, %b and %out lead to the three.
  Words Run(const std::string& body, unsigned instances, Words a, Words b, Words out) {
    const std::string text = absl::StrCat(
        head_,
        "\n.visible .entry e(.param .u64 .ptr a,"
        ".param .u64 .ptr b, .param .u64 .ptr out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<40>;\n"
        ".reg .f32 %f<8>;\n.reg .b64 %rd<10>;\n.reg .b64 %a;\n.reg .b64 %b;\n.reg .b64 %out;\n"
        "mov.u32 %r0, %tid.x;\nld.param.u64 %a, [a];\nld.param.u64 %b, [b];\n"
        "ld.param.u64 %out, [out];\n",
        body, "ret;\n}\n");
    CUmodule module = nullptr;
    EXPECT_EQ(cuda_->ModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr), kCudaSuccess);
    CUfunction function = nullptr;
    EXPECT_EQ(cuda_->ModuleGetFunction(&function, module, "e"), kCudaSuccess);
    std::vector<CUdeviceptr> memory;
    for (const Words* words : {&a, &b, &out}) {
      memory.push_back(0);
      EXPECT_EQ(cuda_->MemAlloc(&memory.back(), 4 * words->size()), kCudaSuccess);
      EXPECT_EQ(cuda_->MemcpyHtoDAsync(memory.back(), words->data(), 4 * words->size(), stream_),
                kCudaSuccess);
    }
    void* parameters[] = {&memory[0], &memory[1], &memory[2]};
    EXPECT_EQ(cuda_->LaunchKernel(function, 1, 1, 1, instances, 1, 1, shared_bytes_, stream_,
                                  parameters, nullptr),
              kCudaSuccess);
    EXPECT_EQ(cuda_->MemcpyDtoHAsync(out.data(), memory[2], 4 * out.size(), stream_), kCudaSuccess);
    EXPECT_EQ(cuda_->StreamSynchronize(stream_), kCudaSuccess);
    for (const CUdeviceptr address : memory) EXPECT_EQ(cuda_->MemFree(address), kCudaSuccess);
    EXPECT_EQ(cuda_->ModuleUnload(module), kCudaSuccess);
    return out;
  }
  Words Run(const std::string& body, unsigned instances) {
    return Run(body, instances, Words(1), Words(1), Words(instances));
  }

  std::string head_ = ".version 7.0\n.target sm_80\n.address_size 64";
  unsigned shared_bytes_ = 0;  // Of a group, beyond what the body declares.
  const CudaLibrary* cuda_ = nullptr;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

// A text without the line, the which-th of its kind from 0 on.
inline std::string Without(const std::string& text, const std::string& line, int which) {
  size_t at = text.find(line);
  for (int i = 0; i < which; ++i) at = text.find(line, at + 1);
  std::string changed = text;
  return changed.erase(at, line.size());
}

// Two numbers of 16 bits a word, the first below.
inline Words Pairs(const std::vector<float>& values, uint16_t (*narrow)(float)) {
  Words words;
  for (size_t i = 0; i < values.size(); i += 2) {
    words.push_back(uint32_t{narrow(values[i + 1])} << 16 | narrow(values[i]));
  }
  return words;
}

// Small integers and eighths, so that products and sums are exact in every type.
inline std::vector<float> Numbers(size_t count, uint32_t seed) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back((static_cast<float>(seed >> 24) - 128) / 8);
  }
  return values;
}

}  // namespace slipway::cuda_testing

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_FIXTURE_H_
