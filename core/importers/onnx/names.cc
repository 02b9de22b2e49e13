#include "core/importers/onnx/names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string WithoutControls(absl::string_view text) {
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), IsControl, '?');
  return clean;
}

absl::Status CheckValueName(absl::string_view name, absl::string_view what) {
  if (name.empty()) return absl::InvalidArgumentError(absl::StrCat(what, " has no name"));
  if (std::none_of(name.begin(), name.end(), IsControl)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is named \"", name, "\", with control characters in it"));
}

std::string Describe(const onnx::NodeProto& node) {
  const std::string& name =
      !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  return absl::StrCat("node \"", name, "\" (", node.op_type(), ")");
}

}  // namespace slipway
