#include "tests/codegen/kernel_suite.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/codegen/linker.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/text.h"
#include "core/kernel_abi/element_type.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/reference/reference.h"
#include "gtest/gtest.h"
#include "tests/codegen/program_memory.h"
#include "tests/common/command.h"
#include "tests/common/emulator.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

Tensor RandomTensor(const TensorType& type, uint32_t seed) {
  std::minstd_rand random(seed + 1);
  Tensor tensor = Tensor::Zeros(type.dtype, type.shape);
  switch (type.dtype) {
    case DataType::kFloat32:
      for (float& value : tensor.mutable_values<float>()) {
        value = static_cast<float>(random() % 4096) / 1024.0f - 2.0f;
      }
      break;
    case DataType::kInt64:
      for (int64_t& value : tensor.mutable_values<int64_t>()) value = random() % 8;
      break;
    case DataType::kInt32:
      for (int32_t& value : tensor.mutable_values<int32_t>()) value = random() % 8;
      break;
    default:
      for (int64_t i = 0; i < tensor.byte_size(); ++i) tensor.mutable_bytes()[i] = random() % 2;
  }
  return tensor;
}

// One argument of a kernel: guarded memory and its descriptor.
struct Argument {
  explicit Argument(const TensorType& type) : memory(type.byte_size()) {
    int32_t stride = 1;
    for (size_t i = type.shape.size(); i-- > 0;) {
      const int32_t extent = static_cast<int32_t>(type.shape[i]);
      dimensions.push_back({0, extent, stride, 0});
      stride *= std::max(extent, 1);
    }
    buffer.host = memory.data();
    buffer.type = ElementType(type.dtype);
    buffer.dimensions = static_cast<int32_t>(dimensions.size());
    buffer.dim = dimensions.data();
  }
  GuardedMemory memory;
  std::vector<slipway_dimension> dimensions;
  slipway_buffer buffer = {};
};

// As call_kernels.c reads it.
std::string Number(int64_t number) {
  std::string bytes(sizeof(number), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
  }
  return bytes;
}

// An argument there, without its bytes.
std::string Described(const TensorType& type, bool is_input) {
  const slipway_element_type element = ElementType(type.dtype);
  std::string text = absl::StrCat(Number(is_input), Number(element.code), Number(element.bits),
                                  Number(static_cast<int64_t>(type.shape.size())));
  for (size_t i = type.shape.size(); i-- > 0;) absl::StrAppend(&text, Number(type.shape[i]));
  absl::StrAppend(&text, Number(type.byte_size()));
  return text;
}

}  // namespace

KernelSuite::KernelSuite() : registry_(StandardOperators()) {
  EXPECT_OK(RegisterAllLowerings(lowerings_));
}

void KernelSuite::Add(const std::string& name, const std::function<void(GraphBuilder&)>& build,
                      std::vector<Tensor> inputs, Tolerance tolerance) {
  GraphBuilder builder(name, registry_);
  build(builder);
  absl::StatusOr<Graph> graph = std::move(builder).Build();
  ASSERT_TRUE(graph.ok()) << name << ": " << graph.status();
  for (size_t i = inputs.size(); i < graph->inputs.size(); ++i) {
    inputs.push_back(
        RandomTensor(graph->value(graph->inputs[i]).type->tensor(), static_cast<uint32_t>(i)));
  }
  cases_.push_back({name, *graph, *graph, std::move(inputs), tolerance});
}

void KernelSuite::AddExpecting(const std::string& name,
                               const std::function<void(GraphBuilder&)>& build,
                               std::vector<Tensor> inputs, std::vector<Tensor> expected,
                               Tolerance tolerance) {
  const size_t at = cases_.size();
  Add(name, build, std::move(inputs), tolerance);
  ASSERT_EQ(cases_.size(), at + 1);
  cases_[at].expected = std::move(expected);
}

void KernelSuite::AddOpen(const std::string& name, absl::string_view text,
                          const std::vector<SymbolValues>& sizes, Tolerance tolerance) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << name << ": " << graph.status();
  const Reference reference(registry_);
  graph = InferType(*std::move(graph), {registry_, reference});
  ASSERT_TRUE(graph.ok()) << name << ": " << graph.status();
  for (const SymbolValues& values : sizes) {
    absl::StatusOr<Graph> bound = BindSymbols(*graph, values);
    ASSERT_TRUE(bound.ok()) << name << ": " << bound.status();
    std::vector<Tensor> inputs;
    std::string which = name;
    for (const auto& [symbol, value] : values) absl::StrAppend(&which, " ", symbol, "=", value);
    for (const ValueId id : bound->inputs) {
      inputs.push_back(RandomTensor(bound->value(id).type->tensor(), static_cast<uint32_t>(id)));
    }
    cases_.push_back({which, *graph, *std::move(bound), std::move(inputs), tolerance});
  }
}

