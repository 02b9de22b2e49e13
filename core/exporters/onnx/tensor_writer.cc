#include "core/exporters/onnx/tensor_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/tensor/onnx_tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

constexpr int64_t kMinExternalBytes = 1024;
constexpr int64_t kExternalAlignment = 64;

}  // namespace

absl::Status TensorWriter::Write(const Tensor& tensor, absl::string_view name,
                                 onnx::TensorProto& proto) {
  const bool external = !external_name_.empty() && OnnxByteSize(tensor.type()) >= kMinExternalBytes;
  bytes_ += external ? 0 : std::max(OnnxByteSize(tensor.type()), tensor.byte_size());
  if (bytes_ > std::numeric_limits<int32_t>::max()) {
    return absl::ResourceExhaustedError(
        "the model takes 2 GiB or more, which one file of ONNX cannot; name a file for external "
        "data");
  }
  proto.ParseFromString(FormatOnnxTensor(tensor, name));
  if (external) MoveOut(proto);
  return absl::OkStatus();
}

// Puts the elements of a tensor into the external file.
void TensorWriter::MoveOut(onnx::TensorProto& proto) {
  const auto say = [&proto](const char* key, std::string value) {
    onnx::StringStringEntryProto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  external_.resize((external_.size() + kExternalAlignment - 1) / kExternalAlignment *
                   kExternalAlignment);
  say("location", external_name_);
  say("offset", absl::StrCat(external_.size()));
  say("length", absl::StrCat(proto.raw_data().size()));
  external_ += proto.raw_data();
  proto.clear_raw_data();
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
}

}  // namespace slipway
