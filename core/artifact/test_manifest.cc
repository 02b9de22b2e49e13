#include "core/artifact/test_manifest.h"

#include <cstdint>
#include <initializer_list>

#include "core/base/digest.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

void AddValue(std::initializer_list<int64_t> shape, uint32_t buffer, v1::Manifest& manifest) {
  v1::Value& value = *manifest.add_values();
  value.set_dtype(v1::DATA_TYPE_FLOAT32);
  for (const int64_t extent : shape) value.add_shape()->set_value(extent);
  value.set_buffer(buffer);
}

v1::Buffer& AddBuffer(v1::Buffer::Class kind, int64_t size, v1::Manifest& manifest) {
  v1::Buffer& buffer = *manifest.add_buffers();
  buffer.set_class_(kind);
  buffer.mutable_size()->set_constant(size);
  return buffer;
}

using Expression = v1::Expression;
using Operation = v1::Expression::Operation;
using Buffer = v1::Buffer;

// Puts entries at the end of a manifest's tables and names them by index.
class Tables {
 public:
  explicit Tables(v1::Manifest& manifest) : manifest_(manifest) {}

  uint32_t Constant(int64_t value) {
    manifest_.add_expressions()->set_constant(value);
    return manifest_.expressions_size() - 1;
  }
  uint32_t Symbol(const char* name, int64_t min, int64_t max) {
    v1::Symbol& symbol = *manifest_.add_symbols();
    symbol.set_name(name);
    symbol.set_min(min);
    symbol.set_max(max);
    manifest_.add_expressions()->set_symbol(manifest_.symbols_size() - 1);
    return manifest_.expressions_size() - 1;
  }
  uint32_t Compute(uint32_t left, Operation::Kind kind, uint32_t right) {
    Operation& operation = *manifest_.add_expressions()->mutable_operation();
    operation.set_kind(kind);
    operation.set_left(left);
    operation.set_right(right);
    return manifest_.expressions_size() - 1;
  }
  // A tensor in a buffer of its own. Below 0, an extent is expression -1 - extent, and `size` likewise.
  uint32_t Tensor(v1::DataType dtype, std::initializer_list<int64_t> shape, Buffer::Class kind,
                  uint32_t space, int64_t size, int64_t arena_offset = 0) {
    Buffer& buffer = *manifest_.add_buffers();
    buffer.set_class_(kind);
    buffer.set_space(space);
    buffer.set_arena_offset(arena_offset);
    if (size < 0) {
      buffer.mutable_size()->set_expression(static_cast<uint32_t>(-1 - size));
    } else {
      buffer.mutable_size()->set_constant(size);
    }
    v1::Value& value = *manifest_.add_values();
    value.set_dtype(dtype);
    for (const int64_t extent : shape) {
      if (extent < 0) {
        value.add_shape()->set_expression(static_cast<uint32_t>(-1 - extent));
      } else {
        value.add_shape()->set_value(extent);
      }
    }
    value.set_buffer(manifest_.buffers_size() - 1);
    return manifest_.values_size() - 1;
  }
  uint32_t F32x8(Buffer::Class kind, int64_t arena_offset = 0) {
    return Tensor(v1::DATA_TYPE_FLOAT32, {8}, kind, 0, kind == Buffer::CLASS_STATIC ? 64 : 32,
                  arena_offset);
  }

 private:
  v1::Manifest& manifest_;
};

void Bind(google::protobuf::RepeatedPtrField<v1::Binding>& bindings, const char* name,
          uint32_t value) {
  v1::Binding& binding = *bindings.Add();
  binding.set_name(name);
  binding.set_value(value);
}

v1::Step::Kernel& AddKernel(v1::Function& function, const char* name,
                            std::initializer_list<uint32_t> inputs,
                            std::initializer_list<uint32_t> outputs) {
  v1::Step& step = *function.add_steps();
  step.set_name(name);
  for (const uint32_t input : inputs) step.mutable_kernel()->add_inputs(input);
  for (const uint32_t output : outputs) step.mutable_kernel()->add_outputs(output);
  return *step.mutable_kernel();
}

