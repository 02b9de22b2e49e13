#include "core/artifact/format_version.h"

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

// Empty, or what the step has that came with version 2.
const char* NewInStep(const v1::Step& step) {
  if (step.queue() != 0) return "a queue above 0";
  switch (step.kind_case()) {
    case v1::Step::kKernel:
      return step.kernel().has_launch() ? "a launch" : "";
    case v1::Step::kBindSymbols:
      return "binding of symbols";
    case v1::Step::kBranch:
      return "a branch";
    case v1::Step::kLoop:
      return "a loop";
    default:
      return "";
  }
}

const char* NewInCode(const v1::Code& code) {
  if (code.entries_size() > 0) return "entries";
  if (code.kind() == v1::Code::KIND_PTX || code.kind() == v1::Code::KIND_OPENCL_SOURCE) {
    return "a kind with entries";
  }
  return "";
}

const char* NewInBuffer(const v1::Buffer& buffer) {
  if (buffer.class_() == v1::Buffer::CLASS_DYNAMIC) return "a dynamic buffer";
  return buffer.size().has_expression() ? "a size that is an expression" : "";
}

const char* NewInValue(const v1::Value& value) {
  for (const v1::Dimension& dimension : value.shape()) {
    if (dimension.has_expression()) return "a dimension that is an expression";
  }
  return "";
}

// Where the first entry with something new stands, and what it is.
template <typename Entries, typename NewIn>
std::string FirstIn(const Entries& entries, absl::string_view what, NewIn new_in) {
  for (int i = 0; i < entries.size(); ++i) {
    const absl::string_view found = new_in(entries[i]);
    if (!found.empty()) return absl::StrCat(what, " ", i, ": ", found);
  }
  return "";
}

}  // namespace

std::string FirstUseOfVersion2(const v1::Manifest& manifest) {
  if (manifest.symbols_size() > 0) return "symbols";
  if (manifest.expressions_size() > 0) return "expressions";
  if (manifest.spaces_size() > 0) return "memory spaces";
  if (manifest.more_entries_size() > 0) return "further entries";
  if (manifest.devices_size() > 1) return "several devices";
  if (manifest.functions_size() > 1) return "several functions";
  std::string found = FirstIn(manifest.code(), "code", NewInCode);
  if (found.empty()) found = FirstIn(manifest.buffers(), "buffer", NewInBuffer);
  if (found.empty()) found = FirstIn(manifest.values(), "value", NewInValue);
  for (int i = 0; i < manifest.functions_size() && found.empty(); ++i) {
    if (manifest.functions(i).constraints_size() > 0) return "constraints";
    found = FirstIn(manifest.functions(i).steps(), "step", NewInStep);
  }
  return found;
}

uint32_t LowestFormatVersion(const v1::Manifest& manifest) {
  return FirstUseOfVersion2(manifest).empty() ? 1 : 2;
}

}  // namespace slipway
