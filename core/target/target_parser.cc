// ParseTarget and KnownTargets of target.h.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/target/features.h"
#include "core/target/names.h"
#include "core/target/target.h"

namespace slipway {
namespace {

constexpr size_t kMaxTargetBytes = 1024;
constexpr size_t kMaxDevices = 16;

// Devices that have a name and nothing else yet.
struct Missing {
  absl::string_view name;
  absl::string_view what;
};

constexpr Missing kMissing[] = {
    {"hexagon", "a backend for its vectors, and a driver over the vendor's FastRPC"},
    {"metal", "a backend that writes its shading language, a driver, and a host with macOS or iOS"},
    {"vulkan", "a backend that writes SPIR-V, and a driver over libvulkan"},
    {"webgpu", "a backend that writes WGSL, and a driver in a page"},
};

std::string Quote(absl::string_view text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, 80)), "'");
}

absl::Status Unknown(absl::string_view kind, absl::string_view found, absl::string_view device,
                     std::string known) {
  return absl::InvalidArgumentError(absl::StrCat("unknown ", kind, " ", Quote(found),
                                                 " in the target ", Quote(device), ", known are ",
                                                 known));
}

// Takes `word` and the dash or the end behind it.
bool AcceptWord(absl::string_view& rest, absl::string_view word) {
  if (!absl::StartsWith(rest, word)) return false;
  const absl::string_view behind = rest.substr(word.size());
  if (!behind.empty() && behind[0] != '-') return false;
  rest = absl::StripPrefix(behind, "-");
  return true;
}

// The text up to the next dash.
absl::string_view NextWord(absl::string_view rest) { return rest.substr(0, rest.find('-')); }

std::string KnownArchs() {
  return absl::StrCat(
      absl::StrJoin(CpuArchs(), ", ",
                    [](std::string* out, Arch arch) { absl::StrAppend(out, ArchName(arch)); }),
      ", cuda-smNN, cuda-sm90a, opencl");
}

// The capability of whose own instructions code is made.
constexpr int kSpecific = 90;

absl::StatusOr<DeviceTarget> ParseCuda(absl::string_view text) {
  DeviceTarget device{.arch = Arch::kCuda, .os = Os::kNone, .level = 0, .features = {}};
  absl::string_view digits = text;
  device.is_specific = absl::ConsumeSuffix(&digits, "a");
  const bool has_digits = absl::ConsumePrefix(&digits, "cuda-sm") &&
                          (digits.size() == 2 || digits.size() == 3) && digits[0] != '0' &&
                          std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  if (!has_digits || !absl::SimpleAtoi(digits, &device.level)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the target ", Quote(text),
                     " has no compute capability of two or three digits, as in 'cuda-sm90'"));
  }
  if (!device.is_specific || device.level == kSpecific) return device;
  if (device.level < kSpecific) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the target ", Quote(text), " is none: before 'cuda-sm90a' no capability has instructions ",
        "that later ones lack"));
  }
  return absl::UnimplementedError(
      absl::StrCat("the target ", Quote(text),
                   " cannot be had yet, it lacks templates for what it alone can do; ", "'cuda-sm",
                   device.level, "' or 'cuda-sm90a' can"));
}

