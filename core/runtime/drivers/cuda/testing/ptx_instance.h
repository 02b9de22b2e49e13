// One instance of a group, stepped from one meeting with others to the next.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_INSTANCE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_INSTANCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/drivers/cuda/testing/ptx_machine.h"
#include "core/runtime/drivers/cuda/testing/ptx_shared.h"

namespace slipway::fake_cuda {

// What the instances of a group have in common. All of it outlives them.
struct PtxGroupState {
  const PtxProgram& program;
  const PtxFunction& function;
  const std::vector<uint64_t>& parameters;
  const PtxMemory& memory;
  PtxShared& shared;
};

class PtxInstance {
 public:
  enum class State {
    kEnded,
    kTrapped,
    kMeets,  // It stands at meeting(), and does nothing of it by itself.
  };

  // `numbers` are those of PtxOperand::index, `place` the instance's in its group.
  PtxInstance(const PtxGroupState& group, const std::array<uint32_t, 12>& numbers, int place);

  State Run();
  // REQUIRES: Run returned kMeets.
  const PtxInstruction& meeting() const { return *now_; }
  int place() const { return place_; }

  // For what instances do at a meeting: operands of the instruction at which it stands.
  uint64_t Read(const PtxOperand& operand);
  void Write(const PtxOperand& operand, uint64_t value);
  uint64_t Address(const PtxOperand& operand);

 private:
  // A copy from the device's memory into what the group shares, which zeros fill up.
  struct Copy {
    const PtxInstruction* instruction;
    uint64_t to;
    const uint8_t* from;
    size_t bytes;
    size_t given;
  };

  [[noreturn]] void Unknown() const;
  uint64_t& Register(int index) { return registers_[static_cast<size_t>(index)]; }
  PtxType type() const;
  uint64_t Read(size_t index) { return Read(now_->operands.at(index)); }
  void Write(uint64_t value);

  void Do(const std::string& name);
  uint8_t* Locate(const PtxOperand& operand, size_t bytes, size_t alignment);
  void Move(bool is_load);
  void CopyLater();
  void BeginCopy();
  void EndCopies(size_t groups_left);
  void Assign();
  void Convert();
  void Compare();
  void WriteFloat(double value);
  double ComputeFloat(const std::string& name);
  void Multiply(bool adds);
  uint64_t ComputeInteger(const std::string& name);
  uint64_t MoveField(bool takes);
  // Of a shift: 32 bits, whatever is shifted.
  uint64_t Amount();

  const PtxGroupState& group_;
  const std::array<uint32_t, 12> numbers_;
  const int place_;
  std::vector<uint64_t> registers_;
  std::vector<uint8_t> local_;
  std::vector<Copy> copies_;                // Since the last group of them.
  std::vector<std::vector<Copy>> waiting_;  // Groups of copies, the oldest first.
  size_t next_ = 0;
  const PtxInstruction* now_ = nullptr;
};

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_INSTANCE_H_
