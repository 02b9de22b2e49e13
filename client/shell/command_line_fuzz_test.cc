// Any line is taken apart or refused, and what was taken apart holds what it promises.
#include <cstddef>
#include <cstdint>

#include "client/shell/command_line.h"
#include "core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = slipway::cli::ParseCommandLine(text); line.ok()) {
    size_t bytes = line->command.size();
    for (const std::string& name : line->results) {
      SLIPWAY_CHECK(!name.empty(), "a name is empty");
      bytes += name.size();
    }
    for (const std::string& word : line->words) bytes += word.size();
    for (const auto& [key, value] : line->options) {
      SLIPWAY_CHECK(line->Find(key) != nullptr, "an option is lost");
      bytes += key.size() + value.size();
    }
    SLIPWAY_CHECK(bytes <= text.size(), "there is more than the line has");
  }
  if (const auto type = slipway::cli::ParseTensorType(text); type.ok()) {
    SLIPWAY_CHECK(type->shape.size() <= slipway::kMaxRank, "too many dimensions");
  }
  if (const auto range = slipway::cli::ParseRange(text, 100); range.ok()) {
    SLIPWAY_CHECK(range->begin >= 0 && range->size >= 0 && range->begin + range->size <= 100,
                  "a range outside");
  }
  return 0;
}
