#include "core/kernels/sequence.h"

#include "core/kernels/call.h"

namespace slipway::kernels {
namespace {

// The layout that core/operators/sequence.cc describes.
constexpr int64_t kMark = 0x6b6361702d70696c;
constexpr int64_t kWord = 8;

int64_t BytesOf(const Operand& element) { return element.elements() * ByteSize(element.type()); }
int64_t RoundedUp(int64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }
int64_t PackedBytesOf(const Operand& element) {
  return (2 + element.rank()) * kWord + RoundedUp(BytesOf(element));
}

int32_t PackElementsCount(const Call& call) {
  int64_t bytes = 3 * kWord;
  for (int i = 0; i < call.num_inputs(); ++i) bytes += PackedBytesOf(call.input(i));
  return call.Count(bytes);
}

int32_t PackElements(const Call& call) {
  int64_t bytes = 3 * kWord;
  for (int i = 0; i < call.num_inputs(); ++i) bytes += PackedBytesOf(call.input(i));
  if (bytes != call.output(0).elements()) return call.Fail("a pack has another size");
  char* at = call.output(0).data<char>();
  const auto put = [&at](int64_t number) {
    __builtin_memcpy(at, &number, kWord);
    at += kWord;
  };
  put(kMark);
  put(call.Integer(0));
  put(call.num_inputs());
  for (int i = 0; i < call.num_inputs(); ++i) {
    const Operand element = call.input(i);
    put(static_cast<int64_t>(element.type()));
    put(element.rank());
    for (int d = 0; d < element.rank(); ++d) put(element.extent(d));
    const int64_t size = BytesOf(element);
    __builtin_memcpy(at, element.data<const char>(), static_cast<uint64_t>(size));
    __builtin_memset(at + size, 0, static_cast<uint64_t>(RoundedUp(size) - size));
    at += RoundedUp(size);
  }
  return 0;
}

int32_t UnpackElements(const Call& call) {
  constexpr char kOther[] = "the sequence or optional has other elements than the program is for";
  const char* at = call.input(0).data<const char>();
  int64_t left = call.input(0).elements();
  bool is_good = true;
  const auto take = [&]() -> int64_t {
    int64_t number = -1;
    if (left < kWord) {
      is_good = false;
      return number;
    }
    __builtin_memcpy(&number, at, kWord);
    at += kWord;
    left -= kWord;
    return number;
  };
  is_good &= take() == kMark;
  take();  // The kind.
  is_good &= take() == call.num_outputs();
  for (int i = 0; is_good && i < call.num_outputs(); ++i) {
    const Operand element = call.output(i);
    is_good &= take() == static_cast<int64_t>(element.type());
    is_good &= take() == element.rank();
    for (int d = 0; is_good && d < element.rank(); ++d) is_good &= take() == element.extent(d);
    const int64_t size = BytesOf(element);
    is_good &= RoundedUp(size) <= left;
    if (!is_good) break;
    __builtin_memcpy(element.data<char>(), at, static_cast<uint64_t>(size));
    at += RoundedUp(size);
    left -= RoundedUp(size);
  }
  return is_good && left == 0 ? 0 : call.Fail(kOther);
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_PackElements(void** arguments) { return PackElements(Call(arguments)); }
int32_t slipway_PackElements_count(void** arguments) { return PackElementsCount(Call(arguments)); }
int32_t slipway_UnpackElements(void** arguments) { return UnpackElements(Call(arguments)); }
