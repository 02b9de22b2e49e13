#include "core/codegen/table_lookups.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace slipway {
namespace {

constexpr char kPrefix[] = "slipway_table_";
constexpr size_t kNumbers = 256;
constexpr unsigned kRegisterBytes = 64;

bool IsLookup(const llvm::Value* value) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(value);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName().startswith(kPrefix);
}

// The numbers that a function's name says, of as many bits as it returns.
std::vector<llvm::Constant*> NumbersOf(const llvm::Function& function) {
  llvm::Type* const type = function.getReturnType();
  const size_t digits = type->getIntegerBitWidth() / 4;
  const std::string hex = function.getName().drop_front(sizeof(kPrefix) - 1).str();
  std::vector<llvm::Constant*> numbers;
  for (size_t i = 0; i < kNumbers; ++i) {
    uint64_t number = 0;
    SLIPWAY_CHECK(absl::SimpleHexAtoi(hex.substr(i * digits, digits), &number),
                  "a table of another name than TableName's");
    numbers.push_back(llvm::ConstantInt::get(type, number));
  }
  return numbers;
}

llvm::GlobalVariable* TableOf(llvm::Module& module, const llvm::Function& function) {
  const std::string name = function.getName().str() + ".numbers";
  if (llvm::GlobalVariable* const known = module.getGlobalVariable(name, true)) return known;
  llvm::Constant* const table = llvm::ConstantArray::get(
      llvm::ArrayType::get(function.getReturnType(), kNumbers), NumbersOf(function));
  auto* const global = new llvm::GlobalVariable(module, table->getType(), /*isConstant=*/true,
                                                llvm::GlobalValue::PrivateLinkage, table, name);
  global->setAlignment(llvm::Align(kRegisterBytes));
  return global;
}

void WriteLoad(llvm::Module& module, llvm::CallInst& call) {
  llvm::GlobalVariable* const table = TableOf(module, *call.getCalledFunction());
  llvm::IRBuilder<> at(&call);
  llvm::Value* const place = at.CreateZExt(call.getArgOperand(0), at.getInt64Ty());
  llvm::Value* const address =
      at.CreateInBoundsGEP(table->getValueType(), table, {at.getInt64(0), place});
  call.replaceAllUsesWith(at.CreateLoad(call.getType(), address));
  call.eraseFromParent();
}

// A vector that is put together of what one table has for each element of another.
struct VectorLookup {
  llvm::Value* codes = nullptr;
  llvm::Function* function = nullptr;
  std::vector<llvm::InsertElementInst*> inserts;  // The last one first.
};

// Of its last insertion; no codes where that is none.
VectorLookup VectorLookupOf(llvm::InsertElementInst& last) {
  VectorLookup lookup;
  const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(last.getType());
  if (type == nullptr || !type->getElementType()->isIntegerTy(8) ||
      type->getNumElements() > kRegisterBytes) {
    return {};
  }
  std::vector<bool> is_there(type->getNumElements(), false);
  llvm::Value* next = &last;
  for (size_t i = 0; i < is_there.size(); ++i) {
    auto* const insert = llvm::dyn_cast<llvm::InsertElementInst>(next);
    if (insert == nullptr || !IsLookup(insert->getOperand(1))) return {};
    const auto& call = *llvm::cast<llvm::CallInst>(insert->getOperand(1));
    auto* const code = llvm::dyn_cast<llvm::ExtractElementInst>(call.getArgOperand(0));
    const auto* const to = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    const auto* const from =
        code == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(code->getIndexOperand());
    if (to == nullptr || from == nullptr || to->getZExtValue() != from->getZExtValue() ||
        to->getZExtValue() >= is_there.size() || is_there[to->getZExtValue()]) {
      return {};
    }
    if (i == 0) {
      lookup.codes = code->getVectorOperand();
      lookup.function = call.getCalledFunction();
    }
    if (code->getVectorOperand() != lookup.codes || lookup.codes->getType() != type ||
        call.getCalledFunction() != lookup.function) {
      return {};
    }
    is_there[to->getZExtValue()] = true;
    lookup.inserts.push_back(insert);
    next = insert->getOperand(0);
  }
  return lookup;
}

// Four registers have the table: a code's lower bits choose among the bytes of two of them, its highest one between the pairs.
void WritePermutations(llvm::Module& module, const VectorLookup& lookup) {
  llvm::InsertElementInst* const last = lookup.inserts.front();
  llvm::IRBuilder<> at(last);
  const auto lanes = static_cast<int>(lookup.inserts.size());
  std::vector<int> widened(kRegisterBytes, llvm::UndefMaskElem);
  std::vector<int> narrowed(lookup.inserts.size());
  for (int i = 0; i < lanes; ++i) widened[i] = narrowed[i] = i;
  llvm::Value* const codes = at.CreateShuffleVector(lookup.codes, widened);
  const std::vector<llvm::Constant*> numbers = NumbersOf(*lookup.function);
  const auto quarter = [&numbers](size_t i) {
    return llvm::ConstantVector::get(
        llvm::ArrayRef<llvm::Constant*>(numbers).slice(i * kRegisterBytes, kRegisterBytes));
  };
  llvm::Function* const permute =
      llvm::Intrinsic::getDeclaration(&module, llvm::Intrinsic::x86_avx512_vpermi2var_qi_512);
  llvm::Value* const lower = at.CreateCall(permute, {quarter(0), codes, quarter(1)});
  llvm::Value* const upper = at.CreateCall(permute, {quarter(2), codes, quarter(3)});
  llvm::Value* const is_upper =
      at.CreateICmpSLT(codes, llvm::Constant::getNullValue(codes->getType()));
  llvm::Value* const all = at.CreateSelect(is_upper, upper, lower);
  last->replaceAllUsesWith(at.CreateShuffleVector(all, narrowed));
  for (llvm::InsertElementInst* const insert : lookup.inserts) {
    auto* const call = llvm::cast<llvm::CallInst>(insert->getOperand(1));
    if (insert->use_empty()) insert->eraseFromParent();
    if (call->use_empty()) call->eraseFromParent();
  }
}

template <typename Instruction>
std::vector<Instruction*> All(llvm::Module& module) {
  std::vector<Instruction*> all;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* const found = llvm::dyn_cast<Instruction>(&instruction)) all.push_back(found);
    }
  }
  return all;
}

}  // namespace

std::string TableName(absl::Span<const int64_t> table, int bits) {
  std::string name = kPrefix;
  for (const int64_t number : table) {
    if (bits == 8) {
      absl::StrAppend(&name, absl::Hex(static_cast<uint8_t>(number), absl::kZeroPad2));
    } else {
      absl::StrAppend(&name, absl::Hex(static_cast<uint16_t>(number), absl::kZeroPad4));
    }
  }
  return name;
}

void WriteTableLookups(llvm::Module& module, bool has_permutations) {
  if (has_permutations) {
    std::vector<VectorLookup> lookups;
    for (llvm::InsertElementInst* const insert : All<llvm::InsertElementInst>(module)) {
      VectorLookup lookup = VectorLookupOf(*insert);
      if (lookup.codes != nullptr) lookups.push_back(std::move(lookup));
    }
    for (const VectorLookup& lookup : lookups) WritePermutations(module, lookup);
  }
  for (llvm::CallInst* const call : All<llvm::CallInst>(module)) {
    if (IsLookup(call)) WriteLoad(module, *call);
  }
}

}  // namespace slipway
