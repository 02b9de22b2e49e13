// What a group of instances shares while it runs.
//
// Whoever reads what another instance has written, or writes what another one has read or written, has a barrier in between. Where there is none
// the process ends, whatever the order in which instances happen to be stepped. So it does where something is read that nobody has written, or
// that a copy still under way is to fill.
//
// Products of warp groups read it by another way than instances write it (NVIDIA: the asynchronous proxy, the generic one), and while instances do other things.
// So whoever has written what they read has then fenced that way off, before a barrier; and nobody writes it before the product has been waited for, and a
// barrier after that. Source: NVIDIA, "Parallel Thread Execution ISA", "Async proxy" and "wgmma.fence".
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slipway::fake_cuda {

// `text` is the instruction, for messages. Addresses are those of instructions.
class PtxShared {
 public:
  // For so many instances; the first byte's address is kPtxShared and `first`.
  PtxShared(size_t bytes, size_t first, size_t instances);

  const uint8_t* Read(int instance, uint64_t address, size_t bytes, const std::string& text);
  uint8_t* Write(int instance, uint64_t address, size_t bytes, const std::string& text);
  // The bytes are a copy's, which ends by writing them.
  void BeginCopy(int instance, uint64_t address, size_t bytes, const std::string& text);
  uint8_t* EndCopy(int instance, uint64_t address, size_t bytes, const std::string& text);

  // "fence.proxy.async" of an instance.
  void FenceProducts(int instance) { ++fences_[static_cast<size_t>(instance)]; }
  // What a product reads, from now on to the end that is told.
  const uint8_t* BeginProduct(uint64_t address, size_t bytes, const std::string& text);
  void EndProduct(uint64_t address, size_t bytes);

  // All instances have met.
  void Barrier() {
    ++now_;
    fences_before_barrier_ = fences_;
  }

 private:
  static constexpr int kMany = -1;
  struct Byte {
    uint64_t written_at = 0;  // By now_; 0 for never.
    int writer = 0;
    uint64_t read_at = 0;
    int reader = 0;  // Or kMany.
    bool is_copied = false;
    uint32_t fences = 0;    // Of its writer, when it was written.
    uint32_t products = 0;  // That read it.
  };

  size_t Place(uint64_t address, size_t bytes, const std::string& text) const;
  void MarkWritten(int instance, Byte& byte, const std::string& text) const;

  const size_t first_;
  std::vector<uint8_t> bytes_;
  std::vector<Byte> facts_;
  std::vector<uint32_t> fences_;  // By instance.
  std::vector<uint32_t> fences_before_barrier_;
  uint64_t now_ = 1;
};

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_
