#include "core/bare_runner/commands.h"

#include <stddef.h>
#include <string.h>

#include "core/bare_runner/protocol.h"

/* Programs for 64 bits index elements with 32. */
#define MAX_TENSOR_BYTES ((uint64_t)1 << 40)

typedef struct list_reader {
  const uint8_t* at;
  uint64_t left;
  uint64_t later; /* Of these, what the commands behind the one that is read take at least. */
  uint8_t* room;
  const bare_held* held;
} list_reader;

static const void* take(list_reader* r, uint64_t bytes) {
  if (r->left < r->later || bytes > r->left - r->later) return NULL;
  const void* taken = r->at;
  r->at += bytes;
  r->left -= bytes;
  return taken;
}

static void* take_room(list_reader* r, uint64_t bytes) {
  void* taken = r->room;
  r->room += (bytes + 7) & ~(uint64_t)7;
  return taken;
}

static const char* read_tensor(list_reader* r, slipway_buffer* buffer) {
  const slipway_bare_tensor* tensor = take(r, sizeof(*tensor));
  if (tensor == NULL || tensor->dimensions > SLIPWAY_BARE_MAX_DIMENSIONS) {
    return "a tensor is cut off";
  }
  const slipway_dimension* dimensions =
      take(r, (uint64_t)tensor->dimensions * sizeof(slipway_dimension));
  if (dimensions == NULL) return "a tensor is cut off";
  const int is_known = tensor->bits == 8 || tensor->bits == 16 || tensor->bits == 32 ||
                       tensor->bits == 64 || tensor->bits == 128;
  if (!is_known || tensor->lanes != 1) {
    return "a tensor has elements of no known size";
  }
  uint64_t stride = 1;
  int is_empty = 0;
  for (uint32_t d = 0; d < tensor->dimensions; ++d) {
    const slipway_dimension* dimension = &dimensions[d];
    if (dimension->min != 0 || dimension->extent < 0 || dimension->flags != 0 ||
        (uint64_t)dimension->stride != stride) {
      return "a tensor is not dense";
    }
    if (dimension->extent == 0) is_empty = 1;
    if (dimension->extent != 0) stride *= (uint64_t)dimension->extent;
    if (stride > MAX_TENSOR_BYTES) return "a tensor is too large";
  }
  const uint64_t bytes = is_empty ? 0 : stride * (tensor->bits / 8);
  if (!bare_is_in_block(r->held->blocks, tensor->address, bytes)) {
    return "a tensor does not lie in memory that was given out";
  }
  memset(buffer, 0, sizeof(*buffer));
  buffer->host = (uint8_t*)(uintptr_t)tensor->address;
  buffer->type.code = tensor->type;
  buffer->type.bits = tensor->bits;
  buffer->type.lanes = 1;
  buffer->dimensions = (int32_t)tensor->dimensions;
  buffer->dim = (slipway_dimension*)dimensions;
  return NULL;
}

static const char* read_launch(list_reader* r, bare_command* command) {
  const slipway_bare_launch* launch = take(r, sizeof(*launch));
  if (launch == NULL) return "a launch is cut off";
  const bare_held* held = r->held;
  if (launch->code >= held->code_count || launch->kernel >= held->codes[launch->code].count) {
    return "a launch names no kernel";
  }
  const slipway_kernel_entry* entry = &held->codes[launch->code].kernels[launch->kernel];
  if (entry->argument_count < 0 || launch->tensors != (uint32_t)entry->argument_count) {
    return "a launch has another number of tensors than its kernel takes";
  }
  if ((uint64_t)launch->tensors * sizeof(slipway_bare_tensor) > r->left - r->later) {
    return "a launch is cut off";
  }
  command->function = entry->function;
  command->arguments = take_room(r, ((uint64_t)launch->tensors + 1) * sizeof(void*));
  command->arguments[0] = (void*)held->context;
  for (uint32_t i = 0; i < launch->tensors; ++i) {
    slipway_buffer* buffer = take_room(r, sizeof(slipway_buffer));
    const char* error = read_tensor(r, buffer);
    if (error != NULL) return error;
    command->arguments[i + 1] = buffer;
  }
  return NULL;
}

static const char* read_copy(list_reader* r, bare_command* command) {
  const slipway_bare_copy* copy = take(r, sizeof(*copy));
  if (copy == NULL) return "a copy is cut off";
  if (!bare_is_in_block(r->held->blocks, copy->from, copy->bytes) ||
      !bare_is_in_block(r->held->blocks, copy->to, copy->bytes)) {
    return "a copy does not lie in memory that was given out";
  }
  command->from = copy->from;
  command->to = copy->to;
  command->bytes = copy->bytes;
  return NULL;
}

const char* bare_read_commands(const uint8_t* list, uint32_t bytes, uint32_t count,
                               const bare_held* held, void* room) {
  /* What BARE_COMMAND_ROOM has to hold: 48 bytes a command and 64 a tensor, each of 16 bytes of its own. */
  _Static_assert(sizeof(bare_command) + 8 <= 4 * sizeof(slipway_bare_launch), "room");
  _Static_assert(sizeof(slipway_buffer) + sizeof(void*) <= 4 * sizeof(slipway_bare_tensor), "room");
  _Static_assert(sizeof(slipway_buffer) % 8 == 0 && sizeof(bare_command) % 8 == 0, "alignment");
  if (count > bytes / sizeof(slipway_bare_launch)) return "a list is cut off";
  if (count == 0) return bytes == 0 ? NULL : "a list has more than its commands";
  bare_command* commands = room;
  list_reader r = {list, bytes, 0, (uint8_t*)room + count * sizeof(bare_command), held};
  memset(commands, 0, count * sizeof(bare_command));
  for (uint32_t i = 0; i < count; ++i) {
    r.later = (uint64_t)(count - i - 1) * sizeof(slipway_bare_launch);
    uint32_t kind = 0;
    if (r.left >= sizeof(kind)) memcpy(&kind, r.at, sizeof(kind));
    const char* error = "a command is of no known kind";
    if (kind == SLIPWAY_BARE_LAUNCH) error = read_launch(&r, &commands[i]);
    if (kind == SLIPWAY_BARE_COPY) error = read_copy(&r, &commands[i]);
    if (error != NULL) return error;
  }
  return r.left == 0 ? NULL : "a list has more than its commands";
}
