// A small parser, to show that slipway_fuzz_test builds and runs.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t depth = 0;
  size_t deepest = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '[') ++depth;
    if (data[i] == ']' && depth > 0) --depth;
    if (depth > deepest) deepest = depth;
  }
  if (deepest > size) std::abort();
  return 0;
}
