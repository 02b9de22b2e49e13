#include "core/target/x86_identification.h"

#include "core/target/features.h"

namespace slipway {
namespace {

constexpr uint64_t kXmmAndYmm = 0x6;           // XCR0 bits 1 and 2.
constexpr uint64_t kOpmaskAndAllOfZmm = 0xe0;  // XCR0 bits 5 to 7.

// Which state of XCR0 a feature needs beyond that of plain x86-64.
enum class State { kNone, kAvx, kAvx512, kTiles };

struct Bit {
  const char* feature;
  uint32_t X86Identification::*leaf;
  int bit;
  State state;
};

constexpr Bit kBits[] = {
    {"sse3", &X86Identification::leaf_1_ecx, 0, State::kNone},
    {"ssse3", &X86Identification::leaf_1_ecx, 9, State::kNone},
    {"fma", &X86Identification::leaf_1_ecx, 12, State::kAvx},
    {"cx16", &X86Identification::leaf_1_ecx, 13, State::kNone},
    {"sse41", &X86Identification::leaf_1_ecx, 19, State::kNone},
    {"sse42", &X86Identification::leaf_1_ecx, 20, State::kNone},
    {"movbe", &X86Identification::leaf_1_ecx, 22, State::kNone},
    {"popcnt", &X86Identification::leaf_1_ecx, 23, State::kNone},
    {"avx", &X86Identification::leaf_1_ecx, 28, State::kAvx},
    {"f16c", &X86Identification::leaf_1_ecx, 29, State::kAvx},
    {"bmi1", &X86Identification::leaf_7_ebx, 3, State::kNone},
    {"avx2", &X86Identification::leaf_7_ebx, 5, State::kAvx},
    {"bmi2", &X86Identification::leaf_7_ebx, 8, State::kNone},
    {"avx512f", &X86Identification::leaf_7_ebx, 16, State::kAvx512},
    {"avx512dq", &X86Identification::leaf_7_ebx, 17, State::kAvx512},
    {"avx512cd", &X86Identification::leaf_7_ebx, 28, State::kAvx512},
    {"avx512bw", &X86Identification::leaf_7_ebx, 30, State::kAvx512},
    {"avx512vl", &X86Identification::leaf_7_ebx, 31, State::kAvx512},
    {"vbmi", &X86Identification::leaf_7_ecx, 1, State::kAvx512},
    {"vnni", &X86Identification::leaf_7_ecx, 11, State::kAvx512},
    {"amxbf16", &X86Identification::leaf_7_edx, 22, State::kTiles},
    {"fp16", &X86Identification::leaf_7_edx, 23, State::kAvx512},
    {"amxint8", &X86Identification::leaf_7_edx, 25, State::kTiles},
    {"avxvnni", &X86Identification::leaf_7_1_eax, 4, State::kAvx},
    {"bf16", &X86Identification::leaf_7_1_eax, 5, State::kAvx512},
    {"lahf", &X86Identification::leaf_80000001_ecx, 0, State::kNone},
    {"lzcnt", &X86Identification::leaf_80000001_ecx, 5, State::kNone},
};

bool SystemSaves(uint64_t xcr0, State state) {
  uint64_t needed = 0;
  if (state >= State::kAvx) needed |= kXmmAndYmm;
  if (state >= State::kAvx512) needed |= kOpmaskAndAllOfZmm;
  if (state >= State::kTiles) needed |= kTileState;
  return (xcr0 & needed) == needed;
}

}  // namespace

DeviceTarget TargetOfX86(const X86Identification& identification, Os os) {
  DeviceTarget present{.arch = Arch::kX86_64, .os = os, .level = 1, .features = {}};
  for (const Bit& bit : kBits) {
    if ((identification.*bit.leaf >> bit.bit & 1) != 0 &&
        SystemSaves(identification.xcr0, bit.state)) {
      present.features.emplace_back(bit.feature);
    }
  }
  // A hypervisor may hide a feature that another one implies. Claim only what is complete: nothing
  // may be added that the processor did not report.
  DeviceTarget target{.arch = Arch::kX86_64, .os = os, .level = 1, .features = {}};
  for (const Feature& feature : FeaturesOf(Arch::kX86_64)) {
    if (!present.Has(feature.name)) continue;
    DeviceTarget with = target;
    with.features.emplace_back(feature.name);
    Canonicalize(with);
    bool is_complete = true;
    for (const std::string& name : with.features) {
      is_complete &= name == "sse2" || present.Has(name);
    }
    if (is_complete) target = with;
  }
  Canonicalize(target);
  return target;
}

}  // namespace slipway
