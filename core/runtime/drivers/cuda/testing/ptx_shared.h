// What a group of instances shares while it runs.
//
// Whoever reads what another instance has written, or writes what another one has read or written, has a barrier in between. Where there is none
// the process ends, whatever the order in which instances happen to be stepped. So it does where something is read that nobody has written, or
// that a copy still under way is to fill.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slipway::fake_cuda {

// `text` is the instruction, for messages. Addresses are those of instructions: kPtxShared is the first byte's.
class PtxShared {
 public:
  explicit PtxShared(size_t bytes);

  const uint8_t* Read(int instance, uint64_t address, size_t bytes, const std::string& text);
  uint8_t* Write(int instance, uint64_t address, size_t bytes, const std::string& text);
  // The bytes are a copy's, which ends by writing them.
  void BeginCopy(int instance, uint64_t address, size_t bytes, const std::string& text);
  uint8_t* EndCopy(int instance, uint64_t address, size_t bytes, const std::string& text);

  // All instances have met.
  void Barrier() { ++now_; }

 private:
  static constexpr int kMany = -1;
  struct Byte {
    uint64_t written_at = 0;  // By now_; 0 for never.
    int writer = 0;
    uint64_t read_at = 0;
    int reader = 0;  // Or kMany.
    bool is_copied = false;
  };

  size_t Place(uint64_t address, size_t bytes, const std::string& text) const;
  void MarkWritten(int instance, Byte& byte, const std::string& text) const;

  std::vector<uint8_t> bytes_;
  std::vector<Byte> facts_;
  uint64_t now_ = 1;
};

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_SHARED_H_
