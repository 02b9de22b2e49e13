// Cords to and from gRPC's buffers, without copying what is large.
#ifndef SLIPWAY_CORE_RPC_GRPC_CORD_H_
#define SLIPWAY_CORE_RPC_GRPC_CORD_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <vector>

#include "absl/strings/cord.h"

namespace slipway {

// Shares the buffer's memory.
inline absl::Cord ToCord(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  absl::Cord cord;
  if (!buffer.Dump(&slices).ok()) return cord;
  for (grpc::Slice& slice : slices) {
    const absl::string_view bytes(reinterpret_cast<const char*>(slice.begin()), slice.size());
    if (bytes.size() <= 512) {
      cord.Append(bytes);
    } else {
      cord.Append(absl::MakeCordFromExternal(bytes, [kept = std::move(slice)] {}));
    }
  }
  return cord;
}

// Shares the cord's memory.
inline grpc::ByteBuffer ToByteBuffer(const absl::Cord& cord) {
  std::vector<grpc::Slice> slices;
  for (const absl::string_view chunk : cord.Chunks()) {
    if (chunk.size() <= 512) {
      slices.emplace_back(chunk.data(), chunk.size());
    } else {
      auto* kept = new absl::Cord(cord);
      slices.emplace_back(
          const_cast<char*>(chunk.data()), chunk.size(),
          [](void* owner) { delete static_cast<absl::Cord*>(owner); }, kept);
    }
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_CORD_H_
