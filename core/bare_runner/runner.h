/* The parts of a bare runner's process. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_RUNNER_H_
#define SLIPWAY_CORE_BARE_RUNNER_RUNNER_H_

#include <stdint.h>

#include "core/bare_runner/commands.h"
#include "core/bare_runner/protocol.h"
#include "core/bare_runner/sensors.h"
#include "core/kernel_abi/kernel_abi.h"

/* What a bare runner is called with: `wholly|as-can MEMORY_BYTES`, how it is confined, and its limit on address space, of which 0 is none.
 * `auxiliary` is the kernel's vector. Returns the exit code. */
int bare_main(int argc, char** argv, const unsigned long* auxiliary);

/* Describes the machine; looks into files, so that it is to be called before bare_confine. */
void bare_describe(const unsigned long* auxiliary, slipway_bare_hello* hello);

/* The machine's free memory, and the processes that ran or waited to on average over a minute, thousandths. */
uint64_t bare_free_bytes(void);
uint64_t bare_load_millis(void);

/* What the process that runs programs shares with the one that watches over it. */
typedef struct bare_shared {
  uint32_t command; /* Under way; UINT32_MAX: none. */
  uint32_t is_cut;  /* A part of a message was written, and not all. */
} bare_shared;

/* Sends the greeting, then serves requests until the stream ends. Returns the exit code. */
int bare_serve(const slipway_bare_hello* hello, uint64_t memory_limit, const bare_sensors* sensors,
               volatile bare_shared* shared);

/* Writes a message of two parts, of which the second may be empty. 0 where the stream has ended. */
int bare_send(const void* first, uint64_t first_bytes, const void* second, uint64_t second_bytes);
int bare_send_reply(uint32_t kind, const slipway_bare_reply* reply, const void* data,
                    uint64_t data_bytes);

/* A piece of code in memory. */
typedef struct bare_module {
  uint8_t* memory; /* Null: none. */
  uint64_t bytes;
} bare_module;

/* Loads `elf`, which is copied, and asks it for its kernels. Returns null, or why not with `*status` one of absl::StatusCode. */
const char* bare_load(const uint8_t* elf, uint64_t bytes, uint32_t abi, uint32_t kernels,
                      bare_module* module, bare_code* code, uint32_t* status);
void bare_unload(bare_module* module);

/* e_machine of this machine's code. */
uint32_t bare_machine(void);

/* absl::StatusCode. */
enum {
  BARE_INVALID_ARGUMENT = 3,
  BARE_RESOURCE_EXHAUSTED = 8,
  BARE_UNIMPLEMENTED = 12,
  BARE_INTERNAL = 13
};

#endif /* SLIPWAY_CORE_BARE_RUNNER_RUNNER_H_ */
