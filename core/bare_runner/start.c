/* Where the process begins, and its threads. */
#include <linux/sched.h>

#include "core/bare_runner/runner.h"
#include "core/bare_runner/system.h"

#if defined(__x86_64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call bare_start\n"
    "  hlt\n"
    /* rdi: flags, rsi: end of the stack, rdx: function, rcx: argument, r8: id. */
    ".globl bare_clone\n"
    "bare_clone:\n"
    "  sub $16, %rsi\n"
    "  mov %rdx, (%rsi)\n"
    "  mov %rcx, 8(%rsi)\n"
    "  mov $56, %eax\n"
    "  mov %r8, %rdx\n"
    "  mov %r8, %r10\n"
    "  xor %r8d, %r8d\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jz 1f\n"
    "  ret\n"
    "1: xor %ebp, %ebp\n"
    "  pop %rax\n"
    "  pop %rdi\n"
    "  call *%rax\n"
    "  mov $60, %eax\n"
    "  xor %edi, %edi\n"
    "  syscall\n"
    "  hlt\n");
#elif defined(__aarch64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov x29, xzr\n"
    "  mov x30, xzr\n"
    "  mov x0, sp\n"
    "  and sp, x0, #-16\n"
    "  b bare_start\n"
    /* x0: flags, x1: end of the stack, x2: function, x3: argument, x4: id. */
    ".globl bare_clone\n"
    "bare_clone:\n"
    "  stp x2, x3, [x1, #-16]!\n"
    "  mov x2, x4\n"
    "  mov x3, xzr\n"
    "  mov x8, #220\n"
    "  svc #0\n"
    "  cbz x0, 1f\n"
    "  ret\n"
    "1: mov x29, xzr\n"
    "  ldp x1, x0, [sp], #16\n"
    "  blr x1\n"
    "  mov x0, xzr\n"
    "  mov x8, #93\n"
    "  svc #0\n"
    "  brk #1\n");
#endif

long bare_clone(long flags, void* stack_end, void (*function)(void*), void* argument, uint32_t* id);

long bare_start_thread(void* stack_end, void (*function)(void*), void* argument, uint32_t* id) {
  return bare_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                        CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
                    stack_end, function, argument, id);
}

/* `stack` as the kernel leaves it: argc, argv, null, environment, null, auxiliary vector. */
__attribute__((used)) _Noreturn void bare_start(const uint64_t* stack) {
  const uint64_t* words = stack + 1 + stack[0] + 1;
  while (*words != 0) ++words;
  bare_exit(bare_main((int)stack[0], (char**)(stack + 1), words + 1));
}
