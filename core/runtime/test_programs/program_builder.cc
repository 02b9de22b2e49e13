#include "core/runtime/test_programs/program_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/round_up.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

uint32_t Last(int size) { return static_cast<uint32_t>(size) - 1; }

}  // namespace

ProgramBuilder::ProgramBuilder(const std::string& host) {
  manifest_.set_min_reader_abi(SLIPWAY_ABI_VERSION);
  manifest_.set_name("by hand");
  AddDevice(host);
  *manifest_.add_code() = SmallKernelCode(host);
  blobs_[Digest::Of(SmallKernelBytes(host)).ToString()] = std::string(SmallKernelBytes(host));
}

uint32_t ProgramBuilder::AddDevice(const std::string& target) {
  manifest_.add_devices()->set_target(target);
  manifest_.set_target(manifest_.target().empty() ? target
                                                  : absl::StrCat(manifest_.target(), ",", target));
  return Last(manifest_.devices_size());
}

uint32_t ProgramBuilder::AddSpace(uint32_t device, const std::vector<uint32_t>& shared_with) {
  v1::MemorySpace& space = *manifest_.add_spaces();
  space.set_device(device);
  for (const uint32_t other : shared_with) space.add_shared_with(other);
  return Last(manifest_.spaces_size());
}

uint32_t ProgramBuilder::AddEntries(v1::Code::Kind kind, uint32_t device,
                                    const std::vector<std::string>& names,
                                    const std::string& text) {
  blobs_[Digest::Of(text).ToString()] = text;
  v1::Code& code = *manifest_.add_code();
  code.set_kind(kind);
  *code.mutable_blob() = ToProto(Digest::Of(text));
  code.set_device(device);
  code.set_kernel_count(static_cast<uint32_t>(names.size()));
  for (const std::string& name : names) code.add_entries(name);
  return Last(manifest_.code_size());
}

uint32_t ProgramBuilder::AddSymbol(const std::string& name, int64_t min, int64_t max) {
  v1::Symbol& symbol = *manifest_.add_symbols();
  symbol.set_name(name);
  symbol.set_min(min);
  symbol.set_max(max);
  manifest_.add_expressions()->set_symbol(Last(manifest_.symbols_size()));
  return Last(manifest_.expressions_size());
}

uint32_t ProgramBuilder::SymbolOf(const v1::Manifest& manifest, uint32_t expression) {
  return manifest.expressions(static_cast<int>(expression)).symbol();
}

uint32_t ProgramBuilder::Number(int64_t number) {
  manifest_.add_expressions()->set_constant(number);
  return Last(manifest_.expressions_size());
}

uint32_t ProgramBuilder::Operation(v1::Expression::Operation::Kind kind, uint32_t left,
                                   uint32_t right) {
  v1::Expression::Operation& operation = *manifest_.add_expressions()->mutable_operation();
  operation.set_kind(kind);
  operation.set_left(left);
  operation.set_right(right);
  return Last(manifest_.expressions_size());
}

uint32_t ProgramBuilder::ByteSize(DataType dtype, const Extents& extents) {
  uint32_t bytes = Number(slipway::ByteSize(dtype));
  for (const Extent& extent : extents) {
    bytes = Operation(
        v1::Expression::Operation::MULTIPLY, bytes,
        extent.is_expression ? static_cast<uint32_t>(extent.value) : Number(extent.value));
  }
  return bytes;
}

v1::Value& ProgramBuilder::AddType(DataType dtype, const Extents& extents) {
  v1::Value& value = *manifest_.add_values();
  value.set_dtype(static_cast<v1::DataType>(dtype));
  for (const Extent& extent : extents) {
    if (extent.is_expression) {
      value.add_shape()->set_expression(static_cast<uint32_t>(extent.value));
    } else {
      value.add_shape()->set_value(extent.value);
    }
  }
  return value;
}

uint32_t ProgramBuilder::AddValue(v1::Buffer::Class kind, DataType dtype, const Extents& extents,
                                  uint32_t space) {
  v1::Value& value = AddType(dtype, extents);
  const bool is_symbolic = std::any_of(extents.begin(), extents.end(),
                                       [](const Extent& extent) { return extent.is_expression; });
  int64_t bytes = slipway::ByteSize(dtype);
  for (const Extent& extent : extents) bytes *= extent.value;
  v1::Buffer& buffer = *manifest_.add_buffers();
  buffer.set_class_(kind);
  buffer.set_space(space);
  if (is_symbolic) {
    buffer.mutable_size()->set_expression(ByteSize(dtype, extents));
  } else {
    buffer.mutable_size()->set_constant(
        kind == v1::Buffer::CLASS_STATIC ? RoundUp(bytes, kBufferAlignment) : bytes);
  }
  if (kind == v1::Buffer::CLASS_STATIC) {
    buffer.set_arena_offset(arena_bytes_[space]);
    arena_bytes_[space] += RoundUp(bytes, kBufferAlignment);
  }
  value.set_buffer(Last(manifest_.buffers_size()));
  return Last(manifest_.values_size());
}

