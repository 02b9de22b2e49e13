// A file that slipway_embed_data (//:slipway.bzl) has put into the binary.
#ifndef SLIPWAY_CORE_BASE_EMBEDDED_FILE_H_
#define SLIPWAY_CORE_BASE_EMBEDDED_FILE_H_

#include "absl/strings/string_view.h"

namespace slipway {

struct EmbeddedFile {
  absl::string_view name;      // Without its folder.
  absl::string_view contents;  // Begins at a multiple of 64 bytes; lives as long as the process.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_EMBEDDED_FILE_H_
