// ModelBuilder: ONNX models for this folder's tests.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_MODEL_BUILDER_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_MODEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "third_party/onnx/onnx.pb.h"

namespace slipway {

// Not thread-safe; test code.
class ModelBuilder {
 public:
  explicit ModelBuilder(int opset) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  ModelBuilder& Input(const std::string& name, const std::vector<int64_t>& shape,
                      int32_t type = onnx::TensorProto::FLOAT) {
    Declare(*model.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    model.mutable_graph()->add_output()->set_name(name);
    return *this;
  }
  ModelBuilder& Output(const std::string& name, const std::vector<int64_t>& shape,
                       int32_t type = onnx::TensorProto::FLOAT) {
    Declare(*model.mutable_graph()->add_output(), name, shape, type);
    return *this;
  }
  onnx::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    return *model.mutable_graph()->add_node() = NewNode(op, inputs, outputs);
  }
  // For bodies and functions.
  static onnx::NodeProto NewNode(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs) {
    onnx::NodeProto node;
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  onnx::TensorProto& Floats(const std::string& name, const std::vector<int64_t>& shape,
                            const std::vector<float>& values) {
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : shape) tensor.add_dims(extent);
    for (const float value : values) tensor.add_float_data(value);
    return tensor;
  }
  static void Ints(onnx::NodeProto& node, const std::string& name,
                   const std::vector<int64_t>& values) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) attribute.add_ints(value);
  }
  static void Int(onnx::NodeProto& node, const std::string& name, int64_t value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void Float(onnx::NodeProto& node, const std::string& name, float value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  static void String(onnx::NodeProto& node, const std::string& name, const std::string& value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }

  std::string Bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;

 private:
  static void Declare(onnx::ValueInfoProto& value, const std::string& name,
                      const std::vector<int64_t>& shape, int32_t type) {
    value.set_name(name);
    onnx::TypeProto::Tensor& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const int64_t extent : shape) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
  }
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_MODEL_BUILDER_H_