v1::Step& AddCopy(v1::Function& function, uint32_t from, uint32_t to) {
  v1::Step& step = *function.add_steps();
  step.set_name("Copy");
  step.mutable_copy()->set_from(from);
  step.mutable_copy()->set_to(to);
  return step;
}

}  // namespace

std::string TestCode() { return "this would be an ELF shared object"; }

std::string TestConstants() { return std::string(96, '\0'); }

v1::Manifest TestManifest() {
  v1::Manifest manifest;
  manifest.set_format_version(1);
  manifest.set_min_reader_abi(1);
  manifest.set_target("x86-64-linux");
  manifest.set_name("test");
  manifest.add_devices()->set_target("x86-64-linux");
  v1::Code& code = *manifest.add_code();
  code.set_kind(v1::Code::KIND_ELF);
  *code.mutable_blob() = ToProto(Digest::Of(TestCode()));
  code.set_kernel_count(1);
  v1::Constant& constant = *manifest.add_constants();
  *constant.mutable_blob() = ToProto(Digest::Of(TestConstants()));
  constant.set_offset(64);
  constant.set_size_bytes(32);
  AddBuffer(v1::Buffer::CLASS_EXTERNAL, 64, manifest);
  AddBuffer(v1::Buffer::CLASS_CONSTANT, 32, manifest);
  AddBuffer(v1::Buffer::CLASS_STATIC, 64, manifest).set_arena_offset(128);
  AddBuffer(v1::Buffer::CLASS_EXTERNAL, 64, manifest);
  AddValue({2, 8}, 0, manifest);
  AddValue({8}, 1, manifest);
  AddValue({2, 8}, 2, manifest);
  AddValue({2, 8}, 3, manifest);
  v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  main.add_inputs()->set_name("x");
  v1::Binding& output = *main.add_outputs();
  output.set_name("y");
  output.set_value(3);
  v1::Step& add = *main.add_steps();
  add.set_name("Add");
  add.add_operators("Add");
  add.mutable_kernel()->add_inputs(0);
  add.mutable_kernel()->add_inputs(1);
  add.mutable_kernel()->add_outputs(2);
  v1::Step& copy = *main.add_steps();
  copy.set_name("Identity");
  copy.mutable_copy()->set_from(2);
  copy.mutable_copy()->set_to(3);
  return manifest;
}

