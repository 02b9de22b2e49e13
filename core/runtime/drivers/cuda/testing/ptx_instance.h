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
  std::vector<uint64_t>& executed;
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

  // Of products of warp groups. A register that one adds to is that product's alone from a fence before it to the end of the group of products that it is
  // committed with, but for others of as many columns. Ends the process where it is not.
  void FenceProducts() { ++fences_; }
  float AddTo(const PtxOperand& sum, int columns);
  void Added(const PtxOperand& sum, float value);
  void CommitProducts() { ++committed_; }
  void AwaitProducts(uint64_t groups_left);

 private:
  // What products have to do with a register.
  struct RegisterUse {
    uint64_t used_at =
        1;  // By fences_: when anything else used it; a fence has to come before the first product.
    uint64_t added_by = 0;  // The last group of products that adds to it, by number.
    int columns = 0;        // Of these.
  };

  // A copy from the device's memory into what the group shares, which zeros fill up.
  struct Copy {
    const PtxInstruction* instruction;
    uint64_t to;
    const uint8_t* from;
    size_t bytes;
    size_t given;
  };

  [[noreturn]] void Unknown() const;
  uint64_t& Register(int index);
  PtxType type() const;
  uint64_t Read(size_t index) { return Read(now_->operands.at(index)); }
  void Write(uint64_t value);

  void Do(const std::string& name);
  uint8_t* Locate(const PtxOperand& operand, size_t bytes, size_t alignment);
  void Move(bool is_load);
  void CopyLater();
  void BeginCopy();
  void EndCopies(size_t groups_left);
  void Fence();
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
  std::vector<RegisterUse> uses_;  // By register.
  uint64_t fences_ = 1;
  uint64_t committed_ = 0;  // Groups of products,
  uint64_t ended_ = 0;      // and those that have been waited for.
  uint64_t last_added_ = 0;
  std::vector<uint8_t> local_;
  std::vector<Copy> copies_;                // Since the last group of them.
  std::vector<std::vector<Copy>> waiting_;  // Groups of copies, the oldest first.
  size_t next_ = 0;
  const PtxInstruction* now_ = nullptr;
};

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_INSTANCE_H_
