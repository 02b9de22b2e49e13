#include "core/runtime/drivers/cuda/testing/ptx_instance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/tensor/float16.h"

namespace slipway::fake_cuda {
namespace {

bool Has(const PtxInstruction& instruction, const char* word) {
  return std::count(instruction.words.begin(), instruction.words.end(), word) > 0;
}

uint64_t Narrow(uint64_t value, int bits) {
  return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

int64_t Signed(uint64_t value, int bits) {
  const int above = 64 - bits;
  return static_cast<int64_t>(value << above) >> above;
}

template <typename To, typename From>
To Bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

// A number of either width; f32 is exact in it.
double Float(uint64_t value, int bits) {
  return bits == 64 ? Bits<double>(value) : Bits<float>(static_cast<uint32_t>(value));
}

uint64_t FloatBits(double value, int bits) {
  return bits == 64 ? Bits<uint64_t>(value) : Bits<uint32_t>(static_cast<float>(value));
}

// What does not fit is the nearest that does, and nothing is 0.
uint64_t Integer(double number, PtxType to) {
  if (std::isnan(number)) return 0;
  const double top = std::ldexp(1.0, to.kind == 's' ? to.bits - 1 : to.bits);
  if (to.kind == 's') {
    if (number >= top) return Narrow(~uint64_t{0}, to.bits - 1);
    if (number < -top) return uint64_t{1} << (to.bits - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(number));
  }
  if (number >= top) return Narrow(~uint64_t{0}, to.bits);
  return number <= 0 ? 0 : static_cast<uint64_t>(number);
}

template <typename T>
bool Holds(const std::string& word, T a, T b) {
  if (word == "eq") return a == b;
  if (word == "ne") return a != b;
  if (word == "lt" || word == "lo") return a < b;
  if (word == "le" || word == "ls") return a <= b;
  if (word == "gt" || word == "hi") return a > b;
  return a >= b;
}

// To the nearest that has 10 bits behind the point; of two the larger.
uint32_t Tf32(uint32_t bits) {
  constexpr uint32_t kBelow = (1 << 13) - 1;
  if (std::isnan(Bits<float>(bits))) return 0x7FFFFFFF & ~kBelow;
  return (bits + (kBelow + 1) / 2) & ~kBelow;
}

bool IsMeeting(const std::string& name) {
  return name == "bar" || name == "mma" || name == "ldmatrix" || name == "shfl" || name == "wgmma";
}

}  // namespace

PtxInstance::PtxInstance(const PtxGroupState& group, const std::array<uint32_t, 12>& numbers,
                         int place)
    : group_(group),
      numbers_(numbers),
      place_(place),
      registers_(group.function.registers.size()),
      uses_(group.function.registers.size()),
      local_(group.function.local_bytes) {}

PtxInstance::State PtxInstance::Run() {
  const std::vector<PtxInstruction>& code = group_.function.code;
  while (next_ < code.size()) {
    now_ = &code[next_++];
    if (now_->guard >= 0 && (Register(now_->guard) != 0) != now_->guard_is) continue;
    ++group_.executed[static_cast<size_t>(now_ - code.data())];
    const std::string& name = now_->words[0];
    if (name == "ret" || name == "exit") break;
    if (name == "trap") return State::kTrapped;
    if (IsMeeting(name)) return State::kMeets;
    if (name == "bra") {
      next_ = now_->target;
    } else {
      Do(name);
    }
  }
  if (!copies_.empty() || !waiting_.empty()) {
    Violation("an instance ends before its copies: " +
              (copies_.empty() ? waiting_[0] : copies_)[0].instruction->text);
  }
  if (last_added_ > ended_) Violation("an instance ends before its products");
  return State::kEnded;
}

void PtxInstance::Unknown() const { Violation("PTX that it does not know: " + now_->text); }

PtxType PtxInstance::type() const {
  if (now_->types.empty()) Unknown();
  return now_->types[0];
}

uint64_t& PtxInstance::Register(int index) {
  const auto i = static_cast<size_t>(index);
  if (uses_[i].added_by > ended_) {
    Violation("a register that a product may still add to: " + now_->text);
  }
  uses_[i].used_at = fences_;
  return registers_[i];
}

float PtxInstance::AddTo(const PtxOperand& sum, int columns) {
  if (sum.kind != PtxOperand::Kind::kRegister) Unknown();
  RegisterUse& use = uses_[static_cast<size_t>(sum.index)];
  if (use.used_at == fences_) Violation("no wgmma.fence since a register was used: " + now_->text);
  if (use.added_by > ended_ && use.columns != columns) {
    Violation("a register that a product of another shape may still add to: " + now_->text);
  }
  use.added_by = last_added_ = committed_ + 1;
  use.columns = columns;
  return Bits<float>(static_cast<uint32_t>(registers_[static_cast<size_t>(sum.index)]));
}

void PtxInstance::Added(const PtxOperand& sum, float value) {
  registers_[static_cast<size_t>(sum.index)] = Bits<uint32_t>(value);
}

void PtxInstance::AwaitProducts(uint64_t groups_left) {
  if (committed_ > groups_left) ended_ = std::max(ended_, committed_ - groups_left);
}

uint64_t PtxInstance::Read(const PtxOperand& operand) {
  switch (operand.kind) {
    case PtxOperand::Kind::kRegister:
      return operand.is_not ? Register(operand.index) == 0 : Register(operand.index);
    case PtxOperand::Kind::kInstance:
      return numbers_[static_cast<size_t>(operand.index)];
    case PtxOperand::Kind::kNumber:
      return operand.number;
    case PtxOperand::Kind::kMany:
      break;
  }
  Unknown();
}

void PtxInstance::Write(const PtxOperand& operand, uint64_t value) {
  if (operand.kind != PtxOperand::Kind::kRegister) Unknown();
  Register(operand.index) = value;
}

void PtxInstance::Write(uint64_t value) { Write(now_->operands.at(0), Narrow(value, type().bits)); }

uint64_t PtxInstance::Address(const PtxOperand& operand) {
  if (operand.kind != PtxOperand::Kind::kRegister) return operand.number;
  return operand.number + Register(operand.index);
}

void PtxInstance::Do(const std::string& name) {
  if (name == "ld" || name == "st") return Move(name == "ld");
  if (name == "cp") return CopyLater();
  if (name == "fence") return Fence();
  if (name == "mov") return Assign();
  if (name == "cvta") return Write(Read(1));
  if (name == "cvt") return Convert();
  if (name == "setp") return Compare();
  if (name == "selp") return Write(Read(3) != 0 ? Read(1) : Read(2));
  if (type().kind == 'f') return WriteFloat(ComputeFloat(name));
  if (name == "mul" || name == "mad") return Multiply(name == "mad");
  if (name == "bfe" || name == "bfi") return Write(MoveField(name == "bfe"));
  Write(ComputeInteger(name));
}

uint8_t* PtxInstance::Locate(const PtxOperand& operand, size_t bytes, size_t alignment) {
  const uint64_t address = Address(operand);
  if (address % alignment != 0) Violation("a misaligned address: " + now_->text);
  const auto within = [&](uint64_t base, const void* begin, size_t size) -> uint8_t* {
    if (address - base > size || bytes > size - (address - base)) {
      Violation("an address outside of what an instance has: " + now_->text);
    }
    return static_cast<uint8_t*>(const_cast<void*>(begin)) + (address - base);
  };
  if (address >= kPtxParameters) {
    return within(kPtxParameters, group_.parameters.data(), 8 * group_.parameters.size());
  }
  if (address >= kPtxLocal) return within(kPtxLocal, local_.data(), local_.size());
  if (address >= kPtxTables)
    return within(kPtxTables, group_.program.tables.data(), group_.program.tables.size());
  return group_.memory(address, bytes);
}

void PtxInstance::Move(bool is_load) {
  const PtxOperand& registers = now_->operands.at(is_load ? 0 : 1);
  const PtxOperand& place = now_->operands.at(is_load ? 1 : 0);
  const std::vector<PtxOperand> one = {registers};
  const std::vector<PtxOperand>& all =
      registers.kind == PtxOperand::Kind::kMany ? registers.parts : one;
  const auto bytes = static_cast<size_t>(type().bits / 8);
  const size_t size = bytes * all.size();
  PtxShared* const shared = Has(*now_, "shared") ? &group_.shared : nullptr;
  if (is_load) {
    const uint8_t* at = shared == nullptr ? Locate(place, size, size)
                                          : shared->Read(place_, Address(place), size, now_->text);
    for (const PtxOperand& part : all) {
      uint64_t value = 0;
      memcpy(&value, at, bytes);
      if (type().kind == 's') value = static_cast<uint64_t>(Signed(value, type().bits));
      Write(part, value);
      at += bytes;
    }
  } else {
    uint8_t* at = shared == nullptr ? Locate(place, size, size)
                                    : shared->Write(place_, Address(place), size, now_->text);
    for (const PtxOperand& part : all) {
      const uint64_t value = Read(part);
      memcpy(at, &value, bytes);
      at += bytes;
    }
  }
}

// "cp.async.ca.shared.global [to], [from], bytes, given", "cp.async.commit_group", "cp.async.wait_group left", "cp.async.wait_all".
void PtxInstance::CopyLater() {
  if (Has(*now_, "shared") && Has(*now_, "global")) return BeginCopy();
  if (Has(*now_, "commit_group")) {
    waiting_.push_back(std::move(copies_));
    copies_.clear();
  } else if (Has(*now_, "wait_group")) {
    EndCopies(Read(0));
  } else if (Has(*now_, "wait_all")) {
    waiting_.push_back(std::move(copies_));
    copies_.clear();
    EndCopies(0);
  } else {
    Unknown();
  }
}

void PtxInstance::BeginCopy() {
  const uint64_t bytes = Read(2);
  const uint64_t given = now_->operands.size() > 3 ? Narrow(Read(3), 32) : bytes;
  const bool is_known = bytes == 16 || (Has(*now_, "ca") && (bytes == 4 || bytes == 8));
  if (!is_known || given > bytes) Unknown();
  const uint64_t to = Address(now_->operands[0]);
  group_.shared.BeginCopy(place_, to, bytes, now_->text);
  const uint8_t* const from = given == 0 ? nullptr : Locate(now_->operands[1], given, bytes);
  copies_.push_back({now_, to, from, bytes, given});
}

void PtxInstance::EndCopies(size_t groups_left) {
  while (waiting_.size() > groups_left) {
    for (const Copy& copy : waiting_.front()) {
      uint8_t* const to =
          group_.shared.EndCopy(place_, copy.to, copy.bytes, copy.instruction->text);
      memset(to, 0, copy.bytes);
      if (copy.given > 0) memcpy(to, copy.from, copy.given);
    }
    waiting_.erase(waiting_.begin());
  }
}

// "fence.proxy.async.shared::cta".
void PtxInstance::Fence() {
  if (now_->text != "fence.proxy.async.shared::cta") Unknown();
  group_.shared.FenceProducts(place_);
}

void PtxInstance::Assign() {
  const PtxOperand& to = now_->operands.at(0);
  const PtxOperand& from = now_->operands.at(1);
  if (to.kind == PtxOperand::Kind::kMany) {
    const int bits = type().bits / static_cast<int>(to.parts.size());
    uint64_t value = Read(from);
    for (const PtxOperand& part : to.parts) {
      Write(part, Narrow(value, bits));
      value >>= bits % 64;
    }
  } else if (from.kind == PtxOperand::Kind::kMany) {
    const int bits = type().bits / static_cast<int>(from.parts.size());
    uint64_t value = 0;
    for (size_t i = 0; i < from.parts.size(); ++i) {
      value |= Narrow(Read(from.parts[i]), bits) << (static_cast<int>(i) * bits);
    }
    Write(to, value);
  } else {
    Write(Read(1));
  }
}

// "cvt.rni.sat.s32.f32": to the first type from the second.
void PtxInstance::Convert() {
  const bool is_bf16 = Has(*now_, "bf16x2");
  if (is_bf16 || Has(*now_, "f16x2")) {  // "cvt.rn.bf16x2.f32 d, high, low".
    if (!Has(*now_, "rn")) Unknown();
    const auto narrow = is_bf16 ? FloatToBfloat16 : FloatToFloat16;
    const auto half = [&](size_t index) {
      return uint32_t{narrow(Bits<float>(static_cast<uint32_t>(Read(index))))};
    };
    return Write(now_->operands.at(0), half(1) << 16 | half(2));
  }
  if (Has(*now_, "tf32")) {
    if (!Has(*now_, "rna")) Unknown();
    return Write(now_->operands.at(0), Tf32(static_cast<uint32_t>(Read(1))));
  }
  if (now_->types.size() != 2) Unknown();
  const PtxType to = now_->types[0];
  const PtxType from = now_->types[1];
  const uint64_t value = Read(1);
  if (from.kind == 'f') {
    if (to.kind == 'f' && to.bits == 16) Unknown();
    double number = from.bits == 16 ? double{Float16ToFloat(static_cast<uint16_t>(value))}
                                    : Float(value, from.bits);
    if (Has(*now_, "rni")) number = std::nearbyint(number);
    if (Has(*now_, "rzi")) number = std::trunc(number);
    if (Has(*now_, "rmi")) number = std::floor(number);
    if (Has(*now_, "rpi")) number = std::ceil(number);
    return Write(to.kind == 'f' ? FloatBits(number, to.bits) : Integer(number, to));
  }
  if (to.kind == 'f') {
    if (!Has(*now_, "rn")) Unknown();
    const int64_t number = Signed(value, from.bits);
    const uint64_t plain = Narrow(value, from.bits);
    if (to.bits == 32) {
      return Write(Bits<uint32_t>(from.kind == 's' ? static_cast<float>(number)
                                                   : static_cast<float>(plain)));
    }
    return Write(Bits<uint64_t>(from.kind == 's' ? static_cast<double>(number)
                                                 : static_cast<double>(plain)));
  }
  if (Has(*now_, "sat")) Unknown();
  Write(from.kind == 's' ? static_cast<uint64_t>(Signed(value, from.bits))
                         : Narrow(value, from.bits));
}

// "setp.lt.and.f32 %p1, %f1, %f2, %p0".
void PtxInstance::Compare() {
  std::string word = now_->words.at(1);
  const PtxType kind = type();
  bool holds = false;
  if (kind.kind == 'f') {
    const double a = Float(Read(1), kind.bits);
    const double b = Float(Read(2), kind.bits);
    const bool is_nan = std::isnan(a) || std::isnan(b);
    if (word == "nan") {
      holds = is_nan;
    } else if (word == "num") {
      holds = !is_nan;
    } else if (word.size() == 3) {  // "ltu": or one of them is none.
      holds = is_nan || Holds(word.substr(0, 2), a, b);
    } else {
      holds = !is_nan && Holds(word, a, b);
    }
  } else if (kind.kind == 's') {
    holds = Holds(word, Signed(Read(1), kind.bits), Signed(Read(2), kind.bits));
  } else {
    holds = Holds(word, Narrow(Read(1), kind.bits), Narrow(Read(2), kind.bits));
  }
  if (now_->operands.size() > 3) {
    const bool other = Read(3) != 0;
    holds = Has(*now_, "and") ? holds && other : Has(*now_, "or") ? holds || other : holds != other;
  }
  Write(now_->operands[0], holds);
}

void PtxInstance::WriteFloat(double value) { Write(FloatBits(value, type().bits)); }

// In the type itself, so that each result is rounded once.
double PtxInstance::ComputeFloat(const std::string& name) {
  const int bits = type().bits;
  const double a = Float(Read(1), bits);
  const double b = now_->operands.size() > 2 ? Float(Read(2), bits) : 0;
  const auto f = [](double value) { return static_cast<float>(value); };
  const bool is_wide = bits == 64;
  double result = 0;
  if (name == "add") {
    result = is_wide ? a + b : f(a) + f(b);
  } else if (name == "sub") {
    result = is_wide ? a - b : f(a) - f(b);
  } else if (name == "mul") {
    result = is_wide ? a * b : f(a) * f(b);
  } else if (name == "div") {
    result = is_wide ? a / b : f(a) / f(b);
  } else if (name == "fma" || name == "mad") {
    const double c = Float(Read(3), bits);
    result = is_wide ? std::fma(a, b, c) : std::fmaf(f(a), f(b), f(c));
  } else if (name == "min" || name == "max") {
    // The one that is a number, if one is; or no number, if one is none.
    if (Has(*now_, "NaN") && (std::isnan(a) || std::isnan(b))) return std::nan("");
    result = std::isnan(a) ? b : std::isnan(b) ? a : (name == "min") == (a < b) ? a : b;
  } else if (name == "neg") {
    result = -a;
  } else if (name == "abs") {
    result = std::fabs(a);
  } else if (name == "sqrt") {
    result = is_wide ? std::sqrt(a) : std::sqrt(f(a));
  } else if (name == "rsqrt") {
    result = 1 / std::sqrt(a);
  } else if (name == "rcp") {
    result = is_wide ? 1 / a : 1 / f(a);
  } else if (name == "ex2") {
    result = std::exp2(a);
  } else if (name == "lg2") {
    result = std::log2(a);
  } else if (name == "sin") {
    result = std::sin(a);
  } else if (name == "cos") {
    result = std::cos(a);
  } else if (name == "copysign") {
    result = std::copysign(b, a);
  } else {
    Unknown();
  }
  return Has(*now_, "sat") ? std::clamp(std::isnan(result) ? 0.0 : result, 0.0, 1.0) : result;
}

void PtxInstance::Multiply(bool adds) {
  const PtxType kind = type();
  const bool is_signed = kind.kind == 's';
  using Wide = unsigned __int128;
  const auto wide = [&](uint64_t value) {
    return is_signed ? static_cast<Wide>(static_cast<__int128>(Signed(value, kind.bits)))
                     : static_cast<Wide>(Narrow(value, kind.bits));
  };
  Wide product = wide(Read(1)) * wide(Read(2));
  if (Has(*now_, "hi")) product >>= kind.bits;
  const uint64_t value = static_cast<uint64_t>(product) + (adds ? Read(3) : 0);
  Write(now_->operands[0],
        Has(*now_, "wide") ? Narrow(value, 2 * kind.bits) : Narrow(value, kind.bits));
}

uint64_t PtxInstance::ComputeInteger(const std::string& name) {
  const PtxType kind = type();
  const uint64_t a = Narrow(Read(1), kind.bits);
  const uint64_t b = now_->operands.size() > 2 ? Narrow(Read(2), kind.bits) : 0;
  const int64_t signed_a = Signed(a, kind.bits);
  const int64_t signed_b = Signed(b, kind.bits);
  const bool is_signed = kind.kind == 's';
  const auto bits = static_cast<uint64_t>(kind.bits);
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  if (name == "xor") return a ^ b;
  if (name == "not") return kind.kind == 'p' ? a == 0 : ~a;
  if (name == "neg") return -a;
  if (name == "abs") return static_cast<uint64_t>(signed_a < 0 ? -signed_a : signed_a);
  if (name == "shl") return Amount() >= bits ? 0 : a << Amount();
  if (name == "shr" && is_signed) {
    return static_cast<uint64_t>(signed_a >> std::min(Amount(), bits - 1));
  }
  if (name == "shr") return Amount() >= bits ? 0 : a >> Amount();
  if (name == "min" && is_signed) return static_cast<uint64_t>(std::min(signed_a, signed_b));
  if (name == "max" && is_signed) return static_cast<uint64_t>(std::max(signed_a, signed_b));
  if (name == "min") return std::min(a, b);
  if (name == "max") return std::max(a, b);
  if (name == "popc") return static_cast<uint64_t>(__builtin_popcountll(a));
  if (name == "clz") {
    return a == 0 ? bits : static_cast<uint64_t>(__builtin_clzll(a)) - (64 - bits);
  }
  if (name == "div" || name == "rem") {
    if (b == 0) Violation("a division by zero: " + now_->text);
    if (!is_signed) return name == "div" ? a / b : a % b;
    if (signed_b == -1) return name == "div" ? -a : 0;
    return static_cast<uint64_t>(name == "div" ? signed_a / signed_b : signed_a % signed_b);
  }
  Unknown();
}

// "bfe.u32 d, a, position, length" takes a field out of a number, "bfi.b32 d, a, b, position, length" puts a into b.
uint64_t PtxInstance::MoveField(bool takes) {
  const auto bits = static_cast<uint64_t>(type().bits);
  const uint64_t position = Narrow(Read(takes ? 2 : 3), 8);
  const uint64_t length = Narrow(Read(takes ? 3 : 4), 8);
  // All that is known of them is enough: LLVM writes constants within the number.
  if (length == 0 || position + length > bits) Unknown();
  const uint64_t mask = Narrow(~uint64_t{0}, static_cast<int>(length));
  if (!takes) return (Read(2) & ~(mask << position)) | ((Read(1) & mask) << position);
  const uint64_t field = (Narrow(Read(1), type().bits) >> position) & mask;
  return type().kind == 's' ? static_cast<uint64_t>(Signed(field, static_cast<int>(length)))
                            : field;
}

uint64_t PtxInstance::Amount() { return Narrow(Read(2), 32); }

}  // namespace slipway::fake_cuda
