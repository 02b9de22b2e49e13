// Of machines whose driver knows no graphs: the library is loaded once in a process.
#include <gtest/gtest.h>

#include "core/runtime/drivers/cuda/cuda_library.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(OlderDriver, IsTakenWithoutGraphs) {
  ASSERT_OK_AND_ASSIGN(const CudaLibrary* cuda, CudaLibrary::Load());
  EXPECT_EQ(cuda->version, 11030);
  EXPECT_NE(cuda->LaunchKernel, nullptr);
  EXPECT_EQ(cuda->GraphLaunch, nullptr);
  EXPECT_EQ(cuda->StreamBeginCapture, nullptr);
}

}  // namespace
}  // namespace slipway