void KernelSuite::AddOpenWithNan(const std::string& name, absl::string_view text,
                                 const std::vector<SymbolValues>& sizes) {
  const size_t first = cases_.size();
  AddOpen(name, text, sizes);
  for (size_t i = first; i < cases_.size(); ++i) {
    const auto values = cases_[i].inputs[0].mutable_values<float>();
    for (size_t k = 0; k < values.size(); k += 3) {
      values[k] = std::numeric_limits<float>::quiet_NaN();
    }
    values.back() = std::numeric_limits<float>::quiet_NaN();
  }
}

absl::StatusOr<std::vector<CompiledKernel>> KernelSuite::CompileAll(
    const DeviceTarget& target, const ScheduleRecords& records) const {
  SystemClock clock;
  KernelCompiler compiler(registry_, lowerings_, clock, nullptr, {});
  std::vector<KernelRequest> requests;
  for (const Case& one : cases_) requests.push_back({one.name, &one.graph});
  return compiler.Compile(requests, target, records);
}

absl::StatusOr<ScheduleRecords> KernelSuite::Schedules(const DeviceTarget& target) const {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels, CompileAll(target, {}));
  std::set<std::string> lines;
  for (const CompiledKernel& kernel : kernels) {
    lines.insert(absl::StrCat(kernel.name, " ", kernel.schedule));
  }
  return ParseScheduleRecords(absl::StrJoin(lines, "\n"));
}

absl::StatusOr<KernelSuite::Program> KernelSuite::Build(const DeviceTarget& target,
                                                        const ScheduleRecords& records) const {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels, CompileAll(target, records));
  Program program;
  std::vector<LinkedKernel> linked;
  std::map<std::string, size_t> index_of_symbol;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto [entry, added] = index_of_symbol.emplace(kernels[i].symbol, linked.size());
    if (added) {
      linked.push_back(
          {kernels[i].symbol, &kernels[i].object,
           static_cast<int>(cases_[i].graph.inputs.size() + cases_[i].graph.outputs.size())});
    }
    program.kernel_of_case.push_back(entry->second);
  }
  program.kernel_count = linked.size();
  SLIPWAY_ASSIGN_OR_RETURN(program.code, LinkProgram(target, linked, {}));
  return program;
}

void KernelSuite::Compile(const DeviceTarget& target) { EXPECT_OK(Build(target, {}).status()); }

void KernelSuite::Run(const DeviceTarget& target) { EXPECT_OK(RunWith({}, target)); }

absl::Status KernelSuite::RunWith(const ScheduleRecords& records, const DeviceTarget& target) {
  SLIPWAY_ASSIGN_OR_RETURN(const Program built, Build(target, records));
  RunAll(built, target);
  return absl::OkStatus();
}

void KernelSuite::RunAll(const Program& built, const DeviceTarget& target) {
  LoadedProgram program(built.code);
  ASSERT_NE(program.table(), nullptr) << program.error();
  ASSERT_EQ(program.table()->kernel_count, built.kernel_count);

  for (size_t i = 0; i < cases_.size(); ++i) {
    const Case& one = cases_[i];
    SCOPED_TRACE(absl::StrCat(one.name, " for ", target.ToString()));
    // A kernel that faults takes the test down: this says which one it was.
    std::fprintf(stderr, "running %s for %s\n", one.name.c_str(), target.ToString().c_str());
    const absl::StatusOr<std::vector<Tensor>> expected = Expected(one);
    ASSERT_TRUE(expected.ok()) << expected.status();

    std::vector<std::unique_ptr<Argument>> arguments;
    for (const Tensor& input : one.inputs) {
      arguments.push_back(std::make_unique<Argument>(input.type()));
      std::memcpy(arguments.back()->memory.data(), input.bytes().data(), input.byte_size());
    }
    for (const Tensor& output : *expected) {
      arguments.push_back(std::make_unique<Argument>(output.type()));
    }
    TestContext context;
    TestContext* context_pointer = &context;
    std::vector<void*> args = {&context_pointer};
    for (const auto& argument : arguments) args.push_back(&argument->buffer);
    const slipway_kernel_entry& entry = program.table()->kernels[built.kernel_of_case[i]];
    EXPECT_EQ(entry.argument_count, static_cast<int>(arguments.size()));
    EXPECT_EQ(entry.function(args.data()), 0) << context.error;
    EXPECT_EQ(context.live_allocations, 0);
    EXPECT_TRUE(context.scratch_intact) << "the kernel wrote beside its scratch memory";
    for (size_t k = 0; k < arguments.size(); ++k) {
      EXPECT_TRUE(arguments[k]->memory.Intact()) << "the kernel wrote beside argument " << k;
    }
    std::vector<absl::string_view> outputs;
    for (size_t k = one.inputs.size(); k < arguments.size(); ++k) {
      const GuardedMemory& memory = arguments[k]->memory;
      outputs.emplace_back(reinterpret_cast<const char*>(memory.data()),
                           static_cast<size_t>(memory.size()));
    }
    CheckOutputs(one, *expected, outputs);
  }
}

