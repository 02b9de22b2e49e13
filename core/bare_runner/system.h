/* System calls, without a C library: it would be most of the file. Results are those of the kernel: -errno where something failed. */
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

/* Memory in pages, zeroed; null when there is none left. */
void* bare_map(uint64_t bytes);
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
