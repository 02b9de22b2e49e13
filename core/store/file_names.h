// Every name the stores use on disk is made and parsed here.
//
//   ROOT/blobs/ab/cdef...      a blob; the 64 digits of its SHA-256
//   ROOT/partial/HEX.SIZE      a blob that has not arrived completely; locked
//                              (flock) by its writer
//   ROOT/partial/new.XXXXXX    a file that will be renamed
//   ROOT/sound/ab/cdef...      in which state a blob's file was found sound
//   ROOT/compiled/ab/cdef...   an entry of the compile cache; the 64 digits of
//                              its key
#ifndef SLIPWAY_CORE_STORE_FILE_NAMES_H_
#define SLIPWAY_CORE_STORE_FILE_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/base/digest.h"

namespace slipway {

std::string BlobsFolder(absl::string_view root);
std::string PartialFolder(absl::string_view root);
std::string SoundFolder(absl::string_view root);
std::string CompiledFolder(absl::string_view root);

// The file of 64 hexadecimal digits below a folder, and the folder it lies in.
std::string HexPath(absl::string_view folder, absl::string_view hex);
std::string HexParent(absl::string_view folder, absl::string_view hex);

// The digits from the two last parts of a path that HexPath makes; empty when
// they are not such.
std::string ParseHexPath(absl::string_view parent_name, absl::string_view name);

std::string PartialPath(absl::string_view root, const Digest& digest);

// For mkostemp.
std::string NewFilePattern(absl::string_view root);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_FILE_NAMES_H_
