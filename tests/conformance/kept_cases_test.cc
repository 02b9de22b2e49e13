// The models of tests/conformance/cases, each of one node of another domain than ONNX's: their inputs are initializers, and
// "expected_NAME" is what ONNX Runtime 1.31 makes of output NAME.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "core/tensor/comparison.h"
#include "core/tensor/onnx_tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

TEST(KeptCasesTest, WhatOtherDomainsMakeIsWhatTheirRuntimeMakes) {
  const OperatorRegistry registry = StandardOperators();
  std::set<std::string> operators;
  for (const auto& file : std::filesystem::directory_iterator("tests/conformance/cases")) {
    SCOPED_TRACE(file.path().string());
    const auto bytes = ReadFile(file.path().string(), 1 << 20);
    ASSERT_OK(bytes.status());
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(*bytes));
    OnnxFiles files;
    files.main = Blob::Own(*bytes);
    const auto graph = ImportOnnx(files, registry);
    ASSERT_OK(graph.status());
    const auto outputs = Reference(registry).Evaluate(*graph, {});
    ASSERT_OK(outputs.status());
    int compared = 0;
    for (const onnx::TensorProto& initializer : model.graph().initializer()) {
      for (int i = 0; i < model.graph().output_size(); ++i) {
        if (initializer.name() != "expected_" + model.graph().output(i).name()) continue;
        const auto expected = ParseOnnxTensor(initializer.SerializeAsString());
        ASSERT_OK(expected.status());
        EXPECT_OK(CheckClose((*outputs)[i], expected->tensor, Tolerance()));
        ++compared;
      }
    }
    EXPECT_EQ(compared, model.graph().output_size());
    operators.insert(model.graph().node(0).domain() + "." + model.graph().node(0).op_type());
  }
  EXPECT_GE(operators.size(), 44u);
}

}  // namespace
}  // namespace slipway
