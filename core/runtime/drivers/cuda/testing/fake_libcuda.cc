// A libcuda without a GPU, for tests: the functions of cuda_api.h over fake_world.h.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/testing/fake_devices.h"
#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

namespace slipway::fake_cuda {
namespace {

// As the driver for CUDA 12.4 has them.
constexpr int kVersion = 12040;
constexpr char kPtx[] = "8.4";
constexpr size_t kMaxDeclaredShared = 48 << 10;

// What each function begins with: everything by one thread at a time, and results that a test has asked for.
struct Call {
  explicit Call(const char* function)
      : name(function),
        lock(TheWorld().mutex),
        result(static_cast<CUresult>(Number(function, kCudaSuccess))) {
    if (Number("calls", 0) != 0) Trace(std::string("call ") + function);
    TheWorld().CheckCapture(function);
  }

  const char* const name;
  const std::lock_guard<std::recursive_mutex> lock;
  CUresult result;
};

// Of functions that need a context: its error, too.
struct ContextCall : Call {
  explicit ContextCall(const char* function)
      : Call(function), context(TheWorld().Current(function)) {
    if (result == kCudaSuccess) {
      result = context->error;
    } else if (result >= kCudaIllegalAddress) {
      context->error = result;
    }
  }
  // The handle, which is there and of this context.
  template <typename T>
  T* Own(std::set<T*>& alive, T* handle) const {
    if (TheWorld().Check(alive, handle, name)->context != context) {
      Violation(std::string(name) + " of another context's handle");
    }
    return handle;
  }

  const CUcontext context;
};

// Compares "7.10" and "8.0".
bool IsNewer(const std::string& a, const std::string& b) { return std::stod(a) > std::stod(b); }

CUresult Compile(const std::string& text, CUmod_st& module, std::string& log) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(R"(\.version\s+(\d+\.\d+))"))) {
    log = "ptxas fatal: no .version";
    return kCudaInvalidPtx;
  }
  if (IsNewer(found[1], Setting("ptx", kPtx))) return kCudaUnsupportedPtxVersion;
  if (!std::regex_search(text, found, std::regex(R"(\.target\s+sm_(\d+)(a?))"))) {
    log = "ptxas fatal: no .target";
    return kCudaInvalidPtx;
  }
  const int needed = std::stoi(found[1]);
  if (found[2].length() > 0 ? needed != Capability() : needed > Capability()) {
    return kCudaNoBinaryForGpu;
  }
  module.program = ParsePtx(text, log);
  if (module.program == nullptr) return kCudaInvalidPtx;
  for (const auto& [name, code] : module.program->functions) {
    if (code.shared_bytes > kMaxDeclaredShared) {
      log = "ptxas error: entry '" + name + "' declares too much shared memory";
      return kCudaInvalidPtx;
    }
    module.functions[name] = {.module = &module, .name = name, .code = &code};
  }
  return kCudaSuccess;
}

struct Grid {
  std::array<uint32_t, 3> groups;
  std::array<uint32_t, 3> group;
  size_t shared_bytes = 0;  // Of a group, beyond what its code declares.
};

std::string Sizes(const std::array<uint32_t, 3>& sizes) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

// The place of number `i`, x first.
std::array<uint32_t, 3> PlaceOf(uint64_t i, const std::array<uint32_t, 3>& sizes) {
  return {static_cast<uint32_t>(i % sizes[0]), static_cast<uint32_t>(i / sizes[0] % sizes[1]),
          static_cast<uint32_t>(i / sizes[0] / sizes[1])};
}

CUresult RunAll(const CUfunc_st& function, const std::vector<uint64_t>& parameters,
                const Grid& grid) {
  const PtxMemory memory = [&function](uint64_t address, size_t bytes) {
    return TheWorld().Find(address, bytes, function.name.c_str()).bytes;
  };
  if (Number("kernels", 1) == 0) return kCudaSuccess;  // Who counts calls need not wait for them.
  const uint64_t groups = uint64_t{grid.groups[0]} * grid.groups[1] * grid.groups[2];
  std::vector<uint64_t> executed(function.code->code.size());
  for (uint64_t g = 0; g < groups; ++g) {
    if (!RunPtxGroup(*function.module->program, *function.code, parameters,
                     {PlaceOf(g, grid.groups), grid.group, grid.groups, grid.shared_bytes}, memory,
                     executed)) {
      return kCudaLaunchFailed;
    }
  }
  if (Number("counts", 0) != 0)
    Trace(function.name + " did " + ShowCounts(*function.code, executed));
  return kCudaSuccess;
}

