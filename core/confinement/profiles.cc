#include "core/confinement/profiles.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

using Calls = std::vector<SystemCallRule>;

// As many as device_agent/measure/energy.cc looks for.
constexpr int kMaxSensors = 16;
constexpr int kMaxBatteries = 4;
constexpr int kMaxNvidiaDevices = 16;

constexpr uint32_t kAll = ~uint32_t{0};

ArgumentTest Is(int argument, uint32_t value) { return {argument, kAll, value}; }
ArgumentTest HasNo(int argument, uint32_t bits) { return {argument, bits, 0}; }
ArgumentTest HasAll(int argument, uint32_t bits) { return {argument, bits, bits}; }

constexpr uint32_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

void Add(Calls& calls, const Calls& more) { calls.insert(calls.end(), more.begin(), more.end()); }

// What the C library makes of some of the calls below, by the machine.
#if defined(__arm__)
// Times, offsets and sizes have 64 bits where other numbers have 32.
constexpr int kFcntl = SYS_fcntl64;

Calls CommonCallsOfMachine() {
  return {
      {SYS_mmap2},
      {SYS__llseek},
      {SYS_fstat64},
      {SYS_fstatat64},
      {SYS_statx},
      {SYS_ftruncate64},
      {SYS_futex_time64},
      {SYS_ppoll_time64},
      {SYS_clock_gettime64},
      {SYS_clock_getres_time64},
      {SYS_clock_nanosleep_time64},
      {SYS_recv},
      {SYS_send},
      {SYS_sigreturn},
      // The kernel's own for this machine: where a thread's data is, code that has been written.
      {__ARM_NR_set_tls},
      {__ARM_NR_cacheflush},
  };
}

Calls FileCallsOfMachine() {
  return {{SYS_open},      {SYS_access},   {SYS_readlink}, {SYS_stat64},           {SYS_lstat64},
          {SYS_mkdir},     {SYS_rmdir},    {SYS_rename},   {SYS_unlink},           {SYS_dup2},
          {SYS_getpgrp},   {SYS_vfork},    {SYS_fork},     {SYS_utimensat_time64}, {SYS_getuid32},
          {SYS_geteuid32}, {SYS_getgid32}, {SYS_getegid32}};
}
#else
constexpr int kFcntl = SYS_fcntl;

Calls CommonCallsOfMachine() {
  Calls calls = {{SYS_mmap}, {SYS_newfstatat}};
#if defined(__x86_64__)
  constexpr uint32_t kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  // Tile registers, for programs that compute in them.
  calls.push_back({SYS_arch_prctl, Is(0, kRequestPermission), Is(1, 18)});
#endif
  return calls;
}

Calls FileCallsOfMachine() {
  return {
#if defined(__x86_64__)
    // The older forms, which the C library takes where it has them.
    {SYS_open}, {SYS_access}, {SYS_readlink}, {SYS_stat}, {SYS_lstat}, {SYS_mkdir}, {SYS_rmdir},
        {SYS_rename}, {SYS_unlink}, {SYS_dup2}, {SYS_getpgrp}, {SYS_vfork}, {SYS_fork},
        // Where a thread's own data is, when the linker begins.
        {SYS_arch_prctl},
#endif
  };
}
#endif

