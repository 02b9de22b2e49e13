#include "core/codegen/tile_instructions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstdint>
#include <vector>

namespace slipway {
namespace {

// Registers' shapes, as the instruction that takes them has them in memory.
llvm::Constant* Shapes(llvm::Module& module, int rows, int steps) {
  constexpr int kBytes = 64;
  constexpr int kRowBytesAt = 16;
  constexpr int kRowsAt = 48;
  std::array<uint8_t, kBytes> shapes = {};
  shapes[0] = 1;  // The palette.
  for (int i = 0; i < kTileRegisters; ++i) {
    const bool is_left = i >= LeftRegister(0) && i < RightRegister(0);
    shapes[kRowBytesAt + 2 * i] =
        static_cast<uint8_t>(is_left ? steps * kTileStepBytes : kTileRowBytes);
    shapes[kRowsAt + i] = static_cast<uint8_t>(i < RightRegister(0) ? rows : steps);
  }
  llvm::Constant* const value = llvm::ConstantDataArray::get(module.getContext(), shapes);
  auto* const global =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, value, "tile_shapes");
  global->setAlignment(llvm::Align(kBytes));
  return global;
}

// Puts what a call of the pass's stands for in its place.
void WriteInstruction(llvm::Module& module, llvm::CallInst& call, llvm::StringRef name) {
  llvm::IRBuilder<> at(&call);
  const auto number = [&call](unsigned argument) {
    return static_cast<int>(
        llvm::cast<llvm::ConstantInt>(call.getArgOperand(argument))->getSExtValue());
  };
  const auto tile = [&](unsigned argument) {
    return at.getInt8(static_cast<uint8_t>(number(argument)));
  };
  // A base and bytes from there.
  const auto address = [&](unsigned argument) {
    llvm::Value* const base = at.CreatePointerCast(call.getArgOperand(argument), at.getInt8PtrTy());
    return at.CreateGEP(at.getInt8Ty(), base, call.getArgOperand(argument + 1));
  };
  const auto make = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments,
                        llvm::ArrayRef<llvm::Type*> types = {}) {
    at.CreateCall(llvm::Intrinsic::getDeclaration(&module, id, types), arguments);
  };
  if (name == kTileConfigure) {
    make(llvm::Intrinsic::x86_ldtilecfg,
         {at.CreatePointerCast(Shapes(module, number(0), number(1)), at.getInt8PtrTy())});
  } else if (name == kTileZero) {
    make(llvm::Intrinsic::x86_tilezero, {tile(0)});
  } else if (name == kTileLoad) {
    make(llvm::Intrinsic::x86_tileloadd64, {tile(0), address(1), call.getArgOperand(3)});
  } else if (name == kTileMultiplyBfloat16) {
    make(llvm::Intrinsic::x86_tdpbf16ps, {tile(0), tile(1), tile(2)});
  } else if (name == kTileMultiplyBytes) {
    make(llvm::Intrinsic::x86_tdpbusd, {tile(0), tile(1), tile(2)});
  } else if (name == kTileStore) {
    make(llvm::Intrinsic::x86_tilestored64, {tile(0), address(1), call.getArgOperand(3)});
  } else if (name == kTileRelease) {
    make(llvm::Intrinsic::x86_tilerelease, {});
  } else {
    return;
  }
  call.replaceAllUsesWith(llvm::UndefValue::get(call.getType()));
  call.eraseFromParent();
}

}  // namespace

void WriteTileInstructions(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr) calls.push_back(call);
    }
  }
  for (llvm::CallInst* const call : calls) {
    WriteInstruction(module, *call, call->getCalledFunction()->getName());
  }
}

}  // namespace slipway
