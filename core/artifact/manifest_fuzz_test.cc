// Any bytes: an error, or a manifest that is what it says and whose expressions can be computed.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/manifest.h"

namespace slipway {
namespace {

// With all symbols at one end of their bounds, every expression has a value within its interval.
void ComputeAll(const CheckedManifest& manifest, bool at_max) {
  std::vector<int64_t> symbols;
  for (const v1::Symbol& symbol : manifest.proto().symbols()) {
    symbols.push_back(at_max ? symbol.max() : symbol.min());
  }
  const Expressions& expressions = manifest.expressions();
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < expressions.size(); ++i) all.push_back(i);
  std::vector<int64_t> values(expressions.size());
  if (!expressions.Evaluate(all, symbols, absl::MakeSpan(values)).ok()) return;  // One overflows.
  for (const uint32_t i : all) {
    const IntegerRange range = expressions.interval(i);
    if (values[i] < range.min || values[i] > range.max) __builtin_trap();
  }
}

}  // namespace
}  // namespace slipway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto manifest = slipway::CheckedManifest::Parse(bytes);
  if (!manifest.ok()) return 0;
  for (const slipway::ProgramSpace& space : manifest->spaces()) {
    if (space.arena_bytes < 0) __builtin_trap();
  }
  if (slipway::SerializeManifest(manifest->proto()) != bytes) __builtin_trap();
  slipway::ComputeAll(*manifest, false);
  slipway::ComputeAll(*manifest, true);
  return 0;
}