// What every process of ours needs.
Calls CommonCalls() {
  Calls calls = {
      // Waiting and waking: locks, threads that end.
      {SYS_futex},
      // Memory: malloc, thread stacks, code and constants that are mapped.
      {SYS_munmap},
      {SYS_mprotect},
      {SYS_mremap},
      {SYS_madvise},
      {SYS_brk},
      // Descriptors that are open, or that the calls below open.
      {SYS_read},
      {SYS_write},
      {SYS_pread64},
      {SYS_pwrite64},
      {SYS_readv},
      {SYS_writev},
      {SYS_lseek},
      {SYS_close},
      {SYS_fstat},
      {SYS_ftruncate},
      {SYS_ppoll},
#ifdef SYS_poll
      {SYS_poll},
#endif
      // Code is loaded from a file in memory, and the linker's parts are such files.
      {SYS_memfd_create},
      // The time, where it cannot be read without a call; and waiting for it.
      {SYS_clock_gettime},
      {SYS_clock_getres},
      {SYS_clock_nanosleep},
      {SYS_nanosleep},
      {SYS_gettimeofday},
      // Which processors there are, and giving them up.
      {SYS_sched_getaffinity},
      {SYS_sched_yield},
      {SYS_getcpu},
      // What it has used, and what the machine has free.
      {SYS_getrusage},
      {SYS_sysinfo},
      {SYS_uname},
      // Limits: reading its own.
      {SYS_prlimit64, Is(0, 0), Is(2, 0)},
      // Handlers of its own signals.
      {SYS_rt_sigaction},
      {SYS_rt_sigprocmask},
      {SYS_rt_sigreturn},
      {SYS_sigaltstack},
      // Seeds of hash tables.
      {SYS_getrandom},
      // Threads: beginning, and their ends. What pthread_create asks for first hides its flags from a filter.
      {SYS_clone, HasAll(0, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND), HasNo(0, kNamespaceFlags)},
      {SYS_clone3, {}, {}, SystemCallRule::Answer::kUnknown},
      {SYS_set_robust_list},
      {SYS_rseq},
      {SYS_set_tid_address},
      {SYS_gettid},
      {SYS_getpid},
      {SYS_exit},
      {SYS_exit_group},
      // The kernel's own, after a signal.
      {SYS_restart_syscall},
  };
  Add(calls, CommonCallsOfMachine());
  return calls;
}

// Opening to read only. What may be read, Landlock says.
constexpr uint32_t kNotForReading = O_ACCMODE | O_CREAT | O_TRUNC | O_TMPFILE | O_APPEND;

Calls RunnerCalls() {
  Calls calls = CommonCalls();
  Add(calls, {
                 // abort(): signals to threads of its own alone.
                 {SYS_tgkill, Is(0, static_cast<uint32_t>(getpid()))},
                 // Blobs, code in memory, the state of the machine.
                 {SYS_openat, HasNo(2, kNotForReading & ~O_DIRECTORY)},
                 // The socket of its agent.
                 {SYS_recvfrom},
                 {SYS_sendto},
                 // MeasureMachine lets its threads begin together on processors of their own.
                 {SYS_sched_setaffinity},
             });
  return calls;
}

// Files of its own, and programs of the system that it starts.
Calls CallsForFilesAndChildren() {
  Calls calls = CommonCalls();
  Add(calls, FileCallsOfMachine());
  Add(calls,
      {
          // Files: which, and whose, Landlock says.
          {SYS_openat},
          {SYS_faccessat},
          {SYS_readlinkat},
          {SYS_getdents64},
          {SYS_getcwd},
          {SYS_mkdirat},
          {SYS_renameat},
          {SYS_renameat2},
          {SYS_unlinkat},
          {SYS_utimensat},
          {SYS_fsync},
          {SYS_fdatasync},
          {SYS_fallocate},
          {SYS_flock},
          {SYS_statx},
          {SYS_umask},
          // Descriptors: copies for children, pipes to wait for them; not who is signalled for one.
          {SYS_dup},
          {SYS_dup3},
          {SYS_pipe2},
          {SYS_eventfd2},
          {SYS_close_range},
          {kFcntl, Is(1, F_DUPFD)},
          {kFcntl, Is(1, F_DUPFD_CLOEXEC)},
          {kFcntl, Is(1, F_GETFD)},
          {kFcntl, Is(1, F_SETFD)},
          {kFcntl, Is(1, F_GETFL)},
          {kFcntl, Is(1, F_SETFL), HasNo(2, O_ASYNC)},
          {SYS_ioctl, Is(1, TCGETS)},
          // Children: a kernel's generator each, and the linker. They end with their parent.
          {SYS_clone, HasNo(0, kNamespaceFlags)},
          {SYS_execve},
          {SYS_wait4},
          {SYS_waitid},
          {SYS_setpgid},
          {SYS_getppid},
          {SYS_getuid},
          {SYS_geteuid},
          {SYS_getgid},
          {SYS_getegid},
          {SYS_prctl, Is(0, PR_SET_PDEATHSIG)},
          {SYS_prctl, Is(0, PR_SET_NAME)},
          {SYS_prlimit64, Is(0, 0)},
      });
  return calls;
}