uint32_t ProgramBuilder::AddValueBeside(uint32_t value, int64_t offset, DataType dtype,
                                        const Extents& extents) {
  v1::Value& added = AddType(dtype, extents);
  added.set_buffer(manifest_.values(static_cast<int>(value)).buffer());
  added.set_offset(offset);
  return Last(manifest_.values_size());
}

v1::Buffer& ProgramBuilder::buffer_of(uint32_t value) {
  return *manifest_.mutable_buffers(
      static_cast<int>(manifest_.values(static_cast<int>(value)).buffer()));
}

uint32_t ProgramBuilder::AddConstant(const Tensor& tensor, uint32_t space) {
  const std::string bytes(tensor.bytes());
  const Digest digest = Digest::Of(bytes);
  blobs_[digest.ToString()] = bytes;
  v1::Constant& constant = *manifest_.add_constants();
  *constant.mutable_blob() = ToProto(digest);
  constant.set_size_bytes(tensor.byte_size());
  Extents extents;
  for (const int64_t extent : tensor.shape()) extents.push_back(static_cast<int>(extent));
  const uint32_t value = AddValue(v1::Buffer::CLASS_CONSTANT, tensor.dtype(), extents, space);
  manifest_.mutable_buffers(manifest_.buffers_size() - 1)
      ->set_constant(Last(manifest_.constants_size()));
  return value;
}

v1::Function& ProgramBuilder::AddFunction(const std::string& name) {
  v1::Function& function = *manifest_.add_functions();
  function.set_name(name);
  return function;
}

void ProgramBuilder::AddInput(v1::Function& function, const std::string& name, uint32_t value) {
  v1::Binding& input = *function.add_inputs();
  input.set_name(name);
  input.set_value(value);
}

void ProgramBuilder::AddOutput(v1::Function& function, const std::string& name, uint32_t value) {
  v1::Binding& output = *function.add_outputs();
  output.set_name(name);
  output.set_value(value);
}

void ProgramBuilder::AddConstraint(v1::Function& function, const std::string& user,
                                   const std::vector<std::pair<uint32_t, uint32_t>>& any_of) {
  v1::Constraint& constraint = *function.add_constraints();
  constraint.set_user(user);
  for (const auto& [left, right] : any_of) {
    v1::Constraint::Equality& equality = *constraint.add_any_of();
    equality.set_left(left);
    equality.set_right(right);
  }
}

v1::Step& ProgramBuilder::AddKernel(v1::Function& function, SmallKernel kernel,
                                    const Values& inputs, const Values& outputs) {
  v1::Step& step = *function.add_steps();
  step.set_name(absl::StrCat("kernel ", static_cast<uint32_t>(kernel)));
  step.mutable_kernel()->set_kernel(static_cast<uint32_t>(kernel));
  for (const uint32_t value : inputs) step.mutable_kernel()->add_inputs(value);
  for (const uint32_t value : outputs) step.mutable_kernel()->add_outputs(value);
  return step;
}

v1::Step& ProgramBuilder::AddLaunch(v1::Function& function, uint32_t code, uint32_t entry,
                                    const Values& inputs, const Values& outputs,
                                    const Extents& groups, int64_t group) {
  v1::Step& step = AddKernel(function, static_cast<SmallKernel>(entry), inputs, outputs);
  step.set_name(manifest_.code(static_cast<int>(code)).entries(static_cast<int>(entry)));
  step.set_device(manifest_.code(static_cast<int>(code)).device());
  step.mutable_kernel()->set_code(code);
  v1::Step::Launch& launch = *step.mutable_kernel()->mutable_launch();
  for (size_t i = 0; i < 3; ++i) {
    v1::Size& size = *launch.add_groups();
    const Extent extent = i < groups.size() ? groups[i] : Extent(1);
    if (extent.is_expression) {
      size.set_expression(static_cast<uint32_t>(extent.value));
    } else {
      size.set_constant(extent.value);
    }
    launch.add_group(i == 0 ? group : 1);
  }
  return step;
}

v1::Step& ProgramBuilder::AddCopy(v1::Function& function, uint32_t device, uint32_t from,
                                  uint32_t to) {
  v1::Step& step = *function.add_steps();
  step.set_name("copy");
  step.set_device(device);
  step.mutable_copy()->set_from(from);
  step.mutable_copy()->set_to(to);
  return step;
}

absl::StatusOr<Artifact> ProgramBuilder::Build() {
  manifest_.set_entry(Last(manifest_.functions_size()));
  manifest_.set_format_version(LowestFormatVersion(manifest_));
  return Artifact::Create(manifest_, [this](const Digest& digest) -> absl::StatusOr<Blob> {
    return Blob::Own(blobs_.at(digest.ToString()));
  });
}

}  // namespace slipway
