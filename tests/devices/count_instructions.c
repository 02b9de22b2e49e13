/* A plugin of qemu (docs/devel/tcg-plugins.rst of version 7.2): at the program's end it says on stderr how many instructions of the emulated
 * machine were executed, of all threads, as "instructions N". Debian has no header of the interface; what is used of it stands here. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))
#define ADD_U64 0 /* QEMU_PLUGIN_INLINE_ADD_U64 */

typedef uint64_t plugin_id;
struct qemu_plugin_tb; /* Instructions that follow each other, translated together. */

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*translated)(plugin_id, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation,
                                              void* number, uint64_t operand);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id, void*), void* data);

EXPORTED int qemu_plugin_version = 1;

static uint64_t instructions;

static void count(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &instructions,
                                           qemu_plugin_tb_n_insns(block));
}

static void tell(plugin_id id, void* data) {
  (void)id;
  (void)data;
  fprintf(stderr, "instructions %llu\n", (unsigned long long)instructions);
}

EXPORTED int qemu_plugin_install(plugin_id id, const void* emulator, int argc, char** argv) {
  (void)emulator;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, count);
  qemu_plugin_register_atexit_cb(id, tell, NULL);
  return 0;
}