Calls CompileCalls() {
  Calls calls = CallsForFilesAndChildren();
  Add(calls, {
                 // Signals reach children alone (Landlock), and these have limits.
                 {SYS_kill},
                 {SYS_tgkill},
                 {SYS_prlimit64, Is(1, RLIMIT_FSIZE)},
                 {SYS_prlimit64, Is(1, RLIMIT_CORE)},
             });
  return calls;
}

}  // namespace

Confinement CompileConfinement(const std::vector<std::string>& writable_folders,
                               const std::vector<std::string>& program_folders) {
  Confinement confinement;
  confinement.parts = {ConfinementPart::kPrivileges, ConfinementPart::kNamespaces,
                       ConfinementPart::kTasks,      ConfinementPart::kFiles,
                       ConfinementPart::kSignals,    ConfinementPart::kSystemCalls};
  for (const std::string& folder : writable_folders) {
    confinement.paths.push_back({folder, PathAccess::kWrite});
  }
  // The linker, wherever it is.
  for (const std::string& folder : program_folders) {
    confinement.paths.push_back({folder, PathAccess::kRun});
  }
  for (const char* folder : {"/usr", "/lib", "/lib64"}) {
    confinement.paths.push_back({folder, PathAccess::kRun});
  }
  const std::vector<PathRule> system = {
      // Where libraries are.
      {"/etc/ld.so.cache", PathAccess::kReadFiles},
      {"/etc/ld.so.preload", PathAccess::kReadFiles},
      // OpenSSL, whose digests name blobs, looks at it when it is first used.
      {"/etc/ssl/openssl.cnf", PathAccess::kReadFiles},
      // What a child has mapped. What is another process's secret, Landlock forbids there, too.
      {"/proc", PathAccess::kRead},
      // How many processors there are.
      {"/sys/devices/system/cpu", PathAccess::kRead},
      // The streams of children that have none.
      {"/dev/null", PathAccess::kWrite},
  };
  confinement.paths.insert(confinement.paths.end(), system.begin(), system.end());
  confinement.calls = CompileCalls();
  confinement.keeps_ids = true;
  confinement.owns_processes = true;
  confinement.ends_with_parent = true;
  // 16 kernels at a time, and the linker with the threads that wait for it.
  confinement.max_tasks = 256;
  confinement.max_open_files = 1024;
  return confinement;
}

Confinement RunnerConfinement(const std::string& blob_folder) {
  Confinement confinement;
  confinement.parts = {ConfinementPart::kPrivileges, ConfinementPart::kNamespaces,
                       ConfinementPart::kTasks, ConfinementPart::kFiles,
                       ConfinementPart::kSystemCalls};
  confinement.paths = {
      // Names of blobs are their digests, which nobody guesses, and folders cannot be listed.
      {blob_folder, PathAccess::kReadFiles},
      // The state of the machine around a benchmark, and how much of it others took.
      {"/proc/stat", PathAccess::kReadFiles},
      {"/proc/loadavg", PathAccess::kReadFiles},
      {"/proc/cpuinfo", PathAccess::kReadFiles},
      {"/sys/devices/system/cpu", PathAccess::kReadFiles},
      {"/sys/devices/virtual/thermal", PathAccess::kReadFiles},
      // For how long its first thread was kept waiting, and what it holds in memory.
      {"/proc/self/schedstat", PathAccess::kReadFiles},
      {"/proc/self/smaps_rollup", PathAccess::kReadFiles},
      // What energy was taken: RAPL,
      {"/sys/devices/virtual/powercap", PathAccess::kReadFiles},
      // How much memory it has mapped (MappedBytes).
      {"/proc/self/statm", PathAccess::kReadFiles},
  };
  // sensors, and batteries. These are links; what is left to the runner is where they lead to.
  for (int i = 0; i < kMaxSensors; ++i) {
    confinement.paths.push_back(
        {absl::StrCat("/sys/class/hwmon/hwmon", i), PathAccess::kReadFiles});
  }
  for (int i = 0; i < kMaxBatteries; ++i) {
    confinement.paths.push_back(
        {absl::StrCat("/sys/class/power_supply/BAT", i), PathAccess::kReadFiles});
  }
  confinement.calls = RunnerCalls();
  confinement.ends_with_parent = true;
  // A program may ask for 1,024 threads, and a session hold several programs.
  confinement.max_tasks = 2048;
  // Streams, socket, shared memory; code and blobs while they are loaded. With the size of files it bounds memory that
  // RLIMIT_AS does not count: files in memory that are not mapped.
  confinement.max_open_files = 16;
  confinement.max_file_bytes = int64_t{256} << 20;
  return confinement;
}

