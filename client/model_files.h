// A model as it is sent: its main file and the files that refers to.
#ifndef SLIPWAY_CLIENT_MODEL_FILES_H_
#define SLIPWAY_CLIENT_MODEL_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/graph.pb.h"

namespace slipway {

struct ModelFile {
  std::string name;  // Relative to the main file's folder.
  Blob contents;
  Digest digest;
};

struct ModelFiles {
  v1::ModelFormat format = v1::MODEL_FORMAT_ONNX;
  std::string display_name;      // The main file's name without its folder.
  std::vector<ModelFile> files;  // The main file first.
};

// Most files of a model (proto/slipway/v1/graph.proto).
inline constexpr size_t kMaxModelFiles = 1000;

// Maps and hashes the files. The format follows from the name's end: ".graph" is the graph text form, ".graphpb" the
// graph protobuf form, "-symbol.json" NNVM's JSON, to which the file "NAME-DIGITS.params" beside it belongs, everything
// else ONNX. The main file may be a symbolic link; what it refers to lies below its folder and is not reached through
// one, since whoever made the model chose the names. The files must not change while they are sent. INVALID_ARGUMENT for
// an empty main file, for a name that points outside its folder and for a link; NOT_FOUND names the file that is missing and the model that
// refers to it; RESOURCE_EXHAUSTED when all files are larger than `max_bytes` together or too many.
absl::StatusOr<ModelFiles> ReadModelFiles(const std::string& path, int64_t max_bytes);

// OK for a name relative to the model's folder that stays inside it and has at most 255 bytes.
absl::Status CheckModelFileName(absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_MODEL_FILES_H_
