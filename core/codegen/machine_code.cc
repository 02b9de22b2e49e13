#include "core/codegen/machine_code.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/codegen/byte_moves.h"
#include "core/codegen/table_lookups.h"
#include "core/codegen/tile_instructions.h"
#include "core/target/machine_description.h"

namespace slipway {
namespace {

// What LLVM shall make code for, where what Halide says of its target is not what the device has.
struct Chip {
  std::string cpu;
  std::string features;
};

// Words of the lexicon that Halide has no word for, and LLVM's.
constexpr std::pair<absl::string_view, absl::string_view> kFeatures[] = {
    {"amxbf16", "+amx-tile,+amx-bf16"},
    {"amxint8", "+amx-tile,+amx-int8"},
    {"avxvnni", "+avxvnni"},
    {"bf16", "+avx512bf16"},
    {"vbmi", "+avx512vbmi"},
    {"vnni", "+avx512vnni"}};

std::optional<Chip> ChipOf(const DeviceTarget& device) {
  if (device.arch == Arch::kArm32) {
    // Halide knows two chips by name, each with more than others have.
    return Chip{"generic", device.Has("fma")    ? "+armv7-a,+neon,+vfp4"
                           : device.Has("neon") ? "+armv7-a,+neon"
                                                : "+armv7-a,+vfp3d16,-neon"};
  }
  if (device.arch != Arch::kX86_64 || device.level < 3) return std::nullopt;
  std::string features;
  for (const auto& [word, feature] : kFeatures) {
    if (device.Has(word)) absl::StrAppend(&features, features.empty() ? "" : ",", feature);
  }
  if (features.empty()) return std::nullopt;
  return Chip{device.level >= 4 ? "skylake-avx512" : "haswell", std::move(features)};
}

// What is fetched ahead is a piece that the first-level cache has no room for beside the one that is read.
void FetchIntoSecondLevel(llvm::Module& module) {
  constexpr unsigned kLocality =
      2;  // The argument of llvm.prefetch, which 2 has mean the second level.
  constexpr uint64_t kSecondLevel = 2;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::prefetch) continue;
      llvm::Type* const type = call->getArgOperand(kLocality)->getType();
      call->setArgOperand(kLocality, llvm::ConstantInt::get(type, kSecondLevel));
    }
  }
}

}  // namespace

absl::Status WriteMachineCode(const Halide::Module& module, const DeviceTarget& device,
                              const std::string& path) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> llvm_module =
      Halide::compile_module_to_llvm_module(module, context);
  // Nothing is thrown through kernels; tables for it would name functions that programs do not have.
  for (llvm::Function& function : *llvm_module) {
    if (device.arch != Arch::kArm32 || function.isDeclaration()) continue;
    function.setDoesNotThrow();
    function.removeFnAttr(llvm::Attribute::UWTable);
  }
  if (const std::optional<Chip> chip = ChipOf(device)) {
    // Those of a function count for more than the module's.
    for (llvm::Function& function : *llvm_module) {
      if (function.isDeclaration()) continue;
      function.addFnAttr("target-cpu", chip->cpu);
      function.addFnAttr("target-features", chip->features);
    }
  }
  WriteTileInstructions(*llvm_module);
  WriteTableLookups(*llvm_module, device.Has("vbmi"));
  FetchIntoSecondLevel(*llvm_module);
  // Modules for WebAssembly go over networks: calls are shorter.
  if (device.arch != Arch::kWasm32) {
    WriteByteMoves(*llvm_module, static_cast<unsigned>(DescribeMachine(device).vector_bytes));
  }
  const std::unique_ptr<llvm::raw_fd_ostream> file = Halide::make_raw_fd_ostream(path);
  Halide::compile_llvm_module_to_object(*llvm_module, *file);
  file->flush();
  if (!file->has_error()) return absl::OkStatus();
  const std::string why = file->error().message();
  file->clear_error();
  return absl::InternalError(absl::StrCat("cannot write a kernel's machine code: ", why));
}

}  // namespace slipway
