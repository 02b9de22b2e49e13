#include "device_agent/attached/file_for_machine.h"

#include <elf.h>

#include <cstring>

namespace slipway {

const EmbeddedFile* FindFileFor(uint16_t machine, absl::Span<const EmbeddedFile> files) {
  for (const EmbeddedFile& file : files) {
    // Where it stands, it stands in files of 32 bits, too.
    Elf64_Ehdr header;
    if (file.contents.size() < sizeof(header)) continue;
    std::memcpy(&header, file.contents.data(), sizeof(header));
    if (header.e_machine == machine) return &file;
  }
  return nullptr;
}

}  // namespace slipway