v1::Manifest TestManifest2() {
  constexpr v1::DataType kF32 = v1::DATA_TYPE_FLOAT32;
  v1::Manifest manifest;
  manifest.set_format_version(2);
  manifest.set_min_reader_abi(1);
  manifest.set_target("x86-64-linux,cuda-sm90,opencl");
  manifest.set_name("test 2");
  for (const char* device : {"x86-64-linux", "cuda-sm90", "opencl"}) {
    manifest.add_devices()->set_target(device);
  }
  for (const v1::Code::Kind kind :
       {v1::Code::KIND_ELF, v1::Code::KIND_PTX, v1::Code::KIND_OPENCL_SOURCE}) {
    v1::Code& code = *manifest.add_code();
    code.set_kind(kind);
    *code.mutable_blob() = ToProto(Digest::Of(TestCode()));
    code.set_device(manifest.code_size() - 1);
    code.set_kernel_count(1);
    if (kind != v1::Code::KIND_ELF) code.add_entries("scale_rows");
  }
  v1::Constant& constant = *manifest.add_constants();
  *constant.mutable_blob() = ToProto(Digest::Of(TestConstants()));
  constant.set_offset(64);
  constant.set_size_bytes(32);
  manifest.add_spaces()->set_device(0);
  manifest.add_spaces()->set_device(1);
  v1::MemorySpace& shared = *manifest.add_spaces();
  shared.add_shared_with(1);
  shared.add_shared_with(2);

  Tables tables(manifest);
  // Each is named as a negative extent or size.
  const auto ref = [](uint32_t expression) { return -1 - static_cast<int64_t>(expression); };
  const uint32_t batch = tables.Symbol("batch", 1, 16);
  const uint32_t count = tables.Symbol("count", 0, 100);
  const uint32_t turns = tables.Symbol("turns", 0, 16);
  const uint32_t row_bytes = tables.Constant(32);
  const uint32_t batch_bytes = tables.Compute(batch, Operation::MULTIPLY, row_bytes);
  const uint32_t count_bytes = tables.Compute(count, Operation::MULTIPLY, row_bytes);
  const uint32_t turns_bytes = tables.Compute(turns, Operation::MULTIPLY, row_bytes);
  const uint32_t one = tables.Constant(1);
  const uint32_t two = tables.Constant(2);
  const uint32_t eight = tables.Constant(8);
  const uint32_t groups = tables.Compute(batch, Operation::CEIL_DIVIDE, eight);
  // max(1, min(8, floor((batch - 1) / 2) + 1))
  const uint32_t less = tables.Compute(batch, Operation::SUBTRACT, one);
  const uint32_t half = tables.Compute(less, Operation::FLOOR_DIVIDE, two);
  const uint32_t more = tables.Compute(half, Operation::ADD, one);
  const uint32_t at_most = tables.Compute(eight, Operation::MIN, more);
  const uint32_t pooled = tables.Compute(one, Operation::MAX, at_most);

  v1::Function& keep = *manifest.add_functions();
  keep.set_name("keep");
  Bind(*keep.mutable_inputs(), "a", tables.F32x8(Buffer::CLASS_EXTERNAL));
  Bind(*keep.mutable_outputs(), "a", 0);

  v1::Function& change = *manifest.add_functions();
  change.set_name("change");
  const uint32_t change_in = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t changed = tables.F32x8(Buffer::CLASS_STATIC, 0);
  Bind(*change.mutable_inputs(), "a", change_in);
  Bind(*change.mutable_outputs(), "b", changed);
  AddKernel(change, "Change", {change_in}, {changed});

  v1::Function& body = *manifest.add_functions();
  body.set_name("body");
  const uint32_t turn = tables.Tensor(v1::DATA_TYPE_INT64, {}, Buffer::CLASS_EXTERNAL, 0, 8);
  const uint32_t carried = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t slice = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t captured = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t go_on = tables.Tensor(v1::DATA_TYPE_BOOL, {}, Buffer::CLASS_STATIC, 0, 64, 64);
  const uint32_t next = tables.F32x8(Buffer::CLASS_STATIC, 128);
  Bind(*body.mutable_inputs(), "turn", turn);
  Bind(*body.mutable_inputs(), "carried", carried);
  Bind(*body.mutable_inputs(), "slice", slice);
  Bind(*body.mutable_inputs(), "captured", captured);
  Bind(*body.mutable_outputs(), "go on", go_on);
  Bind(*body.mutable_outputs(), "next", next);
  Bind(*body.mutable_outputs(), "row", carried);
  AddKernel(body, "Turn", {turn, carried, slice, captured}, {go_on, next});

  v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  const uint32_t x =
      tables.Tensor(kF32, {ref(batch), 8}, Buffer::CLASS_EXTERNAL, 0, ref(batch_bytes));
  const uint32_t flag = tables.Tensor(v1::DATA_TYPE_BOOL, {1}, Buffer::CLASS_EXTERNAL, 2, 1);
  const uint32_t limit = tables.Tensor(v1::DATA_TYPE_INT64, {}, Buffer::CLASS_EXTERNAL, 0, 8);
  const uint32_t y =
      tables.Tensor(kF32, {ref(batch), 8}, Buffer::CLASS_EXTERNAL, 0, ref(batch_bytes));
  const uint32_t last = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t weights = tables.F32x8(Buffer::CLASS_CONSTANT);
  const uint32_t counts = tables.Tensor(v1::DATA_TYPE_INT64, {1}, Buffer::CLASS_STATIC, 0, 64, 192);
  const uint32_t found =
      tables.Tensor(kF32, {ref(count), 8}, Buffer::CLASS_DYNAMIC, 0, ref(count_bytes));
  const uint32_t chosen = tables.F32x8(Buffer::CLASS_STATIC, 192);
  const uint32_t rows =
      tables.Tensor(kF32, {ref(turns), 8}, Buffer::CLASS_DYNAMIC, 0, ref(turns_bytes));
  // As large as the batch can be.
  const uint32_t on_gpu = tables.Tensor(kF32, {ref(batch), 8}, Buffer::CLASS_STATIC, 1, 512, 0);
  const uint32_t scaled =
      tables.Tensor(kF32, {ref(batch), 8}, Buffer::CLASS_DYNAMIC, 1, ref(batch_bytes));
  const uint32_t pool = tables.Tensor(kF32, {ref(pooled), 8}, Buffer::CLASS_STATIC, 0, 256, 256);
  Bind(*main.mutable_inputs(), "x", x);
  Bind(*main.mutable_inputs(), "flag", flag);
  Bind(*main.mutable_inputs(), "limit", limit);
  Bind(*main.mutable_outputs(), "y", y);
  Bind(*main.mutable_outputs(), "last", last);
  Bind(*main.mutable_outputs(), "found", found);
  Bind(*main.mutable_outputs(), "rows", rows);
  AddKernel(main, "Count", {x}, {counts});
  v1::Step& bind = *main.add_steps();
  bind.set_name("Bind");
  bind.mutable_bind_symbols()->set_value(counts);
  bind.mutable_bind_symbols()->add_symbols(1);
  AddKernel(main, "Find", {x}, {found});
  v1::Step& branch = *main.add_steps();
  branch.set_name("If");
  branch.mutable_branch()->set_condition(flag);
  branch.mutable_branch()->set_then_function(0);
  branch.mutable_branch()->set_else_function(1);
  branch.mutable_branch()->add_inputs(weights);
  branch.mutable_branch()->add_outputs(chosen);
  v1::Step& loop = *main.add_steps();
  loop.set_name("Loop");
  loop.mutable_loop()->set_body(2);
  loop.mutable_loop()->set_max_turns(limit);
  loop.mutable_loop()->set_first_condition(flag);
  loop.mutable_loop()->set_has_condition(true);
  loop.mutable_loop()->add_initial(chosen);
  loop.mutable_loop()->add_scanned(x);
  loop.mutable_loop()->add_captured(weights);
  loop.mutable_loop()->add_results(last);
  loop.mutable_loop()->add_collected(rows);
  loop.mutable_loop()->set_turns(2);
  v1::Step& upload = AddCopy(main, x, on_gpu);
  upload.set_device(1);
  upload.set_queue(1);
  v1::Step::Kernel& scale = AddKernel(main, "Scale", {on_gpu, flag}, {scaled});
  scale.set_code(1);
  for (int axis = 0; axis < 3; ++axis) {
    v1::Size& along = *scale.mutable_launch()->add_groups();
    if (axis == 0) {
      along.set_expression(groups);
    } else {
      along.set_constant(1);
    }
    scale.mutable_launch()->add_group(axis == 0 ? 8 : 1);
  }
  scale.mutable_launch()->set_shared_bytes(256);
  v1::Step& launch = *main.mutable_steps(main.steps_size() - 1);
  launch.set_device(1);
  launch.add_after(5);
  AddCopy(main, scaled, y).set_device(1);
  AddKernel(main, "Pool", {x}, {pool});

  v1::Function& other = *manifest.add_functions();
  other.set_name("other");
  const uint32_t a = tables.F32x8(Buffer::CLASS_EXTERNAL);
  const uint32_t b = tables.F32x8(Buffer::CLASS_EXTERNAL);
  Bind(*other.mutable_inputs(), "a", a);
  Bind(*other.mutable_outputs(), "b", b);
  AddCopy(other, a, b);
  manifest.set_entry(3);
  manifest.add_more_entries(4);
  return manifest;
}

