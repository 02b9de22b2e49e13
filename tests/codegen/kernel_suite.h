// KernelSuite: compiles groups, runs their kernels in memory that notices what lies beside it, and
// compares the results with the reference evaluator.
#ifndef SLIPWAY_TESTS_CODEGEN_KERNEL_SUITE_H_
#define SLIPWAY_TESTS_CODEGEN_KERNEL_SUITE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/lowering.h"
#include "core/graph/builder.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/symbolic/evaluation.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"

namespace slipway {

class KernelSuite {
 public:
  KernelSuite();

  const OperatorRegistry& registry() const { return registry_; }
  const Lowerings& lowerings() const { return lowerings_; }

  // Adds a group built by `build`. Its inputs become seeded random numbers in [-2, 2) (integers in
  // [0, 8)), or `inputs` where given.
  void Add(const std::string& name, const std::function<void(GraphBuilder&)>& build,
           std::vector<Tensor> inputs = {}, Tolerance tolerance = {1e-4, 1e-5});

  // Adds a group whose kernel shall make `expected` of `inputs`, whatever the reference says.
  void AddExpecting(const std::string& name, const std::function<void(GraphBuilder&)>& build,
                    std::vector<Tensor> inputs, std::vector<Tensor> expected, Tolerance tolerance);

  // Adds a group with open extents, in the graph's text form, once for each of the sizes that its symbols shall have. It is
  // compiled once.
  void AddOpen(const std::string& name, absl::string_view text,
               const std::vector<SymbolValues>& sizes, Tolerance tolerance = {1e-4, 1e-5});

  // The same, of which every third element of the first input, an f32, and its last one are NaN.
  void AddOpenWithNan(const std::string& name, absl::string_view text,
                      const std::vector<SymbolValues>& sizes);

  // Compiles all groups for `target` (whose features this machine must have), links one program, runs
  // every kernel and compares. Failures are reported as test failures naming the group.
  void Run(const DeviceTarget& target);

  // The same with these schedules. INVALID_ARGUMENT, and nothing is run, where one does not fit its kernel.
  absl::Status RunWith(const ScheduleRecords& records, const DeviceTarget& target);

  // How the kernels are cut by default.
  absl::StatusOr<ScheduleRecords> Schedules(const DeviceTarget& target) const;

  // Compiles and links all groups for `target`, whose code this machine need not run.
  void Compile(const DeviceTarget& target);

  // Runs every kernel of `target`, an architecture that this machine emulates (tests/common/emulator.h), and compares.
  void RunEmulated(const DeviceTarget& target);

  // One target for each width of vectors that this machine can run.
  static std::vector<DeviceTarget> RunnableTargets();
  // One for each architecture that tests emulate.
  static std::vector<DeviceTarget> EmulatedTargets();
  // Runs what `add` adds to a suite for each of them.
  static void RunEverywhere(const std::function<void(KernelSuite&)>& add);

 private:
  struct Case {
    std::string name;
    Graph graph;
    Graph bound;  // The same with all extents known: what the reference evaluates.
    std::vector<Tensor> inputs;
    Tolerance tolerance;
    std::vector<Tensor> expected = {};  // Empty: what the reference makes.
  };
  // All cases, compiled and linked.
  struct Program {
    std::string code;
    size_t kernel_count = 0;
    std::vector<size_t> kernel_of_case;
  };
  absl::StatusOr<std::vector<CompiledKernel>> CompileAll(const DeviceTarget& target,
                                                         const ScheduleRecords& records) const;
  absl::StatusOr<Program> Build(const DeviceTarget& target, const ScheduleRecords& records) const;
  void RunAll(const Program& built, const DeviceTarget& target);
  absl::StatusOr<std::vector<Tensor>> Expected(const Case& one) const;
  // Holds what the kernel of a case has made, one tensor's bytes each, against what is expected.
  void CheckOutputs(const Case& one, const std::vector<Tensor>& expected,
                    const std::vector<absl::string_view>& outputs);

  OperatorRegistry registry_;
  Lowerings lowerings_;
  std::vector<Case> cases_;
};

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CODEGEN_KERNEL_SUITE_H_
