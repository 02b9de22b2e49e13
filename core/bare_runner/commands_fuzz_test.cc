// Any bytes as a list of commands: a rule that is broken, or commands within the memory that was given out.
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/bare_runner/commands.h"
#include "core/bare_runner/protocol.h"
#include "core/kernel_abi/kernel_abi.h"

namespace {

int32_t Nothing(void** /*arguments*/) { return 0; }

constexpr uint64_t kBegin = 0x1000;
constexpr uint64_t kBytes = 0x10000;

void Check(bool holds) {
  if (!holds) abort();
}

}  // namespace

// The first byte is how many commands there are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > SLIPWAY_BARE_MAX_BODY) return 0;
  const uint32_t count = data[0];
  const auto bytes = static_cast<uint32_t>(size - 1);
  std::vector<uint64_t> list(bytes / 8 + 1);
  std::memcpy(list.data(), data + 1, bytes);
  std::vector<uint8_t> room(BARE_COMMAND_ROOM(bytes));
  bare_block table[1];
  bare_blocks blocks = {table, 0, 1, 0, 0};
  bare_add_block(&blocks, kBegin, kBytes);
  const slipway_kernel_entry kernels[] = {{Nothing, 0, 0}, {Nothing, 1, 0}, {Nothing, 2, 0}};
  const bare_code code = {kernels, 3};
  slipway_context* context = nullptr;
  const bare_held held = {&blocks, &code, 1, &context};
  if (bare_read_commands(reinterpret_cast<const uint8_t*>(list.data()), bytes, count, &held,
                         room.data()) != nullptr) {
    return 0;
  }
  const auto* commands = reinterpret_cast<const bare_command*>(room.data());
  for (uint32_t i = 0; i < count; ++i) {
    if (commands[i].function == nullptr) {
      Check(commands[i].from >= kBegin && commands[i].from - kBegin <= kBytes - commands[i].bytes);
      Check(commands[i].to >= kBegin && commands[i].to - kBegin <= kBytes - commands[i].bytes);
    }
  }
  return 0;
}
