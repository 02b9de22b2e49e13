#include "core/target/features.h"

#include <algorithm>

namespace slipway {
namespace {

constexpr int kHighestX86Level = 4;

// Sorted by level, then by name.
constexpr Feature kX86Features[] = {
    {"sse2", 1, ""},
    {"cx16", 2, ""},
    {"lahf", 2, ""},
    {"popcnt", 2, ""},
    {"sse3", 2, "sse2"},
    {"sse41", 2, "ssse3"},
    {"sse42", 2, "sse41"},
    {"ssse3", 2, "sse3"},
    {"avx", 3, "sse42"},
    {"avx2", 3, "avx"},
    {"bmi1", 3, ""},
    {"bmi2", 3, ""},
    {"f16c", 3, "avx"},
    {"fma", 3, "avx"},
    {"lzcnt", 3, ""},
    {"movbe", 3, ""},
    {"avx512bw", 4, "avx512f"},
    {"avx512cd", 4, "avx512f"},
    {"avx512dq", 4, "avx512f"},
    {"avx512f", 4, "", 3},
    {"avx512vl", 4, "avx512f"},
    {"amxbf16", 0, "bf16"},
    {"amxint8", 0, "vnni"},
    {"avxvnni", 0, "avx2"},
    {"bf16", 0, "", 4},
    {"fp16", 0, "", 4},
    {"vbmi", 0, "", 4},
    {"vnni", 0, "", 4},
};

constexpr Feature kArm64Features[] = {
    {"bf16", 0, ""}, {"dotprod", 0, ""}, {"fp16", 0, ""},
    {"i8mm", 0, ""}, {"sve", 0, "fp16"}, {"sve2", 0, "sve"},
};

constexpr Feature kArm32Features[] = {{"fma", 0, "neon"}, {"neon", 0, ""}};

constexpr Feature kRiscv64Features[] = {{"v", 0, ""}};

constexpr Feature kWasm32Features[] = {{"simd128", 0, ""}, {"threads", 0, ""}};

const Feature& Find(Arch arch, absl::string_view name) {
  const absl::Span<const Feature> all = FeaturesOf(arch);
  return *std::find_if(all.begin(), all.end(), [name](const Feature& f) { return f.name == name; });
}

void AddLevel(DeviceTarget& device, int level) {
  for (const Feature& feature : FeaturesOf(device.arch)) {
    if (feature.level > 0 && feature.level <= level) device.features.emplace_back(feature.name);
  }
}

void SortUnique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool HasLevel(const DeviceTarget& device, int level) {
  for (const Feature& feature : FeaturesOf(device.arch)) {
    if (feature.level > 0 && feature.level <= level && !device.Has(feature.name)) return false;
  }
  return true;
}

}  // namespace

absl::Span<const Feature> FeaturesOf(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return kX86Features;
    case Arch::kArm64:
      return kArm64Features;
    case Arch::kArm32:
      return kArm32Features;
    case Arch::kRiscv64:
      return kRiscv64Features;
    case Arch::kWasm32:
      return kWasm32Features;
    case Arch::kCuda:
    case Arch::kOpenCl:
      return {};
  }
  return {};
}

void Canonicalize(DeviceTarget& device) {
  // Grows while it is walked: what is implied may imply more.
  for (size_t i = 0; i < device.features.size(); ++i) {
    const Feature& feature = Find(device.arch, device.features[i]);
    if (!feature.implied.empty() && !device.Has(feature.implied)) {
      device.features.emplace_back(feature.implied);
    }
    device.level = std::max(device.level, feature.implied_level);
  }
  if (device.arch == Arch::kX86_64) {
    AddLevel(device, device.level);
    while (device.level < kHighestX86Level && HasLevel(device, device.level + 1)) ++device.level;
  }
  SortUnique(device.features);
}

}  // namespace slipway
