#include "tests/codegen/program_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>

namespace slipway {
namespace {

constexpr uint8_t kCanary = 0xfd;  // As floats these bytes are huge and negative.
constexpr int64_t kPage = 4096;
constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

std::map<void*, std::unique_ptr<GuardedMemory>>& Allocations() {
  static auto& allocations = *new std::map<void*, std::unique_ptr<GuardedMemory>>();
  return allocations;
}

TestContext& Of(slipway_context* context) { return *reinterpret_cast<TestContext*>(context); }

int32_t ParallelFor(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
                    uint8_t* closure) {
  for (int32_t i = extent - 1; i >= 0; --i) {
    if (const int32_t result = task(context, min + i, closure)) return result;
  }
  return 0;
}

void* Allocate(slipway_context* context, uint64_t bytes) {
  auto memory = std::make_unique<GuardedMemory>(static_cast<int64_t>(bytes));
  ++Of(context).allocations;
  ++Of(context).live_allocations;
  void* data = memory->data();
  Allocations()[data] = std::move(memory);
  return data;
}

void Release(slipway_context* context, void* memory) {
  const auto found = Allocations().find(memory);
  if (found == Allocations().end()) {
    Of(context).scratch_intact = false;
    return;
  }
  if (!found->second->Intact()) Of(context).scratch_intact = false;
  --Of(context).live_allocations;
  Allocations().erase(found);
}

void Error(slipway_context* context, const char* message) { Of(context).error = message; }

}  // namespace

GuardedMemory::GuardedMemory(int64_t bytes) : size_(bytes) {
  const int64_t body = RoundUp(bytes, kAlignment);
  const int64_t readable = RoundUp(body + kPage, kPage);
  map_bytes_ = readable + kPage;
  map_ = static_cast<uint8_t*>(
      mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(map_, kCanary, readable);
  mprotect(map_ + readable, kPage, PROT_NONE);
  data_ = map_ + readable - body;
}

GuardedMemory::~GuardedMemory() { munmap(map_, map_bytes_); }

bool GuardedMemory::Intact() const {
  const uint8_t* end = map_ + map_bytes_ - kPage;
  for (const uint8_t* p = map_; p < end; ++p) {
    if (p == data_) p += size_;
    if (p < end && *p != kCanary) return false;
  }
  return true;
}

const slipway_imports& TestImports() {
  static const slipway_imports imports = {ParallelFor, Allocate, Release, Error};
  return imports;
}

LoadedProgram::LoadedProgram(const std::string& code) {
  fd_ = memfd_create("program", MFD_CLOEXEC);
  if (fd_ < 0 || write(fd_, code.data(), code.size()) != static_cast<ssize_t>(code.size())) {
    error_ = "cannot write the program to memory";
    return;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(fd_);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    error_ = dlerror();
    return;
  }
  query_ = reinterpret_cast<slipway_query_function>(dlsym(handle_, SLIPWAY_QUERY_SYMBOL));
  if (query_ == nullptr) {
    error_ = "no query function";
    return;
  }
  if (query_(SLIPWAY_ABI_VERSION + 1, &TestImports()) != nullptr) {
    error_ = "answers a version it cannot know";
    return;
  }
  table_ = query_(SLIPWAY_ABI_VERSION, &TestImports());
}

absl::Span<const uint8_t> LoadedProgram::code() const {
  struct Search {
    const uint8_t* inside;
    absl::Span<const uint8_t> found;
  } search = {reinterpret_cast<const uint8_t*>(query_), {}};
  const auto look = [](dl_phdr_info* object, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& part = object->dlpi_phdr[i];
      const auto* begin = reinterpret_cast<const uint8_t*>(object->dlpi_addr + part.p_vaddr);
      const bool holds = search.inside >= begin && search.inside < begin + part.p_memsz;
      if (part.p_type == PT_LOAD && holds) search.found = {begin, part.p_memsz};
    }
    return 0;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

LoadedProgram::~LoadedProgram() {
  if (handle_ != nullptr) dlclose(handle_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace slipway