absl::StatusOr<std::vector<Tensor>> KernelSuite::Expected(const Case& one) const {
  if (!one.expected.empty()) return one.expected;
  return Reference(registry_).Evaluate(one.bound, one.inputs);
}

void KernelSuite::CheckOutputs(const Case& one, const std::vector<Tensor>& expected,
                               const std::vector<absl::string_view>& outputs) {
  for (size_t k = 0; k < expected.size(); ++k) {
    const absl::StatusOr<Tensor> actual = Tensor::FromBytes(expected[k].type(), outputs[k]);
    ASSERT_TRUE(actual.ok()) << actual.status();
    const absl::Status close = CheckClose(*actual, expected[k], one.tolerance);
    EXPECT_TRUE(close.ok()) << "output " << k << ": " << close;
  }
}

void KernelSuite::RunEmulated(const DeviceTarget& target) {
  const std::string family = FamilyOf({{target}});
  const std::string architecture(absl::StripSuffix(absl::StripSuffix(family, "-linux"), "-wasi"));
  const absl::StatusOr<testing::Emulator> emulator = testing::FindEmulator(architecture);
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  const absl::StatusOr<Program> built = Build(target, {});
  ASSERT_TRUE(built.ok()) << built.status();

  // As call_kernels.c reads it.
  std::string calls = Number(static_cast<int64_t>(cases_.size()));
  std::vector<std::vector<Tensor>> expected;
  for (size_t i = 0; i < cases_.size(); ++i) {
    const Case& one = cases_[i];
    absl::StatusOr<std::vector<Tensor>> outputs = Expected(one);
    ASSERT_TRUE(outputs.ok()) << one.name << ": " << outputs.status();
    absl::StrAppend(&calls, Number(static_cast<int64_t>(built->kernel_of_case[i])),
                    Number(static_cast<int64_t>(one.inputs.size() + outputs->size())));
    for (const Tensor& input : one.inputs) {
      absl::StrAppend(&calls, Described(input.type(), true), input.bytes());
    }
    for (const Tensor& output : *outputs) {
      absl::StrAppend(&calls, Described(output.type(), false));
    }
    expected.push_back(*std::move(outputs));
  }
  const testing::TempTree tree;
  const std::string results = JoinPath(tree.path(), "results");
  std::vector<std::string> argv = emulator->command;
  argv.push_back(testing::RunfilePath(absl::StrCat("tests/codegen/call_kernels.", architecture)));
  argv.push_back(tree.Write("program", built->code));
  argv.push_back(tree.Write("calls", calls));
  argv.push_back(results);
  const testing::CommandResult ran =
      testing::RunCommand({.argv = std::move(argv), .timeout = absl::Minutes(4)});
  ASSERT_TRUE(ran.status.ok()) << ran.ToString();
  const absl::StatusOr<std::string> bytes = ReadFile(results, int64_t{1} << 30);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  absl::string_view rest = *bytes;
  for (size_t i = 0; i < cases_.size(); ++i) {
    SCOPED_TRACE(absl::StrCat(cases_[i].name, " for ", target.ToString()));
    std::vector<absl::string_view> outputs;
    for (const Tensor& output : expected[i]) {
      const auto size = static_cast<size_t>(output.byte_size());
      ASSERT_LE(size, rest.size());
      outputs.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    CheckOutputs(cases_[i], expected[i], outputs);
  }
  EXPECT_TRUE(rest.empty());
}

std::vector<DeviceTarget> KernelSuite::RunnableTargets() {
  std::vector<DeviceTarget> targets;
  const Target host = HostTarget();
  // Level 2 has the vectors of level 1.
  for (const char* name : {"x86-64-linux", "x86-64-v3-linux", "x86-64-v4-linux"}) {
    absl::StatusOr<Target> target = ParseTarget(name);
    if (target.ok() && CheckRunsOn(*target, host).ok()) targets.push_back(target->host());
  }
  return targets;
}

std::vector<DeviceTarget> KernelSuite::EmulatedTargets() {
  std::vector<DeviceTarget> targets;
  for (const char* name :
       {"arm-64-linux", "arm-32-linux-neon", "riscv-64-linux", "wasm-32-wasi-simd128"}) {
    targets.push_back(ParseTarget(name)->host());
  }
  return targets;
}

void KernelSuite::RunEverywhere(const std::function<void(KernelSuite&)>& add) {
  for (const DeviceTarget& target : RunnableTargets()) {
    KernelSuite suite;
    add(suite);
    suite.Run(target);
  }
  for (const DeviceTarget& target : EmulatedTargets()) {
    KernelSuite suite;
    add(suite);
    suite.RunEmulated(target);
  }
}

}  // namespace slipway
