// Any bytes as code: refused, or written to the memory that it says it takes.
#include <elf.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bare_runner/code_image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const uint32_t machine : {EM_X86_64, EM_AARCH64, EM_ARM, EM_RISCV}) {
    bare_image image;
    if (bare_read_image(data, size, machine, 4096, &image) != nullptr) continue;
    if (image.relro_end > image.bytes || image.query >= image.bytes) abort();
    // Larger ones are as any, and slow.
    if (image.bytes > 16 << 20) continue;
    std::vector<uint8_t> memory(image.bytes);
    bare_write_image(&image, data, memory.data());
  }
  return 0;
}
