#include "core/operators/sequence.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// A pack is numbers of 8 bytes, and contents rounded up to them: the mark, the kind, how many elements there are; then of
// each its element type, rank, extents, of strings how many bytes they are, and contents.
constexpr int64_t kMark = 0x6b6361702d70696c;  // "lip-pack"
constexpr int64_t kWord = 8;

int64_t RoundedUp(int64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

class PackReader {
 public:
  explicit PackReader(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<absl::string_view> Take(int64_t count) {
    if (count < 0 || count > static_cast<int64_t>(bytes_.size())) {
      return absl::InvalidArgumentError("a sequence or optional is cut off");
    }
    const absl::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  absl::StatusOr<int64_t> Number() {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view bytes, Take(kWord));
    int64_t number;
    std::memcpy(&number, bytes.data(), kWord);
    return number;
  }
  absl::StatusOr<Tensor> Element() {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t dtype, Number());
    TensorType type;
    SLIPWAY_ASSIGN_OR_RETURN(type.dtype, DataTypeFromNumber(dtype));
    if (type.dtype == DataType::kInvalid) {
      return absl::InvalidArgumentError("a sequence or optional holds an element of no type");
    }
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t rank, Number());
    if (rank < 0) return absl::InvalidArgumentError(absl::StrCat("an element has rank ", rank));
    for (int64_t d = 0; d < rank && d <= kMaxRank; ++d) {
      SLIPWAY_ASSIGN_OR_RETURN(type.shape.emplace_back(), Number());
    }
    SLIPWAY_ASSIGN_OR_RETURN(int64_t size, CheckShape(type.shape, ByteSize(type.dtype)));
    if (type.dtype == DataType::kString) {
      SLIPWAY_ASSIGN_OR_RETURN(size, Number());
    }
    if (size < 0 || size > static_cast<int64_t>(bytes_.size())) {
      return absl::InvalidArgumentError("a sequence or optional is cut off");
    }
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view contents, Take(RoundedUp(size)));
    return Tensor::FromBytes(type, contents.substr(0, size));
  }

 private:
  absl::string_view bytes_;
};

// Types.

absl::Status CheckPack(const NodeView& view, int input) {
  const ValueType& type = view.input_type(input);
  if (type.dtype() == DataType::kUint8 && type.rank() == 1) return absl::OkStatus();
  return view.Error(absl::StrCat("input ", input, " is ", ToString(type),
                                 " where a sequence is needed (here a tensor u8[n])"));
}

absl::StatusOr<std::vector<ValueType>> MakesPack(const NodeView&) {
  return std::vector<ValueType>{PackType()};
}

absl::StatusOr<std::vector<ValueType>> PackToPack(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPack(view, 0));
  return MakesPack(view);
}

absl::StatusOr<std::vector<ValueType>> MapType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPack(view, 0));
  return std::vector<ValueType>(view.num_outputs(), PackType());
}

absl::StatusOr<std::vector<ValueType>> LengthType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPack(view, 0));
  return std::vector<ValueType>{TensorType{DataType::kInt64, {}}};
}

absl::StatusOr<std::vector<ValueType>> HasElementType(const NodeView&) {
  return std::vector<ValueType>{TensorType{DataType::kBool, {}}};
}

absl::StatusOr<std::vector<ValueType>> ElementType(const NodeView& view) {
  return view.Annotated(
      absl::FailedPreconditionError("of what type an element is only running finds out"));
}

// Bytes of an element in a pack.
Dimension PackedBytes(const ValueType& element) {
  return Dimension((2 + element.rank()) * kWord) + Dimension(RoundedUp(element.byte_size()));
}

absl::StatusOr<std::vector<ValueType>> PackElementsType(const NodeView& view) {
  Dimension bytes(3 * kWord);
  for (int i = 0; i < view.num_inputs(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, TypeSet::kSized));
    if (!view.input_type(i).is_static()) return std::vector<ValueType>{PackType()};
    bytes = bytes + PackedBytes(view.input_type(i));
  }
  return std::vector<ValueType>{ValueType(DataType::kUint8, {bytes})};
}

absl::StatusOr<std::vector<ValueType>> UnpackElementsType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPack(view, 0));
  const std::vector<int64_t>& words = view.Ints("types");
  std::vector<ValueType> types;
  for (size_t at = 0; at < words.size();) {
    const auto dtype = DataTypeFromNumber(words[at]);
    const size_t left = words.size() - at - 1;
    if (!dtype.ok() || ByteSize(*dtype) == 0 || left == 0 || words[at + 1] < 0 ||
        words[at + 1] > static_cast<int64_t>(left) - 1) {
      return view.Error("\"types\" says no types");
    }
    const auto rank = static_cast<size_t>(words[at + 1]);
    TensorType type{*dtype, {}};
    for (size_t d = 0; d < rank; ++d) type.shape.push_back(words[at + 2 + d]);
    types.emplace_back(std::move(type));
    at += 2 + rank;
  }
  return types;
}

}  // namespace

ValueType PackType() { return ValueType(DataType::kUint8, {Dimension()}); }

