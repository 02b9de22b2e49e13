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
#elif defined(__arm__)
__asm__(
    ".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    "  mov r11, #0\n"
    "  mov lr, #0\n"
    "  mov r0, sp\n"
    "  bic r1, r0, #7\n"
    "  mov sp, r1\n"
    "  b bare_start\n"
    /* r0: flags, r1: end of the stack, r2: function, r3: argument, on the stack: id. */
    ".globl bare_clone\n"
    ".type bare_clone, %function\n"
    "bare_clone:\n"
    "  stmdb r1!, {r2, r3}\n"
    "  ldr r2, [sp]\n"
    "  push {r4, r7}\n"
    "  mov r3, #0\n"
    "  mov r4, r2\n"
    "  mov r7, #120\n"
    "  svc #0\n"
    "  cmp r0, #0\n"
    "  beq 1f\n"
    "  pop {r4, r7}\n"
    "  bx lr\n"
    "1: mov r11, #0\n"
    "  ldmia sp!, {r2, r3}\n"
    "  mov r0, r3\n"
    "  blx r2\n"
    "  mov r0, #0\n"
    "  mov r7, #1\n"
    "  svc #0\n"
    "  udf #0\n");
#elif defined(__riscv)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mv s0, zero\n"
    "  mv ra, zero\n"
    "  mv a0, sp\n"
    "  andi sp, sp, -16\n"
    "  tail bare_start\n"
    /* a0: flags, a1: end of the stack, a2: function, a3: argument, a4: id. */
    ".globl bare_clone\n"
    "bare_clone:\n"
    "  addi a1, a1, -16\n"
    "  sd a2, 0(a1)\n"
    "  sd a3, 8(a1)\n"
    "  mv a2, a4\n"
    "  mv a3, zero\n"
    "  li a7, 220\n"
    "  ecall\n"
    "  beqz a0, 1f\n"
    "  ret\n"
    "1: mv s0, zero\n"
    "  ld a1, 0(sp)\n"
    "  ld a0, 8(sp)\n"
    "  addi sp, sp, 16\n"
    "  jalr a1\n"
    "  li a0, 0\n"
    "  li a7, 93\n"
    "  ecall\n"
    "  ebreak\n");
#endif

long bare_clone(long flags, void* stack_end, void (*function)(void*), void* argument, uint32_t* id);

long bare_start_thread(void* stack_end, void (*function)(void*), void* argument, uint32_t* id) {
  return bare_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                        CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
                    stack_end, function, argument, id);
}

/* `stack` as the kernel leaves it: argc, argv, null, environment, null, auxiliary vector. */
__attribute__((used)) _Noreturn void bare_start(const unsigned long* stack) {
  const unsigned long* words = stack + 1 + stack[0] + 1;
  while (*words != 0) ++words;
  bare_exit(bare_main((int)stack[0], (char**)(stack + 1), words + 1));
}
