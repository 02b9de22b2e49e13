#include "core/artifact/memory_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slipway {

void MemoryMap::Cut(Pieces& pieces, int64_t at) {
  auto it = pieces.lower_bound(at);
  if (it == pieces.begin()) return;
  --it;
  if (it->second.end <= at) return;
  Piece rest = it->second;
  it->second.end = at;
  pieces.emplace_hint(std::next(it), at, std::move(rest));
}

MemoryConflict MemoryMap::Read(const MemoryRange& range, int step) {
  if (range.begin == range.end) return MemoryConflict::kNone;
  const auto found = memories_.find(range.memory);
  if (found == memories_.end()) return MemoryConflict::kNotHeld;
  Pieces& pieces = found->second;
  const bool tell_readers = !order_.IsSequential();
  if (tell_readers) {
    Cut(pieces, range.begin);
    Cut(pieces, range.end);
  }
  auto it = pieces.upper_bound(range.begin);
  if (it == pieces.begin()) return MemoryConflict::kNotHeld;
  --it;
  for (int64_t reached = range.begin; reached < range.end; ++it) {
    ++visits_;
    if (it == pieces.end() || it->first > reached || it->second.end <= reached ||
        it->second.buffer != range.buffer) {
      return MemoryConflict::kNotHeld;
    }
    Piece& piece = it->second;
    if (!IsBefore(piece.writer, step)) return MemoryConflict::kUnordered;
    if (tell_readers) {
      // Of steps in order the last one stands for all.
      piece.readers.erase(std::remove_if(piece.readers.begin(), piece.readers.end(),
                                         [&](int reader) { return IsBefore(reader, step); }),
                          piece.readers.end());
      piece.readers.push_back(step);
      visits_ += static_cast<int64_t>(piece.readers.size());
    }
    reached = piece.end;
  }
  return MemoryConflict::kNone;
}

MemoryConflict MemoryMap::Write(const MemoryRange& range, int step) {
  return Replace(range.memory, range.begin, range.end, range.buffer, step);
}

MemoryConflict MemoryMap::Clobber(int memory, int64_t begin, int64_t end, int step) {
  return Replace(memory, begin, end, kNobody, step);
}

MemoryConflict MemoryMap::Replace(int memory, int64_t begin, int64_t end, int64_t buffer,
                                  int step) {
  if (begin == end) return MemoryConflict::kNone;
  Pieces& pieces = memories_[memory];
  Cut(pieces, begin);
  Cut(pieces, end);
  const auto first = pieces.lower_bound(begin);
  const auto last = pieces.lower_bound(end);
  for (auto it = first; it != last; ++it) {
    ++visits_;
    const Piece& piece = it->second;
    if (!IsBefore(piece.writer, step)) return MemoryConflict::kUnordered;
    for (const int reader : piece.readers) {
      ++visits_;
      if (!IsBefore(reader, step)) return MemoryConflict::kUnordered;
    }
  }
  pieces.erase(first, last);
  ++visits_;
  pieces.emplace(begin, Piece{end, buffer, step, {}});
  return MemoryConflict::kNone;
}

}  // namespace slipway
