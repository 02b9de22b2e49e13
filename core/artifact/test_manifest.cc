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

}  // namespace slipway
