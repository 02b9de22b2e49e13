// ProgramBuilder: programs put together by hand, for tests.
#ifndef SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_PROGRAM_BUILDER_H_
#define SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_PROGRAM_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/runtime/test_programs/small_kernels.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Adds entries to a manifest and answers with their indices. Code 0 are the SmallKernels, on device 0.
class ProgramBuilder {
 public:
  // An extent: a number, or an expression.
  struct Extent {
    Extent(int number) : value(number) {}  // NOLINT: for braces.
    static Extent Of(uint32_t expression) {
      Extent extent(0);
      extent.value = expression;
      extent.is_expression = true;
      return extent;
    }
    int64_t value;
    bool is_expression = false;
  };
  using Extents = std::vector<Extent>;
  using Values = std::vector<uint32_t>;

  // `host` as for SmallKernelBytes.
  explicit ProgramBuilder(const std::string& host = kTestHost);

  // "cuda-sm90" or "opencl"; answers with the device's index.
  uint32_t AddDevice(const std::string& target);
  uint32_t AddSpace(uint32_t device, const std::vector<uint32_t>& shared_with = {});
  // Code of entries, on a device. Devices without hardware do not read the text.
  uint32_t AddEntries(v1::Code::Kind kind, uint32_t device, const std::vector<std::string>& names,
                      const std::string& text = "// Nobody reads this.\n");

  // The expression that is this symbol.
  uint32_t AddSymbol(const std::string& name, int64_t min, int64_t max);
  static uint32_t SymbolOf(const v1::Manifest& manifest, uint32_t expression);
  uint32_t Number(int64_t number);
  uint32_t Operation(v1::Expression::Operation::Kind kind, uint32_t left, uint32_t right);

  // A value in a buffer of its own, as large as the value. Static ones lie one after another in the arena of their
  // space.
  uint32_t AddValue(v1::Buffer::Class kind, DataType dtype, const Extents& extents,
                    uint32_t space = 0);
  // Another value in the buffer of `value`, from `offset` on.
  uint32_t AddValueBeside(uint32_t value, int64_t offset, DataType dtype, const Extents& extents);
  v1::Buffer& buffer_of(uint32_t value);
  uint32_t AddConstant(const Tensor& tensor, uint32_t space = 0);

  // A function, last of all: those it calls are there.
  v1::Function& AddFunction(const std::string& name);
  static void AddInput(v1::Function& function, const std::string& name, uint32_t value);
  static void AddOutput(v1::Function& function, const std::string& name, uint32_t value);
  // Pairs of expressions, one of which is equal.
  static void AddConstraint(v1::Function& function, const std::string& user,
                            const std::vector<std::pair<uint32_t, uint32_t>>& any_of);
  static v1::Step& AddKernel(v1::Function& function, SmallKernel kernel, const Values& inputs,
                             const Values& outputs);
  // A launch of an entry on the device of its code.
  v1::Step& AddLaunch(v1::Function& function, uint32_t code, uint32_t entry, const Values& inputs,
                      const Values& outputs, const Extents& groups, int64_t group = 1);
  static v1::Step& AddCopy(v1::Function& function, uint32_t device, uint32_t from, uint32_t to);

  v1::Manifest& manifest() { return manifest_; }
  // The program, checked; the last function added is the entry. Errors of Artifact::Create.
  absl::StatusOr<Artifact> Build();

 private:
  v1::Value& AddType(DataType dtype, const Extents& extents);
  uint32_t ByteSize(DataType dtype, const Extents& extents);

  v1::Manifest manifest_;
  std::map<std::string, std::string> blobs_;  // By digest.
  std::map<uint32_t, int64_t> arena_bytes_;   // By space.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_PROGRAM_BUILDER_H_
