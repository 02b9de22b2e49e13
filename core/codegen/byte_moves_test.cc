#include "core/codegen/byte_moves.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/ExecutionEngine.h>
#include <llvm/ExecutionEngine/MCJIT.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

// Functions that copy and fill so many bytes.
std::string MovesOf(int64_t bytes) {
  return absl::StrCat(
      "declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)\n"
      "declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)\n"
      "define void @copy(i8* %to, i8* %from) {\n"
      "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %to, i8* %from, i64 ",
      bytes,
      ", i1 false)\n"
      "  ret void\n"
      "}\n"
      "define void @fill(i8* %to, i8 %value) {\n"
      "  call void @llvm.memset.p0i8.i64(i8* %to, i8 %value, i64 ",
      bytes,
      ", i1 false)\n"
      "  ret void\n"
      "}\n");
}

int CallsIn(const llvm::Module& module) {
  int calls = 0;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      calls += llvm::isa<llvm::CallInst>(instruction);
    }
  }
  return calls;
}

class ByteMovesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }

  std::unique_ptr<llvm::Module> Parse(const std::string& text) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context_);
    EXPECT_NE(module, nullptr) << error.getMessage().str();
    return module;
  }

  llvm::LLVMContext context_;
};

TEST_F(ByteMovesTest, MovesAllBytesAndNoOthers) {
  constexpr size_t kAround = 80;
  for (const unsigned vector_bytes : {16u, 32u, 64u}) {
    for (const int64_t bytes :
         {0, 1, 7, 15, 16, 63, 64, 65, 127, 896, 1088, 1089, 1151, 4096, 5003}) {
      std::unique_ptr<llvm::Module> module = Parse(MovesOf(bytes));
      WriteByteMoves(*module, vector_bytes);
      ASSERT_EQ(CallsIn(*module), 0) << bytes;
      ASSERT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << bytes;
      std::unique_ptr<llvm::ExecutionEngine> engine(
          llvm::EngineBuilder(std::move(module)).create());
      const auto copy =
          reinterpret_cast<void (*)(uint8_t*, const uint8_t*)>(engine->getFunctionAddress("copy"));
      const auto fill =
          reinterpret_cast<void (*)(uint8_t*, uint8_t)>(engine->getFunctionAddress("fill"));

      const size_t size = static_cast<size_t>(bytes);
      std::vector<uint8_t> from(size + 1);
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
      // Neither begins where vectors do.
      std::vector<uint8_t> to(size + 2 * kAround + 1, 0xee);
      std::vector<uint8_t> expected = to;
      copy(to.data() + kAround + 1, from.data() + 1);
      std::copy(from.begin() + 1, from.end(), expected.begin() + kAround + 1);
      EXPECT_EQ(to, expected) << bytes << " bytes by " << vector_bytes;

      fill(to.data() + kAround, 0x5a);
      std::fill_n(expected.begin() + kAround, size, 0x5a);
      EXPECT_EQ(to, expected) << bytes << " bytes by " << vector_bytes;
    }
  }
}

TEST_F(ByteMovesTest, WhatLengthIsNotKnownStays) {
  const std::unique_ptr<llvm::Module> module = Parse(R"(
    declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)
    define void @copy(i8* %to, i8* %from, i64 %bytes) {
      call void @llvm.memcpy.p0i8.p0i8.i64(i8* %to, i8* %from, i64 %bytes, i1 false)
      ret void
    })");
  WriteByteMoves(*module, 64);
  EXPECT_EQ(CallsIn(*module), 1);
}

TEST_F(ByteMovesTest, LongMovesAreLoops) {
  const std::unique_ptr<llvm::Module> module = Parse(MovesOf(1 << 20));
  WriteByteMoves(*module, 64);
  EXPECT_LT(module->getInstructionCount(), 200u);
}

}  // namespace
}  // namespace slipway
