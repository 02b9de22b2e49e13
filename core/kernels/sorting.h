// Sorting of places by what stands there: heaps, as they need neither memory nor recursion. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SORTING_H_
#define SLIPWAY_CORE_KERNELS_SORTING_H_

#include <stdint.h>

namespace slipway::kernels {

inline void SwapPlaces(int64_t* places, int64_t i, int64_t j) {
  const int64_t place = places[i];
  places[i] = places[j];
  places[j] = place;
}

// Makes places[0, count) a heap again whose entry `from` has changed, where before(a, b) says that the place a is
// nearer to the top than b.
template <typename Before>
void SinkInHeap(int64_t* places, int64_t from, int64_t count, Before before) {
  for (int64_t i = from;;) {
    int64_t top = i;
    for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; ++child) {
      if (before(places[child], places[top])) top = child;
    }
    if (top == i) return;
    SwapPlaces(places, i, top);
    i = top;
  }
}

// Turns a heap around: afterwards its top stands last.
template <typename Before>
void SortHeap(int64_t* places, int64_t count, Before before) {
  for (int64_t end = count - 1; end > 0; --end) {
    SwapPlaces(places, 0, end);
    SinkInHeap(places, 0, end, before);
  }
}

// Sorts places[0, count) so that of two the one comes first that before(a, b) says. It must tell any two apart.
template <typename Before>
void SortPlaces(int64_t* places, int64_t count, Before before) {
  const auto behind = [&before](int64_t a, int64_t b) { return before(b, a); };
  for (int64_t i = count / 2; i > 0; --i) SinkInHeap(places, i - 1, count, behind);
  SortHeap(places, count, behind);
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_SORTING_H_
