#include "core/runtime/drivers/cuda/testing/fake_world.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace slipway::fake_cuda {
namespace {

// What lies between an address of a device and where the bytes are: the host must not touch them there.
constexpr CUdeviceptr kApart = CUdeviceptr{1} << 52;
constexpr uint8_t kPoison = 0xEE;
constexpr size_t kAlignment = 256;

thread_local std::vector<CUcontext> current;

}  // namespace

World& TheWorld() {
  static auto& world = *new World;
  return world;
}

CUcontext World::Current(const char* function) {
  if (!is_initialized) Violation(std::string(function) + " before cuInit");
  if (current.empty()) Violation(std::string(function) + " without a current context");
  if (current.back()->retained == 0) Violation(std::string(function) + " in a destroyed context");
  return current.back();
}

void World::Push(CUcontext context) {
  for (const auto& [device, known] : contexts_) {
    if (known.get() != context) continue;
    if (context->retained == 0) Violation("cuCtxPushCurrent of a destroyed context");
    current.push_back(context);
    return;
  }
  Violation("cuCtxPushCurrent of what is no context");
}

CUcontext World::Pop() {
  CUcontext context = Current("cuCtxPopCurrent");
  current.pop_back();
  return context;
}

CUcontext World::Retain(CUdevice device) {
  std::unique_ptr<CUctx_st>& context = contexts_[device];
  if (context == nullptr) context = std::make_unique<CUctx_st>();
  if (context->retained++ == 0) context->error = kCudaSuccess;
  context->device = device;
  return context.get();
}

void World::Release(CUdevice device) {
  CUcontext context = contexts_[device].get();
  if (context == nullptr || context->retained == 0) Violation("a context is released twice");
  if (--context->retained > 0) return;
  for (const auto& [address, memory] : memory_) {
    if (memory.context == context) Violation("a context ends before its memory");
  }
  for (const CUstream stream : streams) {
    if (stream->context == context) Violation("a context ends before its streams");
  }
  for (const CUevent event : events) {
    if (event->context == context) Violation("a context ends before its events");
  }
  for (const CUgraphExec graph : graph_execs) {
    if (graph->context == context) Violation("a context ends before its graphs");
  }
  for (const CUmodule module : modules) {
    if (module->context == context) Violation("a context ends before its modules");
  }
}

CUdeviceptr World::Allocate(CUcontext context, size_t bytes, bool is_host) {
  if (bytes > BytesLeft(context->device)) return 0;
  Memory memory;
  memory.context = context;
  memory.size = bytes;
  memory.number = next_memory_++;
  memory.is_host = is_host;
  memory.bytes.reset(static_cast<uint8_t*>(
      aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment)));
  memset(memory.bytes.get(), kPoison, bytes);
  const CUdeviceptr address =
      reinterpret_cast<CUdeviceptr>(memory.bytes.get()) + (is_host ? 0 : kApart);
  memory_.emplace(address, std::move(memory));
  return address;
}

void World::Free(CUdeviceptr address, bool is_host, const char* function) {
  const auto found = memory_.find(address);
  if (found == memory_.end() || found->second.is_host != is_host) {
    Violation(std::string(function) + " of what is no such memory");
  }
  if (found->second.users > 0) {
    Violation(std::string(function) + " of memory that queued work uses");
  }
  memory_.erase(found);
}

size_t World::BytesLeft(CUdevice device) const {
  auto free = static_cast<size_t>(Number("memory", int64_t{1} << 30));
  for (const auto& [address, memory] : memory_) {
    if (memory.context->device == device) free -= memory.size;
  }
  return free;
}

World::Found World::Find(CUdeviceptr address, size_t size, const char* function) {
  auto after = memory_.upper_bound(address);
  if (after != memory_.begin()) {
    auto& [begin, memory] = *--after;
    const size_t offset = address - begin;
    if (offset <= memory.size && size <= memory.size - offset) {
      std::string name = "m" + std::to_string(memory.number);
      if (offset > 0) name += "+" + std::to_string(offset);
      return {&memory, memory.bytes.get() + offset, std::move(name)};
    }
  }
  Violation(std::string(function) + ": " + std::to_string(size) + " bytes are not allocated");
}

World::Found World::FindHost(const void* host, size_t size) {
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) return {};
  const auto& [begin, memory] = *--after;
  if (!memory.is_host || address - begin >= memory.size) return {};
  return Find(address, size, "a copy of page-locked memory");
}

void World::Enqueue(CUstream stream, CUstream_st::Work work) {
  for (Memory* const memory : work.memory) ++memory->users;
  if (work.module != nullptr) ++work.module->users;
  stream->waiting.push_back(std::move(work));
  ++stream->queued;
}

void World::EnqueueOrCapture(CUstream stream, CUstream_st::MakeWork make) {
  CUstream_st::Work work = make(stream);
  if (stream->captured == nullptr) {
    Enqueue(stream, std::move(work));
  } else {
    stream->captured->push_back(std::move(make));
  }
}

void World::CheckCapture(const std::string& function) const {
  static const auto& kAllowed =
      *new std::set<std::string>{"cuStreamEndCapture", "cuLaunchKernel", "cuMemcpyDtoDAsync_v2",
                                 "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"};
  for (const CUstream stream : streams) {
    if (stream->captured == nullptr || stream->capturing != std::this_thread::get_id()) continue;
    if (kAllowed.count(function) == 0) Violation(function + " while a stream captures");
  }
}

CUresult World::RunUntil(CUstream stream, uint64_t count) {
  while (stream->done < count) {
    const CUstream_st::Work work = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    ++stream->done;
    for (Memory* const memory : work.memory) --memory->users;
    if (work.module != nullptr) --work.module->users;
    if (stream->context->error == kCudaSuccess) stream->context->error = work.run();
    stream->done_at.push_back(++done);
  }
  return stream->context->error;
}

}  // namespace slipway::fake_cuda
