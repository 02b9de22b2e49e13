#include "client/pack/pack_artifact.h"

#include <limits>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/base/version.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {
namespace {

constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

class Packer {
 public:
  explicit Packer(const PackRequest& request) : request_(request) {}

  absl::StatusOr<v1::Manifest> Run() {
    SLIPWAY_RETURN_IF_ERROR(CheckKernel());
    AddHeader();
    v1::Function& main = *manifest_.add_functions();
    main.set_name("main");
    v1::Step& step = *main.add_steps();
    step.set_name(manifest_.name());
    step.mutable_kernel()->set_kernel(request_.kernel);
    for (const DescribedTensor& input : request_.inputs) AddSymbols(input);
    for (const DescribedTensor& input : request_.inputs) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t value, AddTensor(input, *main.add_inputs()));
      step.mutable_kernel()->add_inputs(value);
    }
    for (const DescribedTensor& output : request_.outputs) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t value, AddTensor(output, *main.add_outputs()));
      step.mutable_kernel()->add_outputs(value);
    }
    SLIPWAY_RETURN_IF_ERROR(SetBounds());
    manifest_.set_format_version(LowestFormatVersion(manifest_));
    return std::move(manifest_);
  }

 private:
  absl::Status CheckKernel() const {
    const std::vector<int32_t>& kernels = request_.facts.argument_counts;
    if (request_.kernel >= kernels.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no kernel ", request_.kernel, ": the code has ", kernels.size()));
    }
    const int64_t arguments = kernels[request_.kernel];
    const size_t tensors = request_.inputs.size() + request_.outputs.size();
    if (arguments == static_cast<int64_t>(tensors)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", request_.kernel, " takes ", arguments, " tensors, but ", request_.inputs.size(),
        " inputs and ", request_.outputs.size(), " outputs are described"));
  }

  void AddHeader() {
    manifest_.set_min_reader_abi(SLIPWAY_ABI_VERSION);
    manifest_.set_target(request_.target.ToString());
    manifest_.set_name(
        std::string(Utf8Prefix(request_.name, static_cast<size_t>(ReaderLimits().name_bytes))));
    manifest_.add_devices()->set_target(request_.target.devices.front().ToString());
    v1::Code& code = *manifest_.add_code();
    code.set_kind(v1::Code::KIND_ELF);
    *code.mutable_blob() = ToProto(Digest::Of(request_.code));
    code.set_kernel_count(static_cast<uint32_t>(request_.facts.argument_counts.size()));
    v1::ToolVersion& tool = *manifest_.add_tools();
    tool.set_name("slipway pack");
    tool.set_version(kVersion);
  }

  // A symbol gets its value from the input that is first to have it.
  void AddSymbols(const DescribedTensor& input) {
    for (const DescribedExtent& extent : input.extents) {
      if (extent.symbol.empty() || expressions_.contains(extent.symbol)) continue;
      v1::Symbol& symbol = *manifest_.add_symbols();
      symbol.set_name(extent.symbol);
      symbol.set_min(1);
      symbol.set_max(kMaxExtent);
      v1::Expression expression;
      expression.set_symbol(static_cast<uint32_t>(manifest_.symbols_size()) - 1);
      expressions_[extent.symbol] = Add(expression);
    }
  }

  uint32_t Add(const v1::Expression& expression) {
    *manifest_.add_expressions() = expression;
    return static_cast<uint32_t>(manifest_.expressions_size()) - 1;
  }

  // An external buffer that the tensor fills.
  absl::StatusOr<uint32_t> AddTensor(const DescribedTensor& tensor, v1::Binding& binding) {
    v1::Value value;
    value.set_dtype(static_cast<v1::DataType>(tensor.dtype));
    int64_t bytes = ByteSize(tensor.dtype);
    std::vector<uint32_t> factors;
    for (const DescribedExtent& extent : tensor.extents) {
      if (extent.symbol.empty()) {
        value.add_shape()->set_value(extent.value);
        if (__builtin_mul_overflow(bytes, extent.value, &bytes)) {
          return absl::InvalidArgumentError(absl::StrCat("\"", tensor.name, "\" is too large"));
        }
        continue;
      }
      const auto found = expressions_.find(extent.symbol);
      if (found == expressions_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("extent \"", extent.symbol, "\" of output \"", tensor.name,
                         "\" is no extent of an input, so that nothing gives it a value"));
      }
      value.add_shape()->set_expression(found->second);
      factors.push_back(found->second);
    }
    v1::Buffer& buffer = *manifest_.add_buffers();
    buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
    if (factors.empty()) {
      buffer.mutable_size()->set_constant(bytes);
    } else {
      buffer.mutable_size()->set_expression(Product(bytes, factors));
    }
    value.set_buffer(static_cast<uint32_t>(manifest_.buffers_size()) - 1);
    *manifest_.add_values() = std::move(value);
    binding.set_name(tensor.name);
    binding.set_value(static_cast<uint32_t>(manifest_.values_size()) - 1);
    return binding.value();
  }

  uint32_t Product(int64_t number, const std::vector<uint32_t>& factors) {
    v1::Expression constant;
    constant.set_constant(number);
    uint32_t product = Add(constant);
    for (const uint32_t factor : factors) {
      v1::Expression expression;
      v1::Expression::Operation& operation = *expression.mutable_operation();
      operation.set_kind(v1::Expression::Operation::MULTIPLY);
      operation.set_left(product);
      operation.set_right(factor);
      product = Add(expression);
    }
    return product;
  }

  absl::Status SetBounds() {
    for (const DimensionBounds& bounds : request_.dimensions) {
      const auto found = expressions_.find(bounds.name);
      if (found == expressions_.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "dimension \"", bounds.name, "\" is given bounds, but is no extent of an input"));
      }
      const uint32_t symbol = manifest_.expressions(static_cast<int>(found->second)).symbol();
      v1::Symbol& bounded = *manifest_.mutable_symbols(static_cast<int>(symbol));
      bounded.set_min(bounds.min);
      bounded.set_max(bounds.max);
    }
    return absl::OkStatus();
  }

  const PackRequest& request_;
  v1::Manifest manifest_;
  std::map<std::string, uint32_t> expressions_;  // By symbol: the expression that is it.
};

}  // namespace

absl::StatusOr<Artifact> PackArtifact(const PackRequest& request) {
  SLIPWAY_ASSIGN_OR_RETURN(v1::Manifest manifest, Packer(request).Run());
  return Artifact::Create(std::move(manifest), [&request](const Digest&) -> absl::StatusOr<Blob> {
    return Blob::Own(request.code);
  });
}

}  // namespace slipway