Confinement AcceleratorConfinement(const std::string& blob_folder,
                                   const std::string& accelerator_folder) {
  Confinement confinement = RunnerConfinement(blob_folder);
  const std::vector<PathRule> more = {
      // What their compilers have made, for this driver (OpenClDriverOptions) and for themselves.
      {accelerator_folder, PathAccess::kWrite},
      // Vendors' libraries, and the linker that PoCL starts.
      {"/usr", PathAccess::kRun},
      {"/lib", PathAccess::kRun},
      {"/lib64", PathAccess::kRun},
      {"/opt", PathAccess::kRun},
      {"/etc/ld.so.cache", PathAccess::kReadFiles},
      {"/etc/ld.so.preload", PathAccess::kReadFiles},
      // Which vendors there are, as the loader finds them.
      {"/etc/OpenCL", PathAccess::kRead},
      {"/etc/alternatives", PathAccess::kRead},
      // Which processors, caches and devices there are, by hwloc and drivers. What is another process's secret, Landlock
      // forbids there, too.
      {"/proc", PathAccess::kRead},
      {"/sys", PathAccess::kRead},
      // GPUs: Mesa's and Intel's, AMD's, NVIDIA's, Mali's.
      {"/dev/dri", PathAccess::kDevice},
      {"/dev/kfd", PathAccess::kDevice},
      {"/dev/nvidiactl", PathAccess::kDevice},
      {"/dev/nvidia-uvm", PathAccess::kDevice},
      {"/dev/nvidia-uvm-tools", PathAccess::kDevice},
      {"/dev/nvidia-caps", PathAccess::kDevice},  // Of GPUs that are several.
      {"/dev/mali0", PathAccess::kDevice},
      {"/dev/null", PathAccess::kDevice},
  };
  confinement.paths.insert(confinement.paths.end(), more.begin(), more.end());
  for (int i = 0; i < kMaxNvidiaDevices; ++i) {
    confinement.paths.push_back({absl::StrCat("/dev/nvidia", i), PathAccess::kDevice});
  }
  // Files and children as a compilation has them, but for signals; and whatever a device is told.
  Add(confinement.calls, CallsForFilesAndChildren());
  Add(confinement.calls, {
                             {SYS_ioctl},
                             // Its own files may be run.
                             {SYS_faccessat2},
                             {SYS_fchmod},
                             {SYS_fchmodat},
#ifdef SYS_chmod
                             {SYS_chmod},
#endif
                             // Where threads and their memory lie.
                             {SYS_sched_getparam},
                             {SYS_sched_getscheduler},
                             {SYS_get_mempolicy},
                             {SYS_statfs},
                             {SYS_fstatfs},
                             {SYS_getresuid},
                             {SYS_getresgid},
                         });
  // It makes files, which are its agent's.
  confinement.keeps_ids = true;
  confinement.max_open_files = 1024;
  return confinement;
}

}  // namespace slipway
