// ValueTable: where a program's values are in memory, and how large.
#ifndef SLIPWAY_CORE_RUNTIME_VALUE_TABLE_H_
#define SLIPWAY_CORE_RUNTIME_VALUE_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/device.h"
#include "core/tensor/dtype.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// A descriptor for every value of a manifest, which launches are bound to once. Values of one buffer move
// together. After construction nothing is allocated. Not thread-safe.
class ValueTable {
 public:
  // Extents that are numbers are set; others are 0, and no value has memory. The manifest was checked and
  // outlives the table.
  explicit ValueTable(const v1::Manifest& manifest);

  slipway_buffer& descriptor(uint32_t value) { return descriptors_[value]; }
  const v1::Value& proto(uint32_t value) const { return manifest_.values(static_cast<int>(value)); }
  DataType dtype(uint32_t value) const { return rows_[value].dtype; }
  uint32_t buffer(uint32_t value) const { return rows_[value].buffer; }
  int64_t offset(uint32_t value) const { return rows_[value].offset; }
  int64_t bytes(uint32_t value) const { return rows_[value].bytes; }
  // Outermost first.
  absl::Span<const int64_t> extents(uint32_t value) const {
    return {extents_.data() + rows_[value].first_extent, rows_[value].rank};
  }
  bool HasExtents(uint32_t value, absl::Span<const int64_t> given) const {
    const Row& row = rows_[value];
    if (given.size() != row.rank) return false;
    for (size_t d = 0; d < row.rank; ++d) {
      if (given[d] != extents_[row.first_extent + d]) return false;
    }
    return true;
  }
  // The memory a value begins at.
  DeviceMemory memory(uint32_t value) const {
    return buffer_memory_[rows_[value].buffer].From(rows_[value].offset);
  }
  const DeviceMemory& buffer_memory(uint32_t buffer) const { return buffer_memory_[buffer]; }

  // Moves a buffer, and all values in it, to that memory.
  void SetBuffer(uint32_t buffer, const DeviceMemory& memory) {
    buffer_memory_[buffer] = memory;
    for (const uint32_t value : values_of_buffer(buffer)) {
      const DeviceMemory place = memory.From(offset(value));
      descriptors_[value].host = place.host;
      descriptors_[value].device = place.address;
    }
  }
  // Computes the extents of a value from those of the expressions. INVALID_ARGUMENT for one that is below 0 or
  // makes the value larger than kernels can index.
  absl::Status SetExtents(uint32_t value, absl::Span<const int64_t> expressions);
  // The values in a buffer.
  absl::Span<const uint32_t> values_of_buffer(uint32_t buffer) const {
    return absl::MakeConstSpan(values_of_buffer_)
        .subspan(first_value_[buffer], first_value_[buffer + 1] - first_value_[buffer]);
  }
  // INVALID_ARGUMENT if a value does not lie in `buffer_bytes` of its buffer.
  absl::Status CheckFits(uint32_t value, int64_t buffer_bytes) const;

 private:
  // What is looked up with every call.
  struct Row {
    DataType dtype = DataType::kInvalid;
    uint32_t buffer = 0;
    uint32_t first_extent = 0;  // In extents_.
    uint32_t rank = 0;
    int64_t offset = 0;
    int64_t bytes = 0;
  };

  void Describe(uint32_t value);

  const v1::Manifest& manifest_;
  std::vector<Row> rows_;
  std::vector<slipway_buffer> descriptors_;
  std::vector<slipway_dimension> dimensions_;
  std::vector<int64_t> extents_;
  std::vector<DeviceMemory> buffer_memory_;
  // The values of buffer i are those from first_value_[i] to first_value_[i + 1].
  std::vector<uint32_t> values_of_buffer_;
  std::vector<uint32_t> first_value_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_VALUE_TABLE_H_
