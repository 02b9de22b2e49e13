#include "core/kernels/detection.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/sorting.h"

namespace slipway::kernels {
namespace {

struct Box {
  double top, left, bottom, right;

  double area() const { return (bottom - top) * (right - left); }
};

Box BoxAt(const float* corners, bool by_center) {
  const double a = corners[0];
  const double b = corners[1];
  const double c = corners[2];
  const double d = corners[3];
  // x, y, width, height; or any two corners that lie across.
  if (by_center) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {a < c ? a : c, b < d ? b : d, a < c ? c : a, b < d ? d : b};
}

// Intersection over union; 0 where there is none.
double Overlap(const Box& a, const Box& b) {
  const double height =
      (a.bottom < b.bottom ? a.bottom : b.bottom) - (a.top > b.top ? a.top : b.top);
  const double width =
      (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left);
  if (!(height > 0) || !(width > 0)) return 0;
  const double both = height * width;
  return both / (a.area() + b.area() - both);
}

// Calls keep(number, batch, class, box) for each box that is kept. Returns their number, -1 when out of memory.
template <typename Keep>
int64_t Suppress(const Call& call, Keep keep) {
  const Operand boxes = call.input(0);
  const Operand scores = call.input(1);
  const Operand most_kept = call.input(2);
  const Operand overlap = call.input(3);
  const Operand score = call.input(4);
  const bool by_center = call.Integer(0) != 0;
  const int64_t most = most_kept.present() ? most_kept.data<const int64_t>()[0] : 0;
  const double threshold = overlap.present() ? overlap.data<const float>()[0] : 0;
  const int64_t classes = scores.extent(1);
  const int64_t count = scores.extent(2);
  const Scratch<int64_t> order(call, count);  // What is kept moves to the front.
  if (!order) return -1;
  int64_t all_kept = 0;
  for (int64_t row = 0; row < scores.extent(0) * classes; ++row) {
    const float* of = scores.data<const float>() + row * count;
    const float* corners = boxes.data<const float>() + row / classes * count * 4;
    int64_t candidates = 0;
    for (int64_t i = 0; i < count; ++i) {
      const bool scored = score.present() ? of[i] > score.data<const float>()[0] : of[i] == of[i];
      if (scored) order[candidates++] = i;
    }
    SortPlaces(order.get(), candidates,
               [of](int64_t a, int64_t b) { return of[a] != of[b] ? of[a] > of[b] : a < b; });
    int64_t kept = 0;
    for (int64_t i = 0; i < candidates && kept < most; ++i) {
      const Box box = BoxAt(corners + order[i] * 4, by_center);
      bool suppressed = false;
      for (int64_t k = 0; k < kept && !suppressed; ++k) {
        suppressed = Overlap(box, BoxAt(corners + order[k] * 4, by_center)) > threshold;
      }
      if (suppressed) continue;
      const int64_t chosen = order[i];
      order[kept++] = chosen;
      keep(all_kept++, row / classes, row % classes, chosen);
    }
  }
  return all_kept;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_NonMaxSuppression_count(void** arguments) {
  const Call call(arguments);
  const int64_t count = Suppress(call, [](int64_t, int64_t, int64_t, int64_t) {});
  return count < 0 ? call.Fail(kOutOfScratch) : call.Count(count);
}

int32_t slipway_NonMaxSuppression(void** arguments) {
  const Call call(arguments);
  int64_t* y = call.output(0).data<int64_t>();
  const int64_t room = call.output(0).extent(0);
  const int64_t count =
      Suppress(call, [&](int64_t number, int64_t batch, int64_t of_class, int64_t box) {
        if (number >= room) return;
        y[3 * number] = batch;
        y[3 * number + 1] = of_class;
        y[3 * number + 2] = box;
      });
  if (count < 0) return call.Fail(kOutOfScratch);
  return count == room ? 0 : call.Fail(kOtherExtents);
}
