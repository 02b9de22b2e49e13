/* A program's code whose kernels do what no compiler makes: they call the system by themselves.
 * HostileKernel in hostile_program.h names them by their place in the table.
 */
#include "core/kernel_abi/kernel_abi.h"

enum { kWrite = 1, kMmap = 9, kPause = 34, kFork = 57, kExitGroup = 231 };

static long system_call(long number, long a, long b, long c, long d, long e) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static int32_t crash(void** args) {
  static const char words[] = "last words of a kernel\n";
  (void)args;
  system_call(kWrite, 2, (long)words, sizeof(words) - 1, 0, 0);
  *(volatile int*)8 = 1;
  return 0;
}

/* A limit on processor time does not end it. */
static int32_t hang(void** args) {
  (void)args;
  for (;;) system_call(kPause, 0, 0, 0, 0, 0);
}

static int32_t map_memory(void** args) {
  const long piece_bytes = 64l << 20;
  (void)args;
  for (;;) {
    /* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS */
    const long piece = system_call(kMmap, 0, piece_bytes, 3, 0x22, -1);
    if (piece < 0) __builtin_trap();
    for (long i = 0; i < piece_bytes; i += 4096) *(volatile char*)(piece + i) = 1;
  }
}

static int32_t leave(void** args) {
  (void)args;
  system_call(kExitGroup, 0, 0, 0, 0, 0);
  return 0;
}

static int32_t leave_child(void** args) {
  if (system_call(kFork, 0, 0, 0, 0, 0) == 0) return hang(args);
  return crash(args);
}

static int32_t print_much(void** args) {
  static const char line[] = "a line of many that nobody wants to keep\n";
  for (int i = 0; i < 100000; ++i) system_call(kWrite, 2, (long)line, sizeof(line) - 1, 0, 0);
  return crash(args);
}

static const slipway_kernel_entry kernels[] = {
    {crash, 3, 0}, {hang, 3, 0},        {map_memory, 3, 0},
    {leave, 3, 0}, {leave_child, 3, 0}, {print_much, 3, 0},
};

static const slipway_kernel_table table = {SLIPWAY_ABI_VERSION,
                                           sizeof(kernels) / sizeof(kernels[0]), kernels};

__attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query(
    uint32_t abi_version, const slipway_imports* imports) {
  (void)imports;
  return abi_version == SLIPWAY_ABI_VERSION ? &table : 0;
}
