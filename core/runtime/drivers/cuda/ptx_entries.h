// What a text of PTX says of itself, as far as whoever launches its entries must know: the driver's library tells none of it before CUDA 12.4.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PTX_ENTRIES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PTX_ENTRIES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

struct PtxEntry {
  uint32_t parameters = 0;
  // The leading parameters that are declared to be pointers (".ptr"); unset where none is.
  std::optional<uint32_t> tensors;
};

struct PtxText {
  std::string version;  // Of the language: "7.0".
  std::string target;   // "sm_80", or "sm_90a".
  std::map<std::string, PtxEntry> entries;
};

// INVALID_ARGUMENT names an entry with a parameter that is no number of 64 bits, or says what the text lacks.
absl::StatusOr<PtxText> ReadPtx(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PTX_ENTRIES_H_
