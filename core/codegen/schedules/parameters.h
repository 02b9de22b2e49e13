// The numbers of a schedule by name: how a struct that a schedule works with becomes text, and takes what a record says.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_PARAMETERS_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

// One of them, and what it may be.
struct Parameter {
  const char* name = nullptr;
  int* value = nullptr;
  int min = 1;
  int max = 1;
  int divides = 0;   // Not 0: it is a divisor of this.
  int multiple = 1;  // And a multiple of this.
};
using Parameters = std::vector<Parameter>;

// Whether it may be that.
bool Fits(const Parameter& parameter, int value);

// What they are, by name.
std::vector<std::pair<std::string, int>> NumbersOf(const Parameters& parameters);

// Sets those that `record` names, in the order of `parameters`, which is asked again after each: what one may be can depend on
// those before it. INVALID_ARGUMENT names the parameter and what it may be, also where one that the record leaves out does not
// fit those that it changes; or the name that no parameter has.
absl::Status SetParameters(const StageSchedule& record, absl::FunctionRef<Parameters()> parameters);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_PARAMETERS_H_
