/* The commands of a list (protocol.h), checked once and then run as often as the host likes. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_COMMANDS_H_
#define SLIPWAY_CORE_BARE_RUNNER_COMMANDS_H_

#include <stdint.h>

#include "core/bare_runner/blocks.h"
#include "core/kernel_abi/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of a piece of code; none where there is no code. */
typedef struct bare_code {
  const slipway_kernel_entry* kernels;
  uint32_t count;
} bare_code;

/* A call of a kernel where `function` is set, else a copy. */
typedef struct bare_command {
  slipway_kernel function;
  void** arguments;
  uint64_t from;
  uint64_t to;
  uint64_t bytes;
} bare_command;

/* What calls may name. */
typedef struct bare_held {
  const bare_blocks* blocks;
  const bare_code* codes;
  uint32_t code_count;
  /* What args[0] of every kernel is. */
  slipway_context** context;
} bare_held;

/* Room that a list of so many bytes needs at most. */
#define BARE_COMMAND_ROOM(list_bytes) ((uint64_t)(list_bytes)*4)

/* Reads exactly `count` commands out of `list`, 8-byte aligned, to the begin of `room`, 8-byte aligned, which has
 * BARE_COMMAND_ROOM(bytes). They point to `list` and `room`. Returns null, or the rule that the list breaks. */
const char* bare_read_commands(const uint8_t* list, uint32_t bytes, uint32_t count,
                               const bare_held* held, void* room);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_BARE_RUNNER_COMMANDS_H_ */