std::string NameOf(CUstream stream) {
  return "stream " + std::to_string(stream->number) +
         (stream->captured == nullptr ? ": " : " captures: ");
}

CUstream_st::Work CopyWork(CUstream stream, const World::Found& from, const World::Found& to,
                           size_t bytes) {
  Trace(NameOf(stream) + "copy of " + std::to_string(bytes) + " bytes from " + from.name + " to " +
        to.name);
  return {.run =
              [=] {
                memmove(to.bytes, from.bytes, bytes);
                return CUresult{kCudaSuccess};
              },
          .memory = {from.memory, to.memory}};
}

CUresult Copied(CUstream stream, const World::Found& from, const World::Found& to, size_t bytes) {
  TheWorld().Enqueue(stream, CopyWork(stream, from, to, bytes));
  return kCudaSuccess;
}

// What a launch was called with.
struct LaunchCall {
  CUfunction function = nullptr;
  Grid grid;
  std::vector<uint64_t> values;
};

CUstream_st::Work LaunchWork(CUstream stream, const LaunchCall& launch) {
  World& world = TheWorld();
  world.Check(world.modules, launch.function->module, "a launch");
  const CUfunc_st& function = *launch.function;
  std::vector<Memory*> used;
  std::string shown;
  for (size_t i = 0; i < launch.values.size(); ++i) {
    shown += i == 0 ? "" : ", ";
    if (function.code->is_pointer[i]) {
      const World::Found found = world.Find(launch.values[i], 1, function.name.c_str());
      used.push_back(found.memory);
      shown += found.name;
    } else {
      shown += std::to_string(launch.values[i]);
    }
  }
  Trace(NameOf(stream) + function.name + "(" + shown + "), " + Sizes(launch.grid.groups) +
        " groups of " + Sizes(launch.grid.group));
  return {.run = [launch] { return RunAll(*launch.function, launch.values, launch.grid); },
          .memory = used,
          .module = function.module};
}

}  // namespace
}  // namespace slipway::fake_cuda

namespace slipway {

using namespace fake_cuda;  // NOLINT(google-build-using-namespace)

// All that the driver declares has these types here, too.
#define SLIPWAY_EXPORT(name, symbol, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult symbol parameters;
SLIPWAY_CUDA_FUNCTIONS(SLIPWAY_EXPORT)
SLIPWAY_CUDA_GRAPH_FUNCTIONS(SLIPWAY_EXPORT)
#undef SLIPWAY_EXPORT

CUresult cuInit(unsigned flags) {
  Call call(__func__);
  if (flags != 0) Violation("cuInit with flags");
  TheWorld().is_initialized = call.result == kCudaSuccess;
  return call.result;
}

CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(Number("version", kVersion));
  return kCudaSuccess;
}

