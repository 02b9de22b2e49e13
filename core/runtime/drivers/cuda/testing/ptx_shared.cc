#include "core/runtime/drivers/cuda/testing/ptx_shared.h"

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

namespace slipway::fake_cuda {

PtxShared::PtxShared(size_t bytes, size_t first, size_t instances)
    : first_(first),
      bytes_(bytes),
      facts_(bytes),
      fences_(instances),
      fences_before_barrier_(instances) {}

size_t PtxShared::Place(uint64_t address, size_t bytes, const std::string& text) const {
  if (bytes == 0 || address % bytes != 0) Violation("a misaligned address: " + text);
  const uint64_t place = address - kPtxShared - first_;
  if (place > bytes_.size() || bytes > bytes_.size() - place) {
    Violation("an address outside of what a group shares: " + text);
  }
  return static_cast<size_t>(place);
}

const uint8_t* PtxShared::Read(int instance, uint64_t address, size_t bytes,
                               const std::string& text) {
  const size_t place = Place(address, bytes, text);
  for (size_t i = place; i < place + bytes; ++i) {
    Byte& byte = facts_[i];
    if (byte.is_copied) Violation("shared memory that a copy is still to fill: " + text);
    if (byte.written_at == 0) Violation("shared memory that nobody has written: " + text);
    if (byte.written_at == now_ && byte.writer != instance) {
      Violation("no barrier since another instance wrote it: " + text);
    }
    byte.reader = byte.read_at == now_ && byte.reader != instance ? kMany : instance;
    byte.read_at = now_;
  }
  return &bytes_[place];
}

void PtxShared::MarkWritten(int instance, Byte& byte, const std::string& text) const {
  if (byte.written_at == now_ && byte.writer != instance) {
    Violation("no barrier since another instance wrote it: " + text);
  }
  if (byte.read_at == now_ && byte.reader != instance) {
    Violation("no barrier since another instance read it: " + text);
  }
  if (byte.products > 0) Violation("a product may still read it: " + text);
  byte.writer = instance;
  byte.written_at = now_;
  byte.fences = fences_[static_cast<size_t>(instance)];
}

uint8_t* PtxShared::Write(int instance, uint64_t address, size_t bytes, const std::string& text) {
  const size_t place = Place(address, bytes, text);
  for (size_t i = place; i < place + bytes; ++i) {
    if (facts_[i].is_copied) Violation("shared memory that a copy is still to fill: " + text);
    MarkWritten(instance, facts_[i], text);
  }
  return &bytes_[place];
}

const uint8_t* PtxShared::BeginProduct(uint64_t address, size_t bytes, const std::string& text) {
  const size_t place = Place(address, bytes, text);
  for (size_t i = place; i < place + bytes; ++i) {
    Byte& byte = facts_[i];
    if (byte.is_copied) Violation("shared memory that a copy is still to fill: " + text);
    if (byte.written_at == 0) Violation("shared memory that nobody has written: " + text);
    if (byte.written_at == now_) Violation("no barrier since an instance wrote it: " + text);
    if (fences_before_barrier_[static_cast<size_t>(byte.writer)] == byte.fences) {
      Violation("no fence.proxy.async, and then a barrier, since an instance wrote it: " + text);
    }
    ++byte.products;
  }
  return &bytes_[place];
}

void PtxShared::EndProduct(uint64_t address, size_t bytes) {
  const size_t place = Place(address, bytes, "");
  for (size_t i = place; i < place + bytes; ++i) {
    Byte& byte = facts_[i];
    --byte.products;
    byte.reader = kMany;
    byte.read_at = now_;
  }
}

void PtxShared::BeginCopy(int instance, uint64_t address, size_t bytes, const std::string& text) {
  const size_t place = static_cast<size_t>(Write(instance, address, bytes, text) - bytes_.data());
  for (size_t i = place; i < place + bytes; ++i) facts_[i].is_copied = true;
}

uint8_t* PtxShared::EndCopy(int instance, uint64_t address, size_t bytes, const std::string& text) {
  const size_t place = Place(address, bytes, text);
  for (size_t i = place; i < place + bytes; ++i) {
    facts_[i].is_copied = false;
    MarkWritten(instance, facts_[i], text);
  }
  return &bytes_[place];
}

}  // namespace slipway::fake_cuda
