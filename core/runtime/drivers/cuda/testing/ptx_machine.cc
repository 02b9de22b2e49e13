#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

#include <algorithm>
#include <map>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_instance.h"
#include "core/runtime/drivers/cuda/testing/ptx_shared.h"
#include "core/runtime/drivers/cuda/testing/ptx_warp.h"
#include "core/runtime/drivers/cuda/testing/ptx_warp_group.h"

namespace slipway::fake_cuda {
namespace {

// Where instances have come to.
struct Arrival {
  bool is_trapped = false;
  const PtxInstruction* at = nullptr;  // Null: they have ended.
};

bool AwaitsWarpGroup(const Arrival& arrival) {
  return arrival.at != nullptr && arrival.at->words[0] == "wgmma";
}

[[noreturn]] void Diverges(const char* who, const PtxInstruction* a, const PtxInstruction* b) {
  const auto text = [](const PtxInstruction* at) { return at == nullptr ? "its end" : at->text; };
  Violation(std::string(who) + " diverges: one is at " + text(a) + ", another at " + text(b));
}

// Runs a warp up to where several meet.
Arrival RunWarp(PtxInstance* lanes, size_t count, PtxShared& shared) {
  while (true) {
    Arrival first;
    for (size_t i = 0; i < count; ++i) {
      const PtxInstance::State state = lanes[i].Run();
      if (state == PtxInstance::State::kTrapped) return {.is_trapped = true};
      const PtxInstruction* const at =
          state == PtxInstance::State::kMeets ? &lanes[i].meeting() : nullptr;
      if (i == 0) first.at = at;
      if (at != first.at) Diverges("a warp", first.at, at);
    }
    if (first.at == nullptr || first.at->words[0] == "bar" || AwaitsWarpGroup(first)) return first;
    if (count != kPtxWarp) Violation("a warp that is not full: " + first.at->text);
    DoTogether(lanes, shared);
  }
}

// Runs four warps, or what there is of them, up to where the group meets.
Arrival RunWarpGroup(PtxInstance* lanes, size_t count, PtxShared& shared, PtxWarpGroup& products) {
  while (true) {
    Arrival first;
    for (size_t i = 0; i < count; i += kPtxWarp) {
      const Arrival arrival = RunWarp(lanes + i, std::min<size_t>(kPtxWarp, count - i), shared);
      if (arrival.is_trapped) return arrival;
      if (i == 0) first = arrival;
      if (arrival.at == first.at) continue;
      const bool is_product = AwaitsWarpGroup(first) || AwaitsWarpGroup(arrival);
      Diverges(is_product ? "a warp group" : "a group", first.at, arrival.at);
    }
    if (!AwaitsWarpGroup(first)) return first;
    if (count != kPtxWarpGroup) Violation("a warp group that is not full: " + first.at->text);
    products.DoTogether(lanes, shared);
  }
}

}  // namespace

bool RunPtxGroup(const PtxProgram& program, const PtxFunction& function,
                 const std::vector<uint64_t>& parameters, const PtxPlace& place,
                 const PtxMemory& memory, std::vector<uint64_t>& executed) {
  const auto& [x, y, z] = place.instances;
  const size_t count = size_t{x} * y * z;
  if (function.shared_bytes > 0 && place.dynamic_shared_bytes > 0) {
    Violation("a group that shares what its code declares, and more");
  }
  PtxShared shared(function.shared_bytes + place.dynamic_shared_bytes,
                   place.dynamic_shared_bytes > 0 ? program.dynamic_alignment : 0, count);
  const PtxGroupState group{program, function, parameters, memory, shared, executed};
  std::vector<PtxInstance> instances;
  instances.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const std::array<uint32_t, 12> numbers = {
        static_cast<uint32_t>(i % x),
        static_cast<uint32_t>(i / x % y),
        static_cast<uint32_t>(i / x / y),
        place.group[0],
        place.group[1],
        place.group[2],
        x,
        y,
        z,
        place.groups[0],
        place.groups[1],
        place.groups[2],
    };
    instances.emplace_back(group, numbers, static_cast<int>(i));
  }
  std::vector<PtxWarpGroup> products((count + kPtxWarpGroup - 1) / kPtxWarpGroup);
  while (true) {
    Arrival first;
    for (size_t i = 0; i < count; i += kPtxWarpGroup) {
      const Arrival arrival =
          RunWarpGroup(&instances[i], std::min<size_t>(kPtxWarpGroup, count - i), shared,
                       products[i / kPtxWarpGroup]);
      if (arrival.is_trapped) return false;
      if (i == 0) first = arrival;
      if (arrival.at != first.at) Diverges("a group", first.at, arrival.at);
    }
    if (first.at == nullptr) return true;
    if (first.at->text != "bar.sync 0") {
      Violation("PTX that it does not know: " + first.at->text);
    }
    shared.Barrier();
  }
}

std::string ShowCounts(const PtxFunction& function, const std::vector<uint64_t>& executed) {
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < executed.size(); ++i) {
    const std::vector<std::string>& words = function.code[i].words;
    if (executed[i] > 0) counts[words[0] + (words.size() > 1 ? "." + words[1] : "")] += executed[i];
  }
  std::string shown;
  for (const auto& [name, count] : counts) {
    shown += (shown.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  }
  return shown;
}

}  // namespace slipway::fake_cuda