v1::Manifest TestProductManifest() {
  constexpr v1::DataType kF32 = v1::DATA_TYPE_FLOAT32;
  v1::Manifest manifest;
  manifest.set_format_version(2);
  manifest.set_min_reader_abi(1);
  manifest.set_target("x86-64-linux,cuda-sm80");
  manifest.set_name("product");
  for (const char* device : {"x86-64-linux", "cuda-sm80"}) {
    manifest.add_devices()->set_target(device);
  }
  v1::Code& code = *manifest.add_code();
  code.set_kind(v1::Code::KIND_PTX);
  *code.mutable_blob() = ToProto(Digest::Of(TestCode()));
  code.set_device(1);
  code.set_kernel_count(2);
  for (const char* entry : {"multiply", "finish"}) code.add_entries(entry);
  for (const int64_t bytes : {80, 20}) {
    v1::Constant& constant = *manifest.add_constants();
    *constant.mutable_blob() = ToProto(Digest::Of(TestConstants()));
    constant.set_size_bytes(bytes);
  }
  Tables tables(manifest);
  const uint32_t x = tables.Tensor(kF32, {3, 4}, Buffer::CLASS_EXTERNAL, 0, 48);
  const uint32_t w = tables.Tensor(kF32, {4, 5}, Buffer::CLASS_CONSTANT, 1, 80);
  const uint32_t left = tables.Tensor(kF32, {3, 4}, Buffer::CLASS_STATIC, 1, 64, 0);
  const uint32_t between = tables.Tensor(kF32, {3, 5}, Buffer::CLASS_STATIC, 1, 64, 64);
  const uint32_t result = tables.Tensor(kF32, {3, 5}, Buffer::CLASS_STATIC, 1, 64, 128);
  const uint32_t bias = tables.Tensor(kF32, {5}, Buffer::CLASS_CONSTANT, 1, 20);
  manifest.mutable_buffers(static_cast<int>(bias))->set_constant(1);
  const uint32_t y = tables.Tensor(kF32, {3, 5}, Buffer::CLASS_EXTERNAL, 0, 60);
  v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  Bind(*main.mutable_inputs(), "x", x);
  Bind(*main.mutable_outputs(), "y", y);
  AddCopy(main, x, left).set_device(1);
  AddKernel(main, "MatMul, 1 of 2", {left, w}, {between});
  AddKernel(main, "MatMul, 2 of 2", {between, bias}, {result}).set_kernel(1);
  for (const int step : {1, 2}) {
    v1::Step::Kernel& call = *main.mutable_steps(step)->mutable_kernel();
    main.mutable_steps(step)->set_device(1);
    for (int axis = 0; axis < 3; ++axis) {
      call.mutable_launch()->add_groups()->set_constant(1);
      call.mutable_launch()->add_group(1);
    }
  }
  AddCopy(main, result, y).set_device(1);
  return manifest;
}

