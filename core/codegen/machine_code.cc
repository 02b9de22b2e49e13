#include "core/codegen/machine_code.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {
namespace {

// Words of the lexicon that Halide has no word for, and LLVM's.
constexpr std::pair<absl::string_view, absl::string_view> kDotProductFeatures[] = {
    {"avxvnni", "+avxvnni"}, {"bf16", "+avx512bf16"}, {"vnni", "+avx512vnni"}};

// As LLVM writes them; empty where what Halide says of its target is all there is to say.
std::string DotProductFeatures(const DeviceTarget& device) {
  std::string features;
  if (device.arch != Arch::kX86_64 || device.level < 3) return features;
  for (const auto& [word, feature] : kDotProductFeatures) {
    if (device.Has(word)) absl::StrAppend(&features, features.empty() ? "" : ",", feature);
  }
  return features;
}

}  // namespace

absl::Status WriteMachineCode(const Halide::Module& module, const DeviceTarget& device,
                              const std::string& path) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> llvm_module =
      Halide::compile_module_to_llvm_module(module, context);
  const std::string features = DotProductFeatures(device);
  if (!features.empty()) {
    // Those of a function count for more than the module's.
    for (llvm::Function& function : *llvm_module) {
      if (function.isDeclaration()) continue;
      function.addFnAttr("target-cpu", device.level >= 4 ? "skylake-avx512" : "haswell");
      function.addFnAttr("target-features", features);
    }
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
