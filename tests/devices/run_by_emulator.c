// Loaded ahead of the C library into an agent that an emulator runs. The kernel cannot execute a file for another
// processor: where the agent starts itself, the script that runs it by the emulator is started in its place.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int spawn_function(pid_t*, const char*, const posix_spawn_file_actions_t*,
                           const posix_spawnattr_t*, char* const[], char* const[]);
typedef int execv_function(const char*, char* const[]);

static const char* script_for(const char* file) {
  const char* script = getenv("SLIPWAY_EMULATED_AS");
  return script != 0 && strcmp(file, "/proc/self/exe") == 0 ? script : file;
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  spawn_function* next = (spawn_function*)dlsym(RTLD_NEXT, "posix_spawnp");
  return next(pid, script_for(file), actions, attributes, argv, envp);
}

int execv(const char* file, char* const argv[]) {
  execv_function* next = (execv_function*)dlsym(RTLD_NEXT, "execv");
  return next(script_for(file), argv);
}
