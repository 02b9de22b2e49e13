// Any bytes: an error, or an artifact that gives the same file again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/artifact/slip_file.h"
#include "core/base/blob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto artifact = slipway::ParseSlip(slipway::Blob::Own(bytes));
  if (artifact.ok() && slipway::FormatSlip(*artifact) != bytes) {
    __builtin_trap();
  }
  return 0;
}
