#include "core/codegen/tensor_cores/kernel_text.h"

#include <algorithm>
#include <utility>

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

constexpr NumberForm kForms[] = {
    {Precision::kTensorFloat32, DataType::kFloat32, 4, "cvt.rna.tf32.f32",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "tf32"},
    {Precision::kFloat16, DataType::kFloat16, 2, "cvt.rn.f16x2.f32",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16"},
    {Precision::kBfloat16, DataType::kBfloat16, 2, "cvt.rn.bf16x2.f32",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "bf16"},
};

}  // namespace

const NumberForm* FindNumberForm(Precision precision) {
  for (const NumberForm& form : kForms) {
    if (form.precision == precision) return &form;
  }
  return nullptr;
}

std::string EntryText::Plus(std::string offset, const Indexing& index, std::string number) {
  for (size_t i = index.extents.size(); i-- > 0;) {
    const std::string extent = Number(index.extents[i]);
    const std::string part = i == 0 ? number : w.Word("rem.u32", {number, extent});
    if (i > 0) number = w.Word("div.u32", {number, extent});
    if (index.strides[i] == 0) continue;
    offset = w.Word("mad.lo.u32", {part, Number(index.strides[i]), offset});
  }
  return offset;
}

std::string EntryText::Base(int parameter) {
  return w.Make(Kind::kAddress, "ld.param.u64",
                {absl::StrCat("[", entry, "_param_", parameter, "]")});
}

std::string EntryText::Address(int parameter, const std::string& element, int bytes) {
  const std::string global = w.Make(Kind::kAddress, "cvta.to.global.u64", {Base(parameter)});
  return w.Make(Kind::kAddress, "mad.wide.u32", {element, Number(bytes), global});
}

std::string EntryText::AreAligned(absl::Span<const int> parameters) {
  std::string all = Base(parameters[0]);
  for (const int parameter : parameters.subspan(1)) {
    all = w.Make(Kind::kAddress, "or.b64", {all, Base(parameter)});
  }
  const std::string low = w.Make(Kind::kAddress, "and.b64", {all, Number(kVectorBytes - 1)});
  return w.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
}

DeviceKernel EntryText::Kernel(size_t inputs, int64_t groups, int instances) const {
  EntryLaunch launch{.entry = entry,
                     .groups = {groups, 1, 1},
                     .group = {instances, 1, 1},
                     .reads = {},
                     .writes = {{DeviceArgument::Kind::kOutput, 0}}};
  for (size_t i = 0; i < inputs; ++i) {
    launch.reads.push_back({DeviceArgument::Kind::kInput, static_cast<int>(i)});
  }
  return {.preamble = "",
          .text = w.Entry(entry, inputs + 1, instances),
          .scratch_bytes = {},
          .launches = {std::move(launch)}};
}

std::vector<std::string> KernelText::Rounded(const std::vector<std::string>& values) {
  std::vector<std::string> words;
  const size_t in_word = static_cast<size_t>(kElementBytes / form.bytes);
  for (size_t i = 0; i < values.size(); i += in_word) {
    std::vector<std::string> parts(values.begin() + static_cast<std::ptrdiff_t>(i),
                                   values.begin() + static_cast<std::ptrdiff_t>(i + in_word));
    std::reverse(parts.begin(), parts.end());  // The upper half first.
    words.push_back(w.Word(form.rounded, parts));
  }
  return words;
}

void KernelText::StoreShared(const std::string& address, int64_t offset,
                             const std::vector<std::string>& words) {
  constexpr size_t kWords = kVectorBytes / 4;
  for (size_t i = 0; i < words.size(); i += kWords) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    const std::vector<std::string> some(
        first, first + static_cast<std::ptrdiff_t>(std::min(kWords, words.size() - i)));
    w.Do(absl::StrCat("st.shared.v", some.size(), ".b32"),
         {At(address, offset + 4 * static_cast<int64_t>(i)), InBraces(some)});
  }
}

}  // namespace slipway