v1::ProgramNotes::VendorStep TestVendorStep() {
  v1::ProgramNotes::VendorStep step;
  step.set_first_step(1);
  step.set_steps(2);
  v1::ProgramNotes::VendorStep::Product& product = *step.mutable_product();
  product.set_batch(1);
  product.set_m(3);
  product.set_n(5);
  product.set_k(4);
  const auto set = [](v1::ProgramNotes::VendorStep::Product::Matrix& matrix, uint32_t value,
                      int64_t row_stride) {
    matrix.set_value(value);
    matrix.set_row_stride(row_stride);
    matrix.set_column_stride(1);
  };
  set(*product.mutable_left(), 2, 4);
  set(*product.mutable_right(), 1, 5);
  step.set_result(4);
  step.set_bias(5);
  step.set_activation(v1::ProgramNotes::VendorStep::ACTIVATION_RELU);
  step.set_precision(v1::PRECISION_TF32);
  return step;
}

v1::ProgramNotes::VendorStep TestVendorConvolution() {
  v1::ProgramNotes::VendorStep step = TestVendorStep();
  v1::ProgramNotes::VendorStep::Convolution& convolution = *step.mutable_convolution();
  convolution.set_batch(1);
  convolution.set_groups(1);
  convolution.set_input_channels(1);
  convolution.set_output_channels(5);
  const auto set = [](v1::ProgramNotes::VendorStep::Convolution::Dimension& dimension,
                      int64_t input, int64_t output, int64_t stride) {
    dimension.set_input(input);
    dimension.set_output(output);
    dimension.set_kernel(2);
    dimension.set_stride(stride);
    dimension.set_dilation(1);
  };
  set(*convolution.mutable_height(), 3, 1, 2);
  set(*convolution.mutable_width(), 4, 3, 1);
  convolution.set_planes(2);
  convolution.set_weights(1);
  return step;
}

}  // namespace slipway