absl::StatusOr<Tensor> ToTensor(const Pack& pack) {
  int64_t size = 3 * kWord;
  for (const Tensor& element : pack.elements) {
    size +=
        (2 + static_cast<int64_t>(element.shape().size())) * kWord + RoundedUp(element.byte_size());
    if (element.dtype() == DataType::kString) size += kWord;
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create({DataType::kUint8, {size}}));
  char* at = tensor.mutable_bytes();
  const auto put = [&at](int64_t number) {
    std::memcpy(at, &number, kWord);
    at += kWord;
  };
  put(kMark);
  put(static_cast<int64_t>(pack.kind));
  put(static_cast<int64_t>(pack.elements.size()));
  for (const Tensor& element : pack.elements) {
    put(static_cast<int64_t>(element.dtype()));
    put(static_cast<int64_t>(element.shape().size()));
    for (const int64_t extent : element.shape()) put(extent);
    if (element.dtype() == DataType::kString) put(element.byte_size());
    if (element.byte_size() > 0) {
      std::memcpy(at, element.bytes().data(), static_cast<size_t>(element.byte_size()));
    }
    at += RoundedUp(element.byte_size());
  }
  return tensor;
}

bool IsPack(const Tensor& tensor) {
  int64_t mark = 0;
  if (tensor.dtype() != DataType::kUint8 || tensor.byte_size() < 3 * kWord) return false;
  std::memcpy(&mark, tensor.bytes().data(), kWord);
  return mark == kMark;
}

absl::StatusOr<Pack> ToPack(const Tensor& tensor) {
  if (!IsPack(tensor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor ", ToString(tensor.type()), " is no sequence and no optional"));
  }
  PackReader reader(tensor.bytes().substr(kWord));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t kind, reader.Number());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t count, reader.Number());
  if (count < 0) return absl::InvalidArgumentError(absl::StrCat("it has ", count, " elements"));
  Pack pack;
  pack.kind = static_cast<PackKind>(kind);
  if (pack.kind != PackKind::kSequence && pack.kind != PackKind::kOptional) {
    return absl::InvalidArgumentError(absl::StrCat("there is no kind ", kind, " of packs"));
  }
  for (int64_t i = 0; i < count; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor element, reader.Element());
    pack.elements.push_back(std::move(element));
  }
  return pack;
}

absl::StatusOr<int64_t> PositionIn(const Tensor& tensor, int64_t size, int64_t last) {
  int64_t position = 0;
  if (tensor.num_elements() == 1 && tensor.dtype() == DataType::kInt64) {
    position = tensor.values<int64_t>()[0];
  } else if (tensor.num_elements() == 1 && tensor.dtype() == DataType::kInt32) {
    position = tensor.values<int32_t>()[0];
  } else {
    return absl::InvalidArgumentError(absl::StrCat("the position is ", ToString(tensor.type()),
                                                   " where one i32 or i64 is needed"));
  }
  if (position < -size || position > last) {
    return absl::InvalidArgumentError(
        absl::StrCat("the position ", position, " is outside of a sequence of ", size));
  }
  return position < 0 ? position + size : position;
}

absl::StatusOr<std::vector<int64_t>> PartsOf(const Tensor* given, int64_t extent) {
  if (given == nullptr) return std::vector<int64_t>(extent, 1);
  const Tensor& split = *given;
  std::vector<int64_t> parts;
  if (split.dtype() == DataType::kInt64) {
    parts.assign(split.values<int64_t>().begin(), split.values<int64_t>().end());
  } else if (split.dtype() == DataType::kInt32) {
    parts.assign(split.values<int32_t>().begin(), split.values<int32_t>().end());
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("\"split\" is ", ToString(split.type()), ", not i32 or i64"));
  }
  if (split.shape().empty()) {
    const int64_t part = parts[0];
    if (part <= 0)
      return absl::InvalidArgumentError(
          absl::StrCat("\"split\" is ", part, ", it must be above 0"));
    parts.clear();
    for (int64_t at = 0; at < extent; at += part) parts.push_back(std::min(part, extent - at));
  }
  int64_t left = extent;
  for (const int64_t part : parts) {
    if (part < 0 || part > left)
      return absl::InvalidArgumentError("\"split\" does not fit the extent");
    left -= part;
  }
  if (left != 0) return absl::InvalidArgumentError("\"split\" does not fit the extent");
  return parts;
}

absl::Status RegisterSequenceOperators(OperatorRegistry& registry) {
  OperatorSchema map = OpaqueSchema(
      "SequenceMap", {1, kVariadic}, MapType,
      {{"body", AttributeKind::kGraph, true}, IntAttribute(kCapturesAttribute, 0)}, kVariadic);
  SLIPWAY_RETURN_IF_ERROR(registry.Add(std::move(map)));
  const OperatorSchema schemas[] = {
      OpaqueSchema("ConcatFromSequence", 1, ElementType,
                   {Required(IntAttribute("axis", std::nullopt)), IntAttribute("new_axis", 0)}),
      OpaqueSchema("Optional", {0, 1}, MakesPack),
      OpaqueSchema("OptionalGetElement", 1, ElementType),
      OpaqueSchema("OptionalHasElement", {0, 1}, HasElementType),
      OpaqueSchema("SequenceAt", 2, ElementType),
      OpaqueSchema("SequenceConstruct", {1, kVariadic}, MakesPack),
      OpaqueSchema("SequenceEmpty", 0, MakesPack, {IntAttribute("dtype", 1)}),
      OpaqueSchema("SequenceErase", {1, 2}, PackToPack),
      OpaqueSchema("SequenceInsert", {2, 3}, PackToPack),
      OpaqueSchema("SequenceLength", 1, LengthType),
      OpaqueSchema("SplitToSequence", {1, 2}, MakesPack,
                   {IntAttribute("axis", 0), IntAttribute("keepdims", 1)}),
      OpaqueSchema(kPackElementsOperator, {0, kVariadic}, PackElementsType,
                   {Required(IntAttribute("kind", std::nullopt))}),
      OpaqueSchema(kUnpackElementsOperator, 1, UnpackElementsType,
                   {Required(IntsAttribute("types"))}, kVariadic)};
  return AddAll(registry, schemas);
}

}  // namespace slipway
