// What a fake libcuda keeps: devices, contexts, memory, streams and events, all on the host.
//
// As strict as a driver may be, so that what runs here is right elsewhere. What no caller may do (a handle that is not there any more,
// a call without a current context, an address outside of all memory, memory freed while queued work uses it) ends the process, and says
// what it was. Work of streams is done when somebody waits for it, and then no more than the wait needs; the host reaches a device's
// memory by copies alone, and fresh memory is poisoned. Kernels are run as their PTX says, by ptx_machine.h.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_WORLD_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_WORLD_H_

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/testing/fake_settings.h"
#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

namespace slipway::fake_cuda {

struct FreeBytes {
  void operator()(uint8_t* bytes) const { free(bytes); }
};

struct Memory {
  CUcontext context = nullptr;
  std::unique_ptr<uint8_t, FreeBytes> bytes;
  size_t size = 0;
  int number = 0;        // In the order of allocations, for traces.
  int users = 0;         // Pieces of queued work.
  bool is_host = false;  // Page-locked; its address is the host's.
};

}  // namespace slipway::fake_cuda

namespace slipway {

struct CUctx_st {
  CUdevice device = 0;
  int retained = 0;
  CUresult error = kCudaSuccess;  // That ended it.
};

struct CUfunc_st {
  CUmodule module = nullptr;
  std::string name;
  const fake_cuda::PtxFunction* code = nullptr;
  int dynamic_shared_bytes = 48 << 10;
};

struct CUmod_st {
  CUcontext context = nullptr;
  int users = 0;
  std::shared_ptr<const fake_cuda::PtxProgram> program;
  std::map<std::string, CUfunc_st> functions;
};

struct CUevent_st {
  CUcontext context = nullptr;
  CUstream stream = nullptr;  // Where it was recorded; null for never.
  uint64_t count = 0;
  uint64_t recorded_at = 0;  // By World::done: it happens no sooner.
  bool has_time = false;
};

struct CUstream_st {
  struct Work {
    std::function<CUresult()> run;
    std::vector<fake_cuda::Memory*> memory;
    CUmodule module = nullptr;
  };
  // Says of a piece of work what it is by now; ends the process where what it uses is not there any more.
  using MakeWork = std::function<Work(CUstream)>;
  CUcontext context = nullptr;
  std::unique_ptr<std::vector<MakeWork>> captured;  // Set while it captures.
  std::thread::id capturing;                        // The thread that began it.
  int number = 0;
  std::deque<Work> waiting;
  uint64_t queued = 0;
  uint64_t done = 0;
  // When each piece had ended: what the world had done by then.
  std::vector<uint64_t> done_at = {0};
};

struct CUgraph_st {
  CUcontext context = nullptr;
  std::vector<CUstream_st::MakeWork> nodes;
};

struct CUgraphExec_st {
  CUcontext context = nullptr;
  std::vector<CUstream_st::MakeWork> nodes;
};

}  // namespace slipway

namespace slipway::fake_cuda {

class World {
 public:
  struct Found {
    Memory* memory = nullptr;
    uint8_t* bytes = nullptr;
    std::string name;  // "m3+64".
  };

  // What every call that needs one begins with: the thread's current context, alive. Ends the process where there is none.
  CUcontext Current(const char* function);
  void Push(CUcontext context);
  CUcontext Pop();

  CUcontext Retain(CUdevice device);
  void Release(CUdevice device);

  // 0 where there is no such memory.
  CUdeviceptr Allocate(CUcontext context, size_t bytes, bool is_host);
  void Free(CUdeviceptr address, bool is_host, const char* function);
  size_t BytesLeft(CUdevice device) const;
  // `size` bytes from an address on. Ends the process where they are not within one allocation.
  Found Find(CUdeviceptr address, size_t size, const char* function);
  // The same of the host: nothing where it is no memory that was page-locked.
  Found FindHost(const void* host, size_t size);

  template <typename T>
  T* Check(std::set<T*>& alive, T* handle, const char* function);

  void Enqueue(CUstream stream, CUstream_st::Work work);
  // Or puts it into what the stream captures.
  void EnqueueOrCapture(CUstream stream, CUstream_st::MakeWork make);
  // Ends the process where this thread captures what a stream gets, and the function is none that may be called meanwhile.
  void CheckCapture(const std::string& function) const;
  // Does the first `count` pieces of work a stream ever got; the result that has ended its context.
  CUresult RunUntil(CUstream stream, uint64_t count);

  std::recursive_mutex mutex;
  bool is_initialized = false;
  std::set<CUmodule> modules;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> graph_execs;
  int next_stream = 0;
  uint64_t done = 0;  // Pieces of work, of all streams: a clock.

 private:
  std::map<CUdevice, std::unique_ptr<CUctx_st>> contexts_;  // Alive or not; never taken away.
  std::map<CUdeviceptr, Memory> memory_;
  int next_memory_ = 0;
};

World& TheWorld();

template <typename T>
T* World::Check(std::set<T*>& alive, T* handle, const char* function) {
  if (alive.count(handle) == 0) {
    Violation(std::string(function) + " of a handle that is not there");
  }
  return handle;
}

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_WORLD_H_
