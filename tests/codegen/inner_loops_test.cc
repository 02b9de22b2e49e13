// Of ResNet-50 for arm-64 and x86-64, what the loops that sum its products are made of: loads beside multiply-adds are what a loop loses
// against the processor's peak, and what is spilled there costs more. There is no clock in it: most machines that run tests are others.
#include "tests/codegen/inner_loops.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/fused.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/pipeline.h"
#include "core/reference/reference.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

constexpr char kThreeLoops[] = R"(
kernel.o:	file format elf64-littleaarch64

Disassembly of section .text.k:

0000000000000000 <k>:
       0:      	mov	x0, #256
       4:      	ldr	q0, [x1], #16
       8:      	ldr	q1, [sp, #32]
       c:      	fmla	v2.4s, v0.4s, v1.s[0]
      10:      	subs	x0, x0, #1
      14:      	b.ne	0x4 <k+0x4>
      18:      	ld1r	{ v3.4s }, [x2], #4
      1c:      	fadd	v2.4s, v2.4s, v3.4s
      20:      	cbnz	x3, 0x18 <k+0x18>
      24:      	cbnz	x4, 0x0 <k>
      28:      	cbz	x4, 0x30 <k+0x30>
      2c:      	str	q2, [sp, #32]
      30:      	ret

Disassembly of section .text.task:

0000000000000000 <task>:
       0:      	mov	x0, #256
       4:      	fmla	v2.4s, v0.4s, v1.s[0]
       8:      	subs	x0, x0, #1
       c:      	b.ne	0x4 <task+0x4>
      10:      	ret
)";

TEST(InnerLoops, AreCounted) {
  const std::vector<InnerLoop> loops = InnerLoopsOf(kThreeLoops);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(loops[0].all, 5);
  EXPECT_EQ(loops[0].vector, 3);
  EXPECT_EQ(loops[0].multiply_adds, 1);
  EXPECT_EQ(loops[0].stack_accesses, 1);
  EXPECT_EQ(loops[1].all, 3);
  EXPECT_EQ(loops[1].vector, 2);
  EXPECT_EQ(loops[1].multiply_adds, 0);
  EXPECT_EQ(loops[1].stack_accesses, 0);
  EXPECT_EQ(loops[2].all, 3);
  EXPECT_EQ(loops[2].multiply_adds, 1);
  EXPECT_EQ(loops[2].by_element, 1);
  EXPECT_TRUE(InnerLoopsOf("").empty());
}

bool IsConvolution(const Graph& body) {
  return std::any_of(body.nodes.begin(), body.nodes.end(), [](const Node& node) {
    return node.op == "slipway.ConvNCHWc" || node.op == "slipway.WinogradConvNCHWc" ||
           node.op == "slipway.StrassenConvNCHWc";
  });
}

constexpr char kLoopOfX86[] = R"(
kernel.o:	file format elf64-x86-64

Disassembly of section .text.k:

0000000000000000 <k>:
       0:      	movl	$256, %eax
       5:      	vbroadcastss	-192(%rbx,%r11,4), %zmm5
       d:      	vdpbf16ps	%zmm6, %zmm5, %zmm0
      13:      	vfmadd231ps	(%rsp,%rax), %ymm5, %ymm0 # ymm0 = (ymm5 * mem) + ymm0
      19:      	vmovups	%zmm5, 80(%rsp)
      20:      	decl	%eax
      22:      	jne	0x5 <k+0x5>
      24:      	retq
)";

TEST(InnerLoops, OfX86AreCounted) {
  const std::vector<InnerLoop> loops = InnerLoopsOf(kLoopOfX86);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].all, 6);
  EXPECT_EQ(loops[0].vector, 4);
  EXPECT_EQ(loops[0].multiply_adds, 2);
  EXPECT_EQ(loops[0].stack_accesses, 2);
}

