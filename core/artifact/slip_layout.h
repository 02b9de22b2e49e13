// The bytes at the head of a .slip file, and where its sections lie.
#ifndef SLIPWAY_CORE_ARTIFACT_SLIP_LAYOUT_H_
#define SLIPWAY_CORE_ARTIFACT_SLIP_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/artifact/limits.h"
#include "core/base/digest.h"

namespace slipway {

inline constexpr absl::string_view kSlipMagic("\x89SLIP\r\n\x1a", 8);
inline constexpr uint32_t kSlipVersion = 1;
inline constexpr int64_t kSlipSectionAlignment = 64 << 10;
inline constexpr size_t kSlipHeaderBytes = 64;
inline constexpr size_t kSlipEntryBytes = 64;

// A section: where its bytes lie and what they are.
struct SlipSection {
  int64_t offset;
  Digest digest;  // Its size is the section's.
};

// Head and placement of a whole file.
struct SlipLayout {
  std::vector<SlipSection> sections;  // The manifest is the first.
  int64_t file_bytes;
};

// The one way to lay out sections of these digests.
SlipLayout LayOutSlip(absl::Span<const Digest> sections);

// Header and section table: what precedes the first section but padding.
std::string FormatSlipHead(const SlipLayout& layout);

// Reads them from the beginning of a file of `file_bytes` bytes. Errors as of
// ReadSlip; the layout returned is one that LayOutSlip makes.
absl::StatusOr<SlipLayout> ParseSlipHead(absl::string_view file, const ReaderLimits& limits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_SLIP_LAYOUT_H_