absl::StatusOr<DeviceTarget> ParseCpu(Arch arch, absl::string_view text, absl::string_view rest) {
  DeviceTarget device{.arch = arch, .os = Os::kNone, .level = 0, .features = {}};
  if (arch == Arch::kX86_64) {
    device.level = 1;
    for (int level = 1; level <= 4; ++level) {
      if (AcceptWord(rest, absl::StrCat("v", level))) device.level = level;
    }
  }
  std::string known_oses;
  for (const Os os : OsesOf(arch)) {
    if (device.os == Os::kNone && AcceptWord(rest, OsName(os))) device.os = os;
    absl::StrAppend(&known_oses, known_oses.empty() ? "" : ", ", OsName(os));
  }
  if (device.os == Os::kNone) {
    if (arch == Arch::kX86_64) known_oses = absl::StrCat("v2, v3, v4 and then ", known_oses);
    return Unknown(arch == Arch::kX86_64 ? "level or operating system" : "operating system",
                   NextWord(rest), text, known_oses);
  }
  if (absl::EndsWith(text, "-")) {
    return absl::InvalidArgumentError(absl::StrCat("the target ", Quote(text), " ends in '-'"));
  }
  while (!rest.empty()) {
    const absl::string_view word = NextWord(rest);
    std::string known_features;
    bool is_known = false;
    for (const Feature& feature : FeaturesOf(arch)) {
      is_known |= feature.name == word;
      absl::StrAppend(&known_features, known_features.empty() ? "" : ", ", feature.name);
    }
    if (!is_known) return Unknown("feature", word, text, known_features);
    if (!device.Has(word)) device.features.emplace_back(word);
    AcceptWord(rest, word);
  }
  Canonicalize(device);
  return device;
}

absl::StatusOr<DeviceTarget> ParseDevice(absl::string_view text) {
  if (text == "host") {
    return absl::InvalidArgumentError(
        "the target 'host' means a different thing on every machine: name the one that is meant, "
        "such as 'x86-64-v3-linux' (`slipway targets` shows this machine's)");
  }
  if (text == "opencl") {
    return DeviceTarget{.arch = Arch::kOpenCl, .os = Os::kNone, .level = 0, .features = {}};
  }
  if (NextWord(text) == "cuda") return ParseCuda(text);
  for (const Missing& device : kMissing) {
    if (NextWord(text) != device.name) continue;
    return absl::UnimplementedError(
        absl::StrCat("the target ", Quote(text), " cannot be had yet, it lacks ", device.what));
  }
  for (const Arch arch : CpuArchs()) {
    absl::string_view rest = text;
    if (AcceptWord(rest, ArchName(arch))) return ParseCpu(arch, text, rest);
  }
  return Unknown("architecture", text, text, KnownArchs());
}

bool IsGpu(const DeviceTarget& device) {
  return device.arch == Arch::kCuda || device.arch == Arch::kOpenCl;
}

}  // namespace

absl::StatusOr<Target> ParseTarget(absl::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the target is empty, known architectures are ", KnownArchs()));
  }
  if (text.size() > kMaxTargetBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the target ", Quote(text), "... has ",
                                                   text.size(), " characters, the most are ",
                                                   kMaxTargetBytes));
  }
  Target target;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    SLIPWAY_ASSIGN_OR_RETURN(DeviceTarget device, ParseDevice(part));
    if (IsGpu(device) == target.devices.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the target ", Quote(text),
                       " must name one CPU and then its GPUs, as in 'x86-64-v3-linux,cuda-sm90'"));
    }
    if (target.devices.size() == kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("the target ", Quote(text), " has more than ", kMaxDevices, " devices"));
    }
    target.devices.push_back(std::move(device));
  }
  return target;
}

std::vector<std::string> KnownTargets() {
  return {"x86-64-linux",
          "x86-64-v2-linux",
          "x86-64-v3-linux",
          "x86-64-v4-linux",
          "arm-64-linux",
          "arm-32-linux",
          "arm-32-linux-neon",
          "arm-32-linux-fma-neon",
          "riscv-64-linux",
          "wasm-32-wasi",
          "wasm-32-wasi-simd128",
          "wasm-32-wasi-simd128-threads",
          "x86-64-v3-linux,opencl",
          "arm-64-linux,opencl",
          "x86-64-v3-linux,cuda-sm80",
          "x86-64-v3-linux,cuda-sm90",
          "x86-64-v3-linux,cuda-sm90a",
          "arm-64-linux,cuda-sm90",
          "arm-64-linux,cuda-sm90a"};
}

}  // namespace slipway
