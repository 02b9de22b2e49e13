/* Runs a library's model with nothing around it: no C library, no startup code, no heap. Inputs are read from descriptor 0, one behind
 * the other, and outputs written to descriptor 1; the exit code is the status. DRIVER_MODELS lists M(name, NAME) for each model, in whose
 * header DRIVER_HEADER includes, and NAME_BUFFERS, NAME_IN and NAME_OUT are its tensors; NAME_WORKERS is
 * how many threads may do parts of it, and NAME_SET_HOOK has a function do them; NAME_HOOKS is how often the step hook is called. DRIVER_RUNS is how often each runs before it is watched. */
#include "driver.h"

#ifndef DRIVER_RUNS
#define DRIVER_RUNS 1
#endif

#if defined(__x86_64__)
#define READ 0
#define WRITE 1
#define EXIT 60
static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}
__asm__(".global _start\n_start:\n xor %ebp, %ebp\n and $-64, %rsp\n call start\n");
#elif defined(__aarch64__)
#define READ 63
#define WRITE 64
#define EXIT 93
static long system_call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
__asm__(".global _start\n_start:\n bl start\n");
#elif defined(__arm__)
#define READ 3
#define WRITE 4
#define EXIT 1
static long system_call(long number, long a, long b, long c) {
  register long r7 __asm__("r7") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
  return r0;
}
__asm__(".global _start\n_start:\n bl start\n");
#elif defined(__riscv)
#define READ 63
#define WRITE 64
#define EXIT 93
static long system_call(long number, long a, long b, long c) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
}
/* Linkers let short ways to data begin there. */
__asm__(
    ".global _start\n_start:\n"
    ".option push\n.option norelax\n la gp, __global_pointer$\n.option pop\n"
    " call start\n");
#endif

/* All that a library may want from outside. */
void* memcpy(void* to, const void* from, size_t bytes) {
  volatile unsigned char* t = to;
  const unsigned char* f = from;
  size_t i;
  for (i = 0; i < bytes; ++i) t[i] = f[i];
  return to;
}
void* memset(void* to, int value, size_t bytes) {
  volatile unsigned char* t = to;
  size_t i;
  for (i = 0; i < bytes; ++i) t[i] = (unsigned char)value;
  return to;
}

__attribute__((noreturn)) static void end(int status) {
  system_call(EXIT, status, 0, 0);
  __builtin_unreachable();
}

static void move(long number, int descriptor, unsigned char* at, size_t bytes) {
  while (bytes > 0) {
    const long done = system_call(number, descriptor, (long)(uintptr_t)at, (long)bytes);
    if (done <= 0) end(99);
    at += done;
    bytes -= (size_t)done;
  }
}

typedef struct piece {
  void* at;
  size_t bytes;
} piece;

static int hooks;
static void count(void* data, int32_t step, int is_end) {
  (void)step;
  if (is_end) ++*(int*)data;
}

/* What threads may do at worst, by one: all turns of a loop, the last first, each for another of them. */
typedef struct sharing {
  int32_t workers;
  int32_t loops;
} sharing;
static inline void share(void* data, void (*task)(void*, int32_t, int32_t), void* loop,
                         int32_t count) {
  sharing* const s = data;
  int32_t worker = 0;
  ++s->loops;
  while (count-- > 0) {
    task(loop, count, worker);
    if (++worker == s->workers) worker = 0;
  }
}

static uint64_t digest(const piece* pieces) {
  uint64_t hash = 14695981039346656037u;
  for (; pieces->at != 0; ++pieces) {
    size_t i;
    for (i = 0; i < pieces->bytes; ++i) {
      hash = (hash ^ ((const unsigned char*)pieces->at)[i]) * 1099511628211u;
    }
  }
  return hash;
}

/* More than once, since a context is used again; the last time is what counts. */
#define M(name, NAME)                                                                  \
  static unsigned char name##_arena[NAME##_ARENA_BYTES + 1] NAME##_ALIGNED;            \
  NAME##_BUFFERS static void run_##name(void) {                                        \
    const piece in[] = {NAME##_IN{0, 0}};                                              \
    const piece out[] = {NAME##_OUT{0, 0}};                                            \
    const void* inputs[NAME##_INPUTS + 1];                                             \
    void* outputs[NAME##_OUTPUTS + 1];                                                 \
    name##_context context;                                                            \
    int status;                                                                        \
    int i;                                                                             \
    for (i = 0; i < NAME##_INPUTS; ++i) {                                              \
      move(READ, 0, in[i].at, in[i].bytes);                                            \
      inputs[i] = in[i].at;                                                            \
    }                                                                                  \
    for (i = 0; i < NAME##_OUTPUTS; ++i) outputs[i] = out[i].at;                       \
    status = name##_init(&context, name##_arena, NAME##_WEIGHTS_POINTER);              \
    if (status != NAME##_OK) end(status);                                              \
    for (i = 0; i < DRIVER_RUNS; ++i) {                                                \
      status = name##_run(&context, inputs, outputs);                                  \
      if (status != NAME##_OK) end(status);                                            \
    }                                                                                  \
    const uint64_t alone = digest(out);                                                \
    sharing shared = {NAME##_WORKERS, 0};                                              \
    NAME##_SET_HOOK(&context, share, &shared);                                         \
    hooks = 0;                                                                         \
    name##_set_step_hook(&context, count, &hooks);                                     \
    memset(name##_arena, 0xa5, NAME##_ARENA_BYTES);                                    \
    status = name##_run(&context, inputs, outputs);                                    \
    if (status != NAME##_OK) end(status);                                              \
    if (digest(out) != alone || (shared.loops > 0) != (NAME##_WORKERS > 1)) end(97);   \
    if (hooks != NAME##_HOOKS || context.scratch_peak > NAME##_SCRATCH_BYTES) end(98); \
    for (i = 0; i < NAME##_OUTPUTS; ++i) move(WRITE, 1, out[i].at, out[i].bytes);      \
  }
DRIVER_MODELS
#undef M

__attribute__((used)) void start(void) {
#define M(name, NAME) run_##name();
  DRIVER_MODELS
  end(0);
}
