#include "core/runtime/drivers/attached/bare_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/artifact/versions.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/attached/bare_queues.h"

namespace slipway {
namespace {

constexpr int64_t kPieceBytes = SLIPWAY_BARE_MAX_PIECE;
// Of the machine's memory, what constants may take that nobody holds.
constexpr uint64_t kKeptShare = 8;

absl::Status StatusOf(const BareStream::Reply& reply, absl::string_view what) {
  if (reply.head.code == 0) return absl::OkStatus();
  return absl::Status(
      static_cast<absl::StatusCode>(reply.head.code),
      absl::StrCat(what, reply.data.empty() ? "" : ": ", absl::Utf8SafeCEscape(reply.data)));
}

absl::Status Malformed() {
  return absl::InternalError("the attached device answers with another number of bytes than asked");
}

}  // namespace

absl::StatusOr<uint64_t> BareNumbers::Take(absl::string_view what) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a bare runner holds at most ", taken_.size(), " ", what));
  }
  *free = true;
  return static_cast<uint64_t>(free - taken_.begin());
}

void BareNumbers::Return(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  taken_[number] = false;
}

BareDevice::BareDevice(std::shared_ptr<BareStream> stream, const slipway_bare_hello& hello)
    : stream_(std::move(stream)),
      hello_(hello),
      name_(absl::StrCat("attached (", absl::Utf8SafeCEscape(hello.model), ")")),
      constants_(
          static_cast<int64_t>(std::min<uint64_t>(hello.memory_bytes, INT64_MAX) / kKeptShare)) {}

absl::StatusOr<slipway_bare_facts> BareDevice::ReadFacts() const {
  SLIPWAY_ASSIGN_OR_RETURN(const BareStream::Reply reply, stream_->Ask(SLIPWAY_BARE_FACTS, {}));
  slipway_bare_facts facts;
  if (reply.data.size() != sizeof(facts)) return Malformed();
  std::memcpy(&facts, reply.data.data(), sizeof(facts));
  return facts;
}

absl::StatusOr<MemoryInfo> BareDevice::memory_info() const {
  SLIPWAY_ASSIGN_OR_RETURN(const slipway_bare_facts facts, ReadFacts());
  const uint64_t total = std::min<uint64_t>(hello_.memory_bytes, INT64_MAX);
  return MemoryInfo{static_cast<int64_t>(total),
                    static_cast<int64_t>(std::min(facts.free_bytes, total)),
                    static_cast<int64_t>(std::min(facts.peak_bytes, total))};
}

absl::StatusOr<DeviceMemory> BareDevice::Allocate(int64_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::kHostVisible) {
    return absl::UnimplementedError(
        absl::StrCat(name_, ": the host does not touch its memory, which is another machine's"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::optional<DeviceMemory> memory, TryAllocate(bytes));
  if (!memory.has_value()) {
    std::vector<DeviceMemory> dropped;
    {
      std::lock_guard<std::mutex> lock(constants_mutex_);
      dropped = constants_.Drop();
    }
    for (const DeviceMemory& constant : dropped) Free(constant);
    if (!dropped.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(memory, TryAllocate(bytes));
    }
  }
  if (memory.has_value()) return *memory;
  const absl::StatusOr<slipway_bare_facts> facts = ReadFacts();
  SLIPWAY_RETURN_IF_ERROR(facts.status());
  return absl::ResourceExhaustedError(absl::StrCat(
      name_, " has no memory for ", bytes, " bytes: ", facts->allocated_bytes, " are given out",
      facts->limit_bytes == 0
          ? ""
          : absl::StrCat(" of the ", facts->limit_bytes, " that its runner may have"),
      ", and ", facts->free_bytes, " of the machine's are free"));
}

absl::StatusOr<std::optional<DeviceMemory>> BareDevice::TryAllocate(int64_t bytes) {
  const slipway_bare_range wanted = {0, static_cast<uint64_t>(bytes)};
  SLIPWAY_ASSIGN_OR_RETURN(const BareStream::Reply reply,
                           stream_->Ask(SLIPWAY_BARE_ALLOCATE, {BytesOf(wanted)}));
  if (reply.head.code != 0) return std::optional<DeviceMemory>();
  slipway_bare_range given;
  if (reply.data.size() != sizeof(given)) return Malformed();
  std::memcpy(&given, reply.data.data(), sizeof(given));
  if (given.address == 0 || given.address % kBufferAlignment != 0 ||
      given.address > UINT64_MAX - wanted.bytes) {
    return absl::InternalError(absl::StrCat(name_, ": gives out memory at an impossible address"));
  }
  return std::make_optional(DeviceMemory{given.address, nullptr, bytes});
}

absl::StatusOr<DeviceMemory> BareDevice::TakeConstant(absl::string_view key,
                                                      const DeviceMemory& bytes, MemoryKind kind) {
  const auto take = [&] {
    std::lock_guard<std::mutex> lock(constants_mutex_);
    return constants_.Take(key);
  };
  if (const std::optional<DeviceMemory> there = take(); there.has_value()) return *there;
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory,
                           ComputeDevice::TakeConstant(key, bytes, kind));
  std::unique_lock<std::mutex> lock(constants_mutex_);
  const std::optional<DeviceMemory> other = constants_.Take(key);
  if (!other.has_value()) {
    constants_.Add(key, memory);
    return memory;
  }
  lock.unlock();
  // Somebody sent it meanwhile.
  Free(memory);
  return *other;
}

void BareDevice::ReturnConstant(const DeviceMemory& memory) {
  std::vector<DeviceMemory> freed;
  {
    std::lock_guard<std::mutex> lock(constants_mutex_);
    freed = constants_.Return(memory);
  }
  for (const DeviceMemory& constant : freed) Free(constant);
}