// The kernels of ResNet-50's convolutions, each once.
void CompileConvolutions(const std::string& target_name, Precision precision,
                         std::vector<CompiledKernel>& once) {
  const testing::TempTree tree;
  const std::string path = tree.Path("resnet50.onnx");
  const testing::CommandResult made = testing::RunCommand(
      {.argv = {"/usr/bin/python3", testing::RunfilePath("tests/models/make_models.py"), "resnet50",
                path}});
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path, int64_t{1} << 30));
  const OperatorRegistry registry = StandardOperators();
  const Reference reference(registry);
  const PassContext context{registry, reference};
  ASSERT_OK_AND_ASSIGN(Graph graph, ImportOnnx({Blob::Own(bytes), {}}, registry));
  ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), context));
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(target_name));
  const SystemClock clock;
  ASSERT_OK_AND_ASSIGN(
      const PipelineResult optimized,
      RunPipeline(graph, CpuPipeline(target.host(), {}, precision), context, {}, clock));

  std::vector<KernelRequest> requests;
  for (const Node& node : optimized.graph.nodes) {
    if (node.op != kFusedOperator) continue;
    const auto& body = *node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
    if (IsConvolution(*body)) requests.push_back({node.name, body.get()});
  }
  EXPECT_GE(requests.size(), 50u);
  Lowerings lowerings;
  ASSERT_OK(RegisterAllLowerings(lowerings));
  KernelCompiler compiler(registry, lowerings, clock, nullptr, {});
  ASSERT_OK_AND_ASSIGN(std::vector<CompiledKernel> kernels,
                       compiler.Compile(requests, target.host()));
  for (CompiledKernel& kernel : kernels) {
    const bool is_new = std::none_of(once.begin(), once.end(), [&](const CompiledKernel& other) {
      return other.name == kernel.name;
    });
    if (is_new) once.push_back(std::move(kernel));
  }
  EXPECT_GE(once.size(), 15u);
}

// As a line that says where it is.
std::string Text(const CompiledKernel& kernel, const InnerLoop& loop) {
  return absl::StrCat(kernel.name, ": ", loop.multiply_adds, " of ", loop.vector,
                      " vector instructions multiply and add, ", loop.stack_accesses,
                      " reach the stack, ", loop.all, " in all; ", kernel.schedule);
}

TEST(InnerLoops, OfResNet50sConvolutionsMultiplyAndAdd) {
  std::vector<CompiledKernel> kernels;
  ASSERT_NO_FATAL_FAILURE(CompileConvolutions("arm-64-linux", Precision::kFloat32, kernels));
  for (const CompiledKernel& kernel : kernels) {
    ASSERT_OK_AND_ASSIGN(const std::string disassembly, Disassemble(kernel.object));
    int sums = 0;
    for (const InnerLoop& loop : InnerLoopsOf(disassembly)) {
      // Loops that sum multiply by elements of the input; others copy, pad and transform.
      if (loop.by_element == 0) continue;
      ++sums;
      const std::string found = Text(kernel, loop);
      std::cout << found << "\n";
      EXPECT_GE(loop.multiply_adds * 100, loop.vector * 78) << found;
      EXPECT_EQ(loop.stack_accesses, 0) << found;
    }
    EXPECT_GE(sums, 1) << kernel.name;
  }
}

TEST(InnerLoops, OfX86KeepTheirSumsInRegisters) {
  const struct {
    const char* target;
    Precision precision;
  } rows[] = {{"x86-64-v3-linux", Precision::kFloat32},
              {"x86-64-v4-linux", Precision::kFloat32},
              {"x86-64-v4-linux-bf16", Precision::kBfloat16}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.target);
    std::vector<CompiledKernel> kernels;
    ASSERT_NO_FATAL_FAILURE(CompileConvolutions(row.target, row.precision, kernels));
    for (const CompiledKernel& kernel : kernels) {
      ASSERT_OK_AND_ASSIGN(const std::string disassembly, Disassemble(kernel.object));
      int sums = 0;
      for (const InnerLoop& loop : InnerLoopsOf(disassembly)) {
        // Loops that transform tiles or make an epilogue multiply less.
        if (2 * loop.multiply_adds < loop.vector) continue;
        ++sums;
        EXPECT_EQ(loop.stack_accesses, 0) << Text(kernel, loop);
      }
      EXPECT_GE(sums, 1) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace slipway
