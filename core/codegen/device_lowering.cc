#include "core/codegen/device_lowering.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Internal::Stmt;
namespace ir = Halide::Internal;

// Whether a value hangs on nothing.
class Hangs : public ir::IRVisitor {
 public:
  bool result = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Variable*) override { result = true; }
  void visit(const ir::Load*) override { result = true; }
  void visit(const ir::Call* op) override {
    if (!op->is_pure()) result = true;
    ir::IRVisitor::visit(op);
  }
};

bool IsConstant(const Expr& value) {
  Hangs hangs;
  value.accept(&hangs);
  return !hangs.result;
}

}  // namespace

Expr LowerForDevice::visit(const ir::Mod* op) {
  constexpr int kWidth = 64;
  constexpr int kBitsOfMask = 31;
  int bits = 0;
  if (!op->type.is_int_or_uint() || op->type.bits() != kWidth ||
      !ir::is_const_power_of_two_integer(op->b, &bits) || bits < kBitsOfMask || bits >= kWidth) {
    return IRMutator::visit(op);
  }
  const Halide::Type unsigned_type = Halide::UInt(kWidth, op->type.lanes());
  const Expr above = ir::make_const(unsigned_type, kWidth - bits);
  const Expr value = Halide::reinterpret(unsigned_type, mutate(op->a));
  return Halide::reinterpret(op->type, (value << above) >> above);
}

Stmt LowerForDevice::visit(const ir::For* op) {
  const bool was_on_device = is_on_device_;
  is_on_device_ |=
      op->device_api == Halide::DeviceAPI::OpenCL || op->device_api == Halide::DeviceAPI::CUDA;
  if (is_on_device_ && !was_on_device) stores_->emplace_back();
  Stmt loop = IRMutator::visit(op);
  is_on_device_ = was_on_device;
  return loop;
}

Stmt LowerForDevice::visit(const ir::LetStmt* op) {
  if (is_on_device_ || !IsConstant(op->value)) return IRMutator::visit(op);
  return mutate(ir::substitute(op->name, op->value, op->body));
}

Stmt LowerForDevice::visit(const ir::Store* op) {
  if (is_on_device_) stores_->back().insert(op->name);
  return IRMutator::visit(op);
}

}  // namespace slipway