void BareDevice::Free(const DeviceMemory& memory) {
  if (memory.address == 0) return;
  const slipway_bare_range range = {memory.address, static_cast<uint64_t>(memory.bytes)};
  // Of a runner that has ended nothing is left.
  stream_->Tell(SLIPWAY_BARE_FREE, {BytesOf(range)}).IgnoreError();
}

absl::Status BareDevice::Write(const uint8_t* from, uint64_t to, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    const int64_t size = std::min(bytes - done, kPieceBytes);
    const slipway_bare_range range = {to + static_cast<uint64_t>(done),
                                      static_cast<uint64_t>(size)};
    const absl::string_view piece(reinterpret_cast<const char*>(from) + done,
                                  static_cast<size_t>(size));
    SLIPWAY_RETURN_IF_ERROR(stream_->Tell(SLIPWAY_BARE_WRITE, {BytesOf(range), piece}));
    done += size;
  }
  return absl::OkStatus();
}

absl::Status BareDevice::Read(uint64_t from, uint8_t* to, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    const int64_t size = std::min(bytes - done, kPieceBytes);
    const slipway_bare_range range = {from + static_cast<uint64_t>(done),
                                      static_cast<uint64_t>(size)};
    SLIPWAY_ASSIGN_OR_RETURN(const BareStream::Reply reply,
                             stream_->Ask(SLIPWAY_BARE_READ, {BytesOf(range)}));
    if (reply.data.size() != range.bytes) return Malformed();
    std::memcpy(to + done, reply.data.data(), reply.data.size());
    done += size;
  }
  return absl::OkStatus();
}

absl::Status BareDevice::CheckReaches(const MemoryPlace& place) const {
  if (Owns(place) || place.memory.host != nullptr) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(name_, " does not reach memory of device '", place.device->name(), "'"));
}

absl::Status BareDevice::Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckReaches(from));
  SLIPWAY_RETURN_IF_ERROR(CheckReaches(to));
  if (!Owns(from)) return Write(from.memory.host, to.memory.address, bytes);
  if (!Owns(to)) return Read(from.memory.address, to.memory.host, bytes);
  SLIPWAY_ASSIGN_OR_RETURN(const auto queues, NewQueues({.threads = 1, .scratch_bytes = 0}));
  SLIPWAY_RETURN_IF_ERROR(queues->Copy(0, from, to, bytes));
  return queues->Finish();
}

absl::StatusOr<std::unique_ptr<DeviceCode>> BareDevice::LoadCode(const v1::Code& code, uint32_t abi,
                                                                 absl::string_view bytes) {
  if (code.kind() != v1::Code::KIND_ELF) {
    return absl::UnimplementedError(absl::StrCat("an attached device runs code of KIND_ELF, not ",
                                                 v1::Code::Kind_Name(code.kind())));
  }
  const VersionRange spoken = {hello_.oldest_abi, hello_.newest_abi};
  if (!spoken.Includes(abi)) {
    return absl::UnimplementedError(absl::StrCat("the code is built for kernel ABI ", abi,
                                                 ", but the bare runner speaks ",
                                                 ToString(spoken)));
  }
  if (code.kernel_count() > SLIPWAY_BARE_MAX_KERNELS) {
    return absl::UnimplementedError(
        absl::StrCat("a bare runner takes code of at most ", SLIPWAY_BARE_MAX_KERNELS, " kernels"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const uint64_t number, codes_.Take("pieces of code"));
  auto loaded = std::make_unique<BareCode>(*this, number);
  const auto size = static_cast<int64_t>(bytes.size());
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory, Allocate(size, MemoryKind::kLocal));
  SLIPWAY_RETURN_IF_ERROR(
      Write(reinterpret_cast<const uint8_t*>(bytes.data()), memory.address, size));
  const slipway_bare_load load = {
      number, {memory.address, static_cast<uint64_t>(size)}, abi, code.kernel_count()};
  const absl::StatusOr<BareStream::Reply> reply = stream_->Ask(SLIPWAY_BARE_LOAD, {BytesOf(load)});
  SLIPWAY_RETURN_IF_ERROR(reply.status());
  Free(memory);
  SLIPWAY_RETURN_IF_ERROR(StatusOf(*reply, "code cannot be loaded"));
  if (reply->data.size() != code.kernel_count() * sizeof(int32_t)) return Malformed();
  std::vector<int32_t> argument_counts(code.kernel_count());
  std::memcpy(argument_counts.data(), reply->data.data(), reply->data.size());
  loaded->SetLoaded(std::move(argument_counts));
  return std::unique_ptr<DeviceCode>(std::move(loaded));
}

absl::StatusOr<std::unique_ptr<DeviceQueues>> BareDevice::NewQueues(const QueueOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const uint64_t number, queues_.Take("programs' contexts"));
  const slipway_bare_open open = {number, static_cast<uint64_t>(options.scratch_bytes),
                                  static_cast<uint32_t>(options.threads), 0};
  const absl::StatusOr<BareStream::Reply> reply = stream_->Ask(SLIPWAY_BARE_OPEN, {BytesOf(open)});
  const absl::Status opened =
      reply.ok() ? StatusOf(*reply, absl::StrCat(name_, ": there is no memory left for ",
                                                 options.threads, " threads"))
                 : reply.status();
  if (!opened.ok()) {
    queues_.Return(number);
    return opened;
  }
  return std::unique_ptr<DeviceQueues>(std::make_unique<BareQueues>(*this, number, options));
}

}  // namespace slipway
