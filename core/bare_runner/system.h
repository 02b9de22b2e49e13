/* System calls, without a C library: it would be most of the file. Results are those of the kernel: -errno where something failed. Where
 * the kernel's structures have numbers of a machine's word, `long` is one. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_SYSTEM_H_
#define SLIPWAY_CORE_BARE_RUNNER_SYSTEM_H_

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static inline void bare_pause(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory", "cc");
  return x0;
}
static inline void bare_pause(void) { __asm__ volatile("yield"); }
#elif defined(__arm__)
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r7 __asm__("r7") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(r0)
                   : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                   : "memory", "cc");
  return r0;
}
static inline void bare_pause(void) { __asm__ volatile("yield"); }
/* It counts a file's offset in pages; here there is none. */
#define __NR_mmap __NR_mmap2
/* Of begin, end and flags: makes what was written as data visible as instructions. */
#define BARE_NR_FLUSH_CODE __ARM_NR_cacheflush
#elif defined(__riscv) && __riscv_xlen == 64
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a3 __asm__("a3") = d;
  register long a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                   : "memory");
  return a0;
}
/* "pause", which is a fence of nothing where it is not known. */
static inline void bare_pause(void) { __asm__ volatile(".word 0x0100000f"); }
#define BARE_NR_FLUSH_CODE __NR_riscv_flush_icache
#else
#error "a bare runner has no system calls for this machine: add them here and in start.c"
#endif

#define BARE_CALL0(n) bare_call(n, 0, 0, 0, 0, 0, 0)
#define BARE_CALL1(n, a) bare_call(n, (long)(a), 0, 0, 0, 0, 0)
#define BARE_CALL2(n, a, b) bare_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define BARE_CALL3(n, a, b, c) bare_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define BARE_CALL4(n, a, b, c, d) bare_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define BARE_CALL5(n, a, b, c, d, e) \
  bare_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* Starts a thread of this process that calls function(argument) on the stack that ends at `stack_end`, 16-byte aligned. Once it has
 * ended, *id is 0 (bare_await_thread). Returns its id (start.c). */
long bare_start_thread(void* stack_end, void (*function)(void*), void* argument, uint32_t* id);
void bare_await_thread(uint32_t* id);

/* Nanoseconds of the monotonic clock. */
uint64_t bare_now_ns(void);
/* What it tells apart; 0 where the system does not say. */
uint64_t bare_clock_resolution_ns(void);

/* Memory in pages, zeroed; null when there is none left. */
void* bare_map(uint64_t bytes);
/* The same, which children share with this process. */
void* bare_map_shared(uint64_t bytes);
void bare_unmap(void* memory, uint64_t bytes);
uint64_t bare_page_bytes(void);

/* Waits while *word is `value`, or less; wakes as many as wait. */
void bare_wait(uint32_t* word, uint32_t value);
void bare_wake_all(uint32_t* word);

_Noreturn void bare_exit(int code);

/* A lock: 0 free, 1 held, 2 held and waited for. */
void bare_lock(uint32_t* lock);
void bare_unlock(uint32_t* lock);

/* What a C compiler expects to be there. */
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);

#endif /* SLIPWAY_CORE_BARE_RUNNER_SYSTEM_H_ */
