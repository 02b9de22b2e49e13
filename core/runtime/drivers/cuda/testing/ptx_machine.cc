#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

#include <algorithm>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_instance.h"
#include "core/runtime/drivers/cuda/testing/ptx_shared.h"
#include "core/runtime/drivers/cuda/testing/ptx_warp.h"

namespace slipway::fake_cuda {
namespace {

// Where instances have come to.
struct Arrival {
  bool is_trapped = false;
  const PtxInstruction* at = nullptr;  // Null: they have ended.
};

[[noreturn]] void Diverges(const char* who, const PtxInstruction* a, const PtxInstruction* b) {
  const auto text = [](const PtxInstruction* at) { return at == nullptr ? "its end" : at->text; };
  Violation(std::string(who) + " diverges: one is at " + text(a) + ", another at " + text(b));
}

// Runs a warp up to where the group meets.
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
    if (first.at == nullptr || first.at->words[0] == "bar") return first;
    if (count != kPtxWarp) Violation("a warp that is not full: " + first.at->text);
    DoTogether(lanes, shared);
  }
}

}  // namespace

bool RunPtxGroup(const PtxProgram& program, const PtxFunction& function,
                 const std::vector<uint64_t>& parameters, const PtxPlace& place,
                 const PtxMemory& memory) {
  PtxShared shared(function.shared_bytes);
  const PtxGroupState group{program, function, parameters, memory, shared};
  const auto& [x, y, z] = place.instances;
  const size_t count = size_t{x} * y * z;
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
  while (true) {
    Arrival first;
    for (size_t i = 0; i < count; i += kPtxWarp) {
      const Arrival arrival = RunWarp(&instances[i], std::min<size_t>(kPtxWarp, count - i), shared);
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

}  // namespace slipway::fake_cuda
