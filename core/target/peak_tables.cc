#include "core/target/peak_tables.h"

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/target/peak_rows.h"

namespace slipway {
namespace {

struct SumRow {
  const char* type;
  bool (*is_run_by)(const DeviceTarget& machine);
  int64_t operations;
};
struct ReadRow {
  bool (*is_run_by)(const DeviceTarget& machine);
};

#define SLIPWAY_SUM_ROW(function, type, holds, operations) \
  {type, []([[maybe_unused]] const DeviceTarget& machine) { return holds; }, operations},
#define SLIPWAY_READ_ROW(function, holds) \
  {[]([[maybe_unused]] const DeviceTarget& machine) { return holds; }},

constexpr SumRow kX86Sums[] = {SLIPWAY_X86_64_LOOPS(SLIPWAY_SUM_ROW)};
constexpr SumRow kArm64Sums[] = {SLIPWAY_ARM_64_LOOPS(SLIPWAY_SUM_ROW)};
constexpr SumRow kArm32Sums[] = {SLIPWAY_ARM_32_LOOPS(SLIPWAY_SUM_ROW)};
constexpr SumRow kRiscv64Sums[] = {SLIPWAY_RISCV_64_LOOPS(SLIPWAY_SUM_ROW)};
constexpr ReadRow kX86Reads[] = {SLIPWAY_X86_64_READS(SLIPWAY_READ_ROW)};

absl::Span<const SumRow> SumRowsOf(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return kX86Sums;
    case Arch::kArm64:
      return kArm64Sums;
    case Arch::kArm32:
      return kArm32Sums;
    case Arch::kRiscv64:
      return kRiscv64Sums;
    default:
      return {};
  }
}

}  // namespace

std::vector<SumLoop> SumLoopsFor(const DeviceTarget& machine) {
  const absl::Span<const SumRow> rows = SumRowsOf(machine.arch);
  std::vector<SumLoop> loops;
  for (const absl::string_view type : {"f32", "bf16", "int8"}) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].type != type || !rows[i].is_run_by(machine)) continue;
      loops.push_back({rows[i].type, static_cast<int>(i), rows[i].operations});
      break;
    }
  }
  return loops;
}

int ReadLoopFor(const DeviceTarget& machine) {
  if (machine.arch != Arch::kX86_64) return 0;
  int number = 0;
  while (!kX86Reads[number].is_run_by(machine)) ++number;
  return number;
}

}  // namespace slipway
