#include "core/runtime/drivers/cuda/testing/fake_kernels.h"

#include <dlfcn.h>

#include <sstream>

#include "core/runtime/drivers/cuda/testing/fake_settings.h"

namespace slipway::fake_cuda {
namespace {

template <typename Function>
Function Driver(const char* name) {
  static void* const file = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (file == nullptr) Violation("a library without a libcuda");
  return reinterpret_cast<Function>(dlsym(file, name));
}
using LoadModule = CUresult (*)(CUmodule*, const void*, unsigned, int*, void**);
using UnloadModule = CUresult (*)(CUmodule);
using GetFunction = CUresult (*)(CUfunction*, CUmodule, const char*);
using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);

constexpr char kHead[] = ".version 7.0\n.target sm_80\n.address_size 64\n";

std::string IdleText() { return std::string(kHead) + ".visible .entry idle()\n{\n  ret;\n}\n"; }

int64_t IdleLaunchesOf(uint64_t way) {
  std::istringstream words(Setting("idle", "0"));
  std::string word;
  for (uint64_t i = 0; std::getline(words, word, ','); ++i) {
    if (i == way) return std::stoll(word);
  }
  return 0;
}

}  // namespace

void FakeKernels::Load(const std::string& text, const std::string& entry) {
  if (loaded_.count(text) != 0) return;
  if (loaded_.empty() && entry != "idle") Load(IdleText(), "idle");
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (Driver<LoadModule>("cuModuleLoadDataEx")(&module, text.c_str(), 0, nullptr, nullptr) != 0 ||
      Driver<GetFunction>("cuModuleGetFunction")(&function, module, entry.c_str()) != 0) {
    Violation("a library's code does not load:\n" + text);
  }
  loaded_[text] = {module, function};
}

CUfunction FakeKernels::Find(const std::string& text) const {
  const auto found = loaded_.find(text);
  if (found == loaded_.end()) Violation("a step in a way that was not looked for:\n" + text);
  return found->second.second;
}

CUresult FakeKernels::Launch(const std::string& text, std::vector<const void*> addresses,
                             uint64_t elements, uint64_t way, CUstream stream) const {
  constexpr uint64_t kInstances = 64;
  const auto launch = Driver<LaunchKernel>("cuLaunchKernel");
  for (int64_t i = 0; i < IdleLaunchesOf(way); ++i) {
    launch(Find(IdleText()), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
  }
  std::vector<void*> parameters;
  for (const void*& address : addresses) parameters.push_back(&address);
  return launch(Find(text), static_cast<unsigned>((elements + kInstances - 1) / kInstances), 1, 1,
                kInstances, 1, 1, 0, stream, parameters.data(), nullptr);
}

void FakeKernels::Unload() {
  for (const auto& [text, loaded] : loaded_) Driver<UnloadModule>("cuModuleUnload")(loaded.first);
  loaded_.clear();
}

std::string BeginKernel(const std::string& entry, const std::vector<std::string>& parameters,
                        int64_t elements) {
  std::string list;
  for (const std::string& name : parameters) {
    list += std::string(list.empty() ? "" : ", ") + ".param .u64 .ptr .global .align 4 " + name;
  }
  return kHead + (".visible .entry " + entry) + "(" + list + R"()
{
  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<16>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd1, %r3;
  mul.wide.u32 %rd2, %r1, %r2;
  add.s64 %rd1, %rd1, %rd2;
  setp.ge.u64 %p1, %rd1, )" +
         Text(elements) + ";\n  @%p1 bra DONE;\n";
}

int BytesOf(FakeType type) { return type == FakeType::kFloat32 ? 4 : 2; }

std::string LoadText(FakeType type, const std::string& to, const std::string& address) {
  if (type == FakeType::kFloat32) return "  ld.global.f32 " + to + ", [" + address + "];\n";
  if (type == FakeType::kFloat16) {
    return "  ld.global.b16 %h1, [" + address + "];\n  cvt.f32.f16 " + to + ", %h1;\n";
  }
  return "  ld.global.u16 %h1, [" + address +
         "];\n  cvt.u32.u16 %r1, %h1;\n  shl.b32 %r1, %r1, 16;\n  mov.b32 " + to + ", %r1;\n";
}

// x / (1 + 2^(-log2(e) * x * (1.59576912 + 0.0713548163 * x * x))).
std::string GeluText() {
  return R"(  mul.f32 %f2, %f1, %f1;
  fma.rn.f32 %f2, %f2, 0f3D922279, 0f3FCC422A;
  mul.f32 %f2, %f2, %f1;
  mul.f32 %f2, %f2, 0fBFB8AA3B;
  ex2.approx.f32 %f2, %f2;
  add.f32 %f2, %f2, 0f3F800000;
  rcp.approx.f32 %f2, %f2;
  mul.f32 %f1, %f1, %f2;
)";
}

std::string Text(int64_t number) { return std::to_string(number); }

}  // namespace slipway::fake_cuda
