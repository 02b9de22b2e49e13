#include "core/codegen/byte_moves.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>
#include <vector>

namespace slipway {
namespace {

// Vectors moved one after the other, without a loop, and in each of its turns: as many loads at once as keep the caches busy.
constexpr uint64_t kStraight = 16;
constexpr uint64_t kOfTurn = 8;

// A copy or a fill of so many bytes.
class Move {
 public:
  Move(llvm::MemIntrinsic& call, unsigned vector_bytes)
      : call_(call),
        copy_(llvm::dyn_cast<llvm::MemCpyInst>(&call)),
        vector_bytes_(vector_bytes),
        at_(&call) {
    llvm::PointerType* const bytes = at_.getInt8PtrTy(call.getDestAddressSpace());
    to_ = at_.CreatePointerCast(call.getRawDest(), bytes);
    if (copy_ != nullptr) {
      from_ = at_.CreatePointerCast(copy_->getRawSource(),
                                    at_.getInt8PtrTy(copy_->getSourceAddressSpace()));
    } else {
      filler_ = llvm::cast<llvm::MemSetInst>(call).getValue();
    }
  }

  void Write(uint64_t bytes) {
    const uint64_t vectors = bytes / vector_bytes_;
    uint64_t in_loop = 0;
    if (vectors > kStraight) {
      in_loop = vectors / kOfTurn * kOfTurn;
      WriteLoop(in_loop * vector_bytes_);
    }
    WriteStraight(at_.getInt64(in_loop * vector_bytes_), vectors - in_loop);
    uint64_t done = vectors * vector_bytes_;
    for (unsigned piece = vector_bytes_ / 2; piece > 0; piece /= 2) {
      if ((bytes - done) / piece == 0) continue;
      MovePiece(at_.getInt64(done), piece);
      done += piece;
    }
    call_.eraseFromParent();
  }

 private:
  // The call is then at the end of the block behind the loop.
  void WriteLoop(uint64_t bytes) {
    llvm::BasicBlock* const before = call_.getParent();
    llvm::BasicBlock* const behind = llvm::SplitBlock(before, &call_);
    llvm::BasicBlock* const turn =
        llvm::BasicBlock::Create(call_.getContext(), "move", before->getParent(), behind);
    before->getTerminator()->setSuccessor(0, turn);
    at_.SetInsertPoint(turn);
    llvm::PHINode* const place = at_.CreatePHI(at_.getInt64Ty(), 2);
    WriteStraight(place, kOfTurn);
    llvm::Value* const next = at_.CreateAdd(place, at_.getInt64(kOfTurn * vector_bytes_));
    at_.CreateCondBr(at_.CreateICmpULT(next, at_.getInt64(bytes)), turn, behind);
    place->addIncoming(at_.getInt64(0), before);
    place->addIncoming(next, turn);
    at_.SetInsertPoint(&call_);
  }

  // From a place on.
  void WriteStraight(llvm::Value* place, uint64_t vectors) {
    for (uint64_t i = 0; i < vectors; ++i) {
      MovePiece(at_.CreateAdd(place, at_.getInt64(i * vector_bytes_)), vector_bytes_);
    }
  }

  void MovePiece(llvm::Value* place, unsigned bytes) {
    llvm::Type* const type =
        bytes == 1 ? at_.getInt8Ty()
                   : static_cast<llvm::Type*>(llvm::FixedVectorType::get(at_.getInt8Ty(), bytes));
    const auto at_place = [&](llvm::Value* base) {
      llvm::Value* const address = at_.CreateInBoundsGEP(at_.getInt8Ty(), base, place);
      return at_.CreatePointerCast(
          address, llvm::PointerType::get(type, base->getType()->getPointerAddressSpace()));
    };
    llvm::Value* value = filler_;
    if (copy_ != nullptr) {
      value = at_.CreateAlignedLoad(type, at_place(from_), llvm::Align(1));
    } else if (bytes > 1) {
      value = at_.CreateVectorSplat(bytes, filler_);
    }
    at_.CreateAlignedStore(value, at_place(to_), llvm::Align(1));
  }

  llvm::MemIntrinsic& call_;
  const llvm::MemCpyInst* const copy_;
  const uint64_t vector_bytes_;
  llvm::IRBuilder<> at_;
  llvm::Value* to_;
  llvm::Value* from_ = nullptr;    // Of a copy.
  llvm::Value* filler_ = nullptr;  // Of a fill, a byte.
};

}  // namespace

void WriteByteMoves(llvm::Module& module, unsigned vector_bytes) {
  std::vector<llvm::MemIntrinsic*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
      if (call == nullptr || call->isVolatile() || llvm::isa<llvm::MemMoveInst>(call)) continue;
      if (llvm::isa<llvm::ConstantInt>(call->getLength())) calls.push_back(call);
    }
  }
  for (llvm::MemIntrinsic* const call : calls) {
    Move(*call, vector_bytes)
        .Write(llvm::cast<llvm::ConstantInt>(call->getLength())->getZExtValue());
  }
}

}  // namespace slipway
