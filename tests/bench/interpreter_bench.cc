// What a call of a small program costs over its kernels: the same kernel called through a context, and by hand on the
// same tensors, in turns.
//
//   bazel run //tests/bench:interpreter_bench -- [--json] [--samples N]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/code_module.h"
#include "core/runtime/context.h"
#include "core/runtime/load_program.h"
#include "core/runtime/scratch.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/runtime/thread_pool.h"
#include "core/tensor/tensor.h"

namespace slipway::bench {
namespace {

constexpr int kCallsOfASample = 10'000;

// f32[2, 8], dense.
struct Argument {
  explicit Argument(Tensor& tensor) {
    const auto rank = static_cast<int>(tensor.shape().size());
    int32_t stride = 1;
    for (int d = 0; d < rank; ++d) {
      const auto extent = static_cast<int32_t>(tensor.shape()[static_cast<size_t>(rank - 1 - d)]);
      dimensions[d] = {0, extent, stride, 0};
      stride *= extent;
    }
    buffer.host = reinterpret_cast<uint8_t*>(tensor.mutable_bytes());
    buffer.type = {SLIPWAY_TYPE_FLOAT, 32, 1};
    buffer.dimensions = rank;
    buffer.dim = dimensions;
  }
  slipway_dimension dimensions[2] = {};
  slipway_buffer buffer = {};
};

template <typename Call>
absl::StatusOr<double> NanosecondsOf(const Clock& clock, Call call) {
  const absl::Duration begin = clock.Monotonic();
  for (int i = 0; i < kCallsOfASample; ++i) SLIPWAY_RETURN_IF_ERROR(call());
  return absl::ToDoubleNanoseconds(clock.Monotonic() - begin) / kCallsOfASample;
}

absl::Status RunBench(int64_t samples, bool json) {
  const SystemClock clock;
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  const std::vector<Tensor> inputs = {Tensor::Zeros(DataType::kFloat32, {2, 8})};
  std::vector<Tensor> outputs(1);

  SLIPWAY_ASSIGN_OR_RETURN(const Blob code,
                           GetTestProgramBlob(artifact.manifest().blobs().front()));
  const v1::Manifest& manifest = artifact.manifest().proto();
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::unique_ptr<CodeModule> module,
      CodeModule::Load(code.bytes(), manifest.code(0).kernel_count(), manifest.min_reader_abi()));
  ThreadPool threads(1);
  Scratch scratch(1 << 20);
  slipway_context kernel_context(threads, scratch);
  slipway_context* context_pointer = &kernel_context;
  Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  Tensor bias = Tensor::Zeros(DataType::kFloat32, {8});
  Tensor y = Tensor::Zeros(DataType::kFloat32, {2, 8});
  Argument arguments[] = {Argument(x), Argument(bias), Argument(y)};
  for (Argument& argument : arguments) argument.buffer.dim = argument.dimensions;
  void* pointers[] = {&context_pointer, &arguments[0].buffer, &arguments[1].buffer,
                      &arguments[2].buffer};
  const slipway_kernel kernel = module->kernel(static_cast<uint32_t>(TestKernel::kAdd)).function;

  double call_ns = std::numeric_limits<double>::max();
  double kernel_ns = std::numeric_limits<double>::max();
  for (int64_t i = 0; i < samples; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const double call, NanosecondsOf(clock, [&] {
                               return context->Run(inputs, absl::MakeSpan(outputs));
                             }));
    SLIPWAY_ASSIGN_OR_RETURN(const double alone, NanosecondsOf(clock, [&] {
                               return kernel(pointers) == 0 ? absl::OkStatus()
                                                            : absl::InternalError("kernel failed");
                             }));
    call_ns = std::min(call_ns, call);
    kernel_ns = std::min(kernel_ns, alone);
  }
  if (json) {
    std::printf(
        "{\"schema_version\": 1, \"samples\": %ld, \"call_ns\": %.1f, \"kernel_ns\": %.1f, "
        "\"overhead_ns\": %.1f}\n",
        static_cast<long>(samples), call_ns, kernel_ns, call_ns - kernel_ns);
  } else {
    std::printf("a kernel and a copy: %.1f ns; the kernel alone: %.1f ns; over it: %.1f ns\n",
                call_ns, kernel_ns, call_ns - kernel_ns);
  }
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  int64_t samples = 100;
  bool json = false;
  FlagSet flags("interpreter_bench [flags]", "Measures what a call costs over its kernels.");
  flags.Add("samples", &samples, 1, 1'000'000, "N",
            "Samples of 10,000 calls; the best one counts.");
  flags.Add("json", &json, "One line of JSON.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (!arguments.empty()) return absl::InvalidArgumentError("takes flags only; see --help");
  return RunBench(samples, json);
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "interpreter_bench: %s\n", status.ToString().c_str());
  return 1;
}