CUresult cuGetErrorName(CUresult result, const char** name) {
  switch (result) {
#define SLIPWAY_NAME(number, text) \
  case number:                     \
    *name = text;                  \
    return kCudaSuccess;
    SLIPWAY_NAME(kCudaInvalidValue, "CUDA_ERROR_INVALID_VALUE")
    SLIPWAY_NAME(kCudaOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY")
    SLIPWAY_NAME(kCudaDeviceUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE")
    SLIPWAY_NAME(kCudaNoDevice, "CUDA_ERROR_NO_DEVICE")
    SLIPWAY_NAME(kCudaNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    SLIPWAY_NAME(kCudaInvalidPtx, "CUDA_ERROR_INVALID_PTX")
    SLIPWAY_NAME(kCudaUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION")
    SLIPWAY_NAME(kCudaNotFound, "CUDA_ERROR_NOT_FOUND")
    SLIPWAY_NAME(kCudaIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS")
    SLIPWAY_NAME(kCudaLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED")
#undef SLIPWAY_NAME
    default:
      return kCudaInvalidValue;
  }
}

CUresult cuGetErrorString(CUresult result, const char** text) {
  const char* name = nullptr;
  *text = result == kCudaLaunchFailed ? "unspecified launch failure" : "as the fake was told";
  return cuGetErrorName(result, &name);
}

CUresult cuDeviceGetCount(int* count) {
  Call call(__func__);
  if (!TheWorld().is_initialized) Violation("cuDeviceGetCount before cuInit");
  *count = CountDevices();
  return call.result;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  Call call(__func__);
  if (!IsDevice(ordinal)) return kCudaInvalidDevice;
  *device = ordinal;
  return call.result;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  Call call(__func__);
  if (!IsDevice(device)) return kCudaInvalidDevice;
  snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return call.result;
}

CUresult cuDeviceGetPCIBusId(char* address, int bytes, CUdevice device) {
  Call call(__func__);
  if (!IsDevice(device)) return kCudaInvalidDevice;
  snprintf(address, static_cast<size_t>(bytes), "%s", PciAddress(device).c_str());
  return call.result;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  Call call(__func__);
  if (!IsDevice(device)) return kCudaInvalidDevice;
  return ReadAttribute(attribute, *value) ? call.result : CUresult{kCudaInvalidValue};
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  Call call(__func__);
  if (!IsDevice(device)) return kCudaInvalidDevice;
  if (call.result == kCudaSuccess) *context = TheWorld().Retain(device);
  return call.result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Call call(__func__);
  TheWorld().Release(device);
  return call.result;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  Call call(__func__);
  if (call.result == kCudaSuccess) TheWorld().Push(context);
  return call.result;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  Call call(__func__);
  *context = TheWorld().Pop();
  return call.result;
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  ContextCall call(__func__);
  *total = static_cast<size_t>(Number("memory", int64_t{1} << 30));
  *free = TheWorld().BytesLeft(call.context->device);
  return call.result;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  ContextCall call(__func__);
  if (bytes == 0) return kCudaInvalidValue;
  if (call.result != kCudaSuccess) return call.result;
  *address = TheWorld().Allocate(call.context, bytes, /*is_host=*/false);
  return *address == 0 ? kCudaOutOfMemory : kCudaSuccess;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  ContextCall call(__func__);
  TheWorld().Free(address, /*is_host=*/false, __func__);
  return call.result;
}

CUresult cuMemHostAlloc(void** host, size_t bytes, unsigned flags) {
  ContextCall call(__func__);
  if (bytes == 0) return kCudaInvalidValue;
  if ((flags & kCudaHostAllocDeviceMap) == 0) Violation("memory of the host that is not mapped");
  if (call.result != kCudaSuccess) return call.result;
  *host = reinterpret_cast<void*>(TheWorld().Allocate(call.context, bytes, /*is_host=*/true));
  return *host == nullptr ? kCudaOutOfMemory : kCudaSuccess;
}

CUresult cuMemFreeHost(void* host) {
  ContextCall call(__func__);
  TheWorld().Free(reinterpret_cast<CUdeviceptr>(host), /*is_host=*/true, __func__);
  return call.result;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  ContextCall call(__func__);
  if (flags != 0) return kCudaInvalidValue;
  TheWorld().Find(reinterpret_cast<CUdeviceptr>(host), 1, __func__);
  *address = reinterpret_cast<CUdeviceptr>(host);
  return call.result;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  const World::Found target = world.Find(to, bytes, __func__);
  const World::Found locked = world.FindHost(from, bytes);
  if (locked.memory != nullptr) return Copied(stream, locked, target, bytes);
  // Staged before the call returns.
  const auto* const begin = static_cast<const uint8_t*>(from);
  Trace("stream " + std::to_string(stream->number) + ": copy of " + std::to_string(bytes) +
        " bytes from the host to " + target.name);
  world.Enqueue(stream, {.run =
                             [target, staged = std::vector<uint8_t>(begin, begin + bytes)] {
                               memcpy(target.bytes, staged.data(), staged.size());
                               return CUresult{kCudaSuccess};
                             },
                         .memory = {target.memory}});
  return kCudaSuccess;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  const World::Found source = world.Find(from, bytes, __func__);
  const World::Found locked = world.FindHost(to, bytes);
  if (locked.memory != nullptr) return Copied(stream, source, locked, bytes);
  // Returns when all is there.
  Trace("stream " + std::to_string(stream->number) + ": copy of " + std::to_string(bytes) +
        " bytes from " + source.name + " to the host");
  const CUresult result = world.RunUntil(stream, stream->queued);
  if (result == kCudaSuccess) memcpy(to, source.bytes, bytes);
  return result;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  const CUcontext context = call.context;
  world.EnqueueOrCapture(stream, [from, to, bytes, context](CUstream on) {
    const World::Found source = TheWorld().Find(from, bytes, "cuMemcpyDtoDAsync");
    const World::Found target = TheWorld().Find(to, bytes, "cuMemcpyDtoDAsync");
    for (const World::Found& end : {source, target}) {
      if (!end.memory->is_host && end.memory->context != context) {
        Violation("a copy within a device of another one's memory");
      }
    }
    return CopyWork(on, source, target, bytes);
  });
  return kCudaSuccess;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  const World::Found source = world.Find(from, bytes, __func__);
  const World::Found target = world.Find(to, bytes, __func__);
  if (source.memory->context != from_context || target.memory->context != to_context) {
    Violation("a copy between devices names the wrong ones");
  }
  return Copied(stream, source, target, bytes);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned option_count,
                            int* options, void** values) {
  ContextCall call(__func__);
  if (call.result != kCudaSuccess) return call.result;
  auto loaded = std::make_unique<CUmod_st>();
  loaded->context = call.context;
  std::string log;
  const CUresult result = Compile(static_cast<const char*>(image), *loaded, log);
  char* buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < option_count; ++i) {
    if (options[i] == kCudaJitErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kCudaJitErrorLogBufferBytes) bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (buffer != nullptr && bytes > 0) snprintf(buffer, bytes, "%s", log.c_str());
  if (result != kCudaSuccess) return result;
  *module = loaded.release();
  TheWorld().modules.insert(*module);
  return kCudaSuccess;
}

CUresult cuModuleUnload(CUmodule module) {
  ContextCall call(__func__);
  call.Own(TheWorld().modules, module);
  if (module->users > 0) Violation("a module is unloaded while queued work uses it");
  TheWorld().modules.erase(module);
  delete module;
  return call.result;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ContextCall call(__func__);
  call.Own(TheWorld().modules, module);
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return kCudaNotFound;
  *function = &found->second;
  return call.result;
}

CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  ContextCall call(__func__);
  call.Own(TheWorld().modules, function->module);
  if (attribute == kCudaFunctionMaxThreadsPerBlock) {
    *value = kMaxInstances;
  } else if (attribute == kCudaFunctionSharedBytes) {
    *value = static_cast<int>(function->code->shared_bytes);
  } else {
    return kCudaInvalidValue;
  }
  return call.result;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ContextCall call(__func__);
  call.Own(TheWorld().modules, function->module);
  if (attribute != kCudaFunctionMaxDynamicSharedBytes || value > MaxShared()) {
    return kCudaInvalidValue;
  }
  function->dynamic_shared_bytes = value;
  return call.result;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  ContextCall call(__func__);
  if (flags != kCudaStreamNonBlocking) Violation("a stream that waits for the default stream");
  if (call.result != kCudaSuccess) return call.result;
  *stream = new CUstream_st;
  (*stream)->context = call.context;
  (*stream)->number = TheWorld().next_stream++;
  TheWorld().streams.insert(*stream);
  return kCudaSuccess;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (stream->captured != nullptr) Violation("a stream is destroyed while it captures");
  world.RunUntil(stream, stream->queued);
  for (const CUevent event : world.events) {
    if (event->stream == stream) event->stream = nullptr;
  }
  world.streams.erase(stream);
  delete stream;
  return call.result;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ContextCall call(__func__);
  call.Own(TheWorld().streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  return TheWorld().RunUntil(stream, stream->queued);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  world.Check(world.events, event, __func__);  // Of any context.
  if (flags != 0) return kCudaInvalidValue;
  if (call.result != kCudaSuccess || event->stream == nullptr) return call.result;
  Trace("stream " + std::to_string(stream->number) + ": wait for stream " +
        std::to_string(event->stream->number));
  // As it was recorded by now: recording it again does not change what is waited for.
  world.Enqueue(stream, {.run = [from = event->stream, count = event->count] {
                  World& later = TheWorld();
                  return later.streams.count(from) == 0 ? CUresult{kCudaSuccess}
                                                        : later.RunUntil(from, count);
                }});
  return kCudaSuccess;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  ContextCall call(__func__);
  if (call.result != kCudaSuccess) return call.result;
  *event = new CUevent_st;
  (*event)->context = call.context;
  (*event)->has_time = (flags & kCudaEventDisableTiming) == 0;
  TheWorld().events.insert(*event);
  return kCudaSuccess;
}

CUresult cuEventDestroy_v2(CUevent event) {
  ContextCall call(__func__);
  call.Own(TheWorld().events, event);
  TheWorld().events.erase(event);
  delete event;
  return call.result;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  ContextCall call(__func__);
  call.Own(TheWorld().events, event);
  call.Own(TheWorld().streams, stream);
  event->stream = stream;
  event->count = stream->queued;
  event->recorded_at = TheWorld().done;
  return call.result;
}

CUresult cuEventSynchronize(CUevent event) {
  ContextCall call(__func__);
  call.Own(TheWorld().events, event);
  if (call.result != kCudaSuccess || event->stream == nullptr) return call.result;
  return TheWorld().RunUntil(event->stream, event->count);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  ContextCall call(__func__);
  uint64_t times[2] = {};
  for (int i = 0; i < 2; ++i) {
    const CUevent event = call.Own(TheWorld().events, i == 0 ? from : to);
    if (!event->has_time) Violation("the time of an event that was made without");
    if (event->stream == nullptr) Violation("the time of an event that was not recorded");
    if (event->stream->done < event->count) Violation("the time of an event that has not happened");
    times[i] = std::max(event->recorded_at, event->stream->done_at[event->count]);
  }
  // A piece of work takes a microsecond.
  *milliseconds =
      static_cast<float>(static_cast<double>(times[1]) - static_cast<double>(times[0])) / 1000;
  return call.result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.modules, function->module);
  call.Own(world.streams, stream);
  if (extra != nullptr) Violation("cuLaunchKernel with more than parameters");
  if (call.result != kCudaSuccess) return call.result;
  if (static_cast<uint64_t>(grid_x) * grid_y * grid_z == 0 ||
      static_cast<uint64_t>(block_x) * block_y * block_z - 1 >= kMaxInstances) {
    return kCudaInvalidValue;
  }
  if (shared_bytes > static_cast<unsigned>(function->dynamic_shared_bytes))
    return kCudaInvalidValue;
  LaunchCall launch = {
      function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, {}};
  for (size_t i = 0; i < function->code->is_pointer.size(); ++i) {
    launch.values.push_back(0);
    memcpy(&launch.values.back(), parameters[i], sizeof(uint64_t));
  }
  world.EnqueueOrCapture(stream, [launch](CUstream on) { return LaunchWork(on, launch); });
  return kCudaSuccess;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  ContextCall call(__func__);
  call.Own(TheWorld().streams, stream);
  if (mode != kCudaCaptureThreadLocal) Violation("a capture that stops other threads");
  if (call.result != kCudaSuccess) return call.result;
  stream->captured = std::make_unique<std::vector<CUstream_st::MakeWork>>();
  stream->capturing = std::this_thread::get_id();
  return kCudaSuccess;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.streams, stream);
  if (stream->captured == nullptr) Violation("a capture ends that did not begin");
  *graph = new CUgraph_st{call.context, std::move(*stream->captured)};
  stream->captured.reset();
  world.graphs.insert(*graph);
  return call.result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.graphs, graph);
  if (flags != 0) return kCudaInvalidValue;
  if (call.result != kCudaSuccess) return call.result;
  *exec = new CUgraphExec_st{graph->context, graph->nodes};
  world.graph_execs.insert(*exec);
  return kCudaSuccess;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ContextCall call(__func__);
  World& world = TheWorld();
  call.Own(world.graph_execs, exec);
  call.Own(world.streams, stream);
  if (call.result != kCudaSuccess) return call.result;
  Trace(NameOf(stream) + "graph of " + std::to_string(exec->nodes.size()));
  for (const CUstream_st::MakeWork& make : exec->nodes) world.Enqueue(stream, make(stream));
  return kCudaSuccess;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ContextCall call(__func__);
  call.Own(TheWorld().graphs, graph);
  TheWorld().graphs.erase(graph);
  delete graph;
  return call.result;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ContextCall call(__func__);
  call.Own(TheWorld().graph_execs, exec);
  TheWorld().graph_execs.erase(exec);
  delete exec;
  return call.result;
}

}  // namespace slipway
