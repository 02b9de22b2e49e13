// Machine: what schedules need to know of the processor that a kernel is compiled for.
#ifndef SLIPWAY_CORE_CODEGEN_MACHINE_H_
#define SLIPWAY_CORE_CODEGEN_MACHINE_H_

#include <halide14/Halide.h>

#include "absl/status/statusor.h"
#include "core/target/target.h"

namespace slipway {

struct Machine {
  Halide::Target target;
  int vector_bytes = 16;      // Of one vector register: 16, 32 or 64.
  int vector_registers = 16;  // 16 or 32.

  // Elements of `type` in one vector register.
  int Lanes(Halide::Type type) const { return vector_bytes / type.bytes(); }
  int FloatLanes() const { return vector_bytes / 4; }
};

// UNIMPLEMENTED names an architecture or system that kernels cannot be generated for.
absl::StatusOr<Machine> MachineFor(const DeviceTarget& target);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_MACHINE_H_
