#include "core/backends/null/null_backend.h"

#include <gtest/gtest.h>

#include "core/artifact/checked_manifest.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(NullBackendTest, MakesAValidArtifactOfAnyGraph) {
  const OperatorRegistry registry = StandardOperators();
  GraphBuilder b("model", registry);
  const ValueId x = b.Input("x", DataType::kFloat32, {3, 5});
  b.Output(b.AddNamed("y", "Relu", {x}));
  b.Output(b.AddNamed("z", "ReduceMean", {x}));
  ASSERT_OK_AND_ASSIGN(const Graph graph, std::move(b).Build());
  for (const char* name : {"x86-64-v3-linux", "arm-64-linux"}) {
    ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(name));
    NullBackend backend;
    ASSERT_OK(backend.CheckTarget(target));
    ASSERT_OK_AND_ASSIGN(const BackendResult result, backend.Compile({graph, {}, target, ""}));
    const ProgramSignature& signature = result.artifact.manifest().signature();
    ASSERT_EQ(signature.inputs.size(), 1u);
    EXPECT_EQ(signature.inputs[0].name, "x");
    ASSERT_EQ(signature.outputs.size(), 2u);
    EXPECT_EQ(ToString(signature.outputs[0].type), "f32[3, 5]");
    EXPECT_EQ(ToString(signature.outputs[1].type), "f32[1, 1]");
  }
}

TEST(NullBackendTest, RefusesOutputsThatAreTooLarge) {
  const OperatorRegistry registry = StandardOperators();
  GraphBuilder b("model", registry);
  b.Output(b.Add("Relu", {b.Input("x", DataType::kFloat32, {1 << 15, 1 << 10})}));
  ASSERT_OK_AND_ASSIGN(const Graph graph, std::move(b).Build());
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-linux"));
  EXPECT_EQ(NullBackend().Compile({graph, {}, target, ""}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace slipway
