#include "core/codegen/tensor_cores/product_text.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/factor_loader.h"
#include "core/codegen/tensor_cores/kernel_frame.h"
#include "core/codegen/tensor_cores/main_loop.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/codegen/tensor_cores/result_text.h"

namespace slipway {
namespace {

class Template {
 public:
  Template(const MatrixProduct& product, size_t inputs, const NumberForm& form,
           const ProductDivision& division, const std::string& entry)
      : product_(product),
        inputs_(inputs),
        tile_(division.tile),
        frame_{{{entry, w_}, form}, product, tile_, division.parts} {}

  DeviceKernel Write() {
    const int64_t row_tiles = Parts(product_.m, tile_.rows);
    const int64_t column_tiles = Parts(product_.n, tile_.columns);
    const std::unique_ptr<FactorLoader> a = MakeFactorLoader(
        frame_,
        {.tensor = product_.a, .is_left = true, .extent = product_.m, .across = tile_.rows});
    const std::unique_ptr<FactorLoader> b = MakeFactorLoader(
        frame_, {.tensor = product_.b,
                 .is_left = false,
                 .extent = product_.n,
                 .across = tile_.columns,
                 .window = product_.window.has_value() ? &*product_.window : nullptr});
    b->layout.offset = a->layout.bytes();
    Share(a->layout.bytes() + b->layout.bytes());
    frame_.FindPlace(row_tiles, column_tiles);
    a->Start(frame_.first_row);
    b->Start(frame_.first_column);
    sums_ = tile_.is_of_warp_groups ? MultiplyByWarpGroups(frame_, *a, *b)
                                    : MultiplyByWarps(frame_, *a, *b);
    const int64_t groups = product_.batch * row_tiles * column_tiles;
    if (frame_.parts == 1) {
      WriteResult(frame_, static_cast<int>(inputs_), sums_);
      return Made({Launch(groups, {DeviceArgument::Kind::kOutput, 0})});
    }
    WriteSums();
    DeviceKernel made = Made({Launch(groups * frame_.parts, {DeviceArgument::Kind::kScratch, 0})});
    AddUp(made);
    return made;
  }

 private:
  // What a launch gives has as many bytes as there are, what an entry declares 48 KiB at most; and it begins as the order of rows of 128 bytes wants it.
  void Share(int bytes) {
    if (!tile_.is_of_warp_groups) return w_.Share(kSharedName, bytes);
    constexpr int kAlignment = 8 * SharedLayout::kColumnBytes;
    w_.ShareWhatIsGiven(kGivenName, kAlignment);
    given_bytes_ = bytes;
  }

  DeviceKernel Made(std::vector<EntryLaunch> launches) const {
    return {.preamble = "",
            .text = w_.Entry(frame_.entry, inputs_ + 1, tile_.instances()),
            .scratch_bytes = {},
            .launches = std::move(launches)};
  }

  EntryLaunch Launch(int64_t groups, DeviceArgument written) const {
    EntryLaunch launch{.entry = frame_.entry,
                       .groups = {groups, 1, 1},
                       .group = {tile_.instances(), 1, 1},
                       .shared_bytes = given_bytes_,
                       .reads = {},
                       .writes = {written}};
    for (size_t i = 0; i < inputs_; ++i) {
      launch.reads.push_back({DeviceArgument::Kind::kInput, static_cast<int>(i)});
    }
    return launch;
  }

  int64_t elements() const { return product_.batch * product_.m * product_.n; }

  // The part's sums, as they are, behind those of the parts before it.
  void WriteSums() {
    MatrixProduct sums = product_;
    sums.tensors.clear();
    sums.steps.clear();
    sums.result = {};
    sums.batch *= frame_.parts;
    const std::string batch =
        w_.Word("mad.lo.u32", {frame_.part, Number(product_.batch), frame_.batch});
    KernelFrame frame{{{frame_.entry, w_}, frame_.form}, sums, tile_, 1};
    frame.lane = frame_.lane;
    frame.batch = batch;
    frame.first_row = frame_.first_row;
    frame.first_column = frame_.first_column;
    frame.warp_row = frame_.warp_row;
    frame.warp_column = frame_.warp_column;
    WriteResult(frame, static_cast<int>(inputs_), sums_);
  }

  // A second entry, an instance an element: the sum of all parts, and what is behind it.
  void AddUp(DeviceKernel& made) const {
    constexpr int kInstances = 128;
    constexpr int64_t kAlignment = 64;  // Of all memory that programs lay out.
    const int64_t bytes = elements() * frame_.parts * kElementBytes;
    made.scratch_bytes = {Parts(bytes, kAlignment) * kAlignment};
    PtxWriter w;
    KernelFrame frame{{{absl::StrCat(frame_.entry, "_sums"), w}, frame_.form}, product_, tile_, 1};
    WriteSummation(frame, static_cast<int>(inputs_), frame_.parts, kInstances);
    absl::StrAppend(&made.text, w.Entry(frame.entry, inputs_ + 2, kInstances));
    EntryLaunch launch = Launch(Parts(elements(), kInstances), {DeviceArgument::Kind::kOutput, 0});
    launch.entry = frame.entry;
    launch.group = {kInstances, 1, 1};
    launch.shared_bytes = 0;
    launch.reads.push_back({DeviceArgument::Kind::kScratch, 0});
    made.launches.push_back(std::move(launch));
  }

  const MatrixProduct& product_;
  const size_t inputs_;
  const TensorTile tile_;
  PtxWriter w_;
  KernelFrame frame_;
  int64_t given_bytes_ = 0;  // That a group shares beyond what its entry declares.
  std::vector<std::string> sums_;
};

}  // namespace

absl::Status CheckFactors(const MatrixProduct& product, Precision precision) {
  const NumberForm& form = *FindNumberForm(precision);
  const auto& window = product.window;
  for (const ProductTensor* factor : {&product.a, &product.b}) {
    if (factor->dtype == DataType::kFloat32) continue;
    const bool is_left = factor == &product.a;
    const bool is_row =
        is_left ? factor->columns == 1 : !window.has_value() && factor->columns == product.k;
    if (factor->dtype != form.dtype || !is_row || product.k * form.bytes % kVectorBytes != 0) {
      return absl::UnimplementedError(absl::StrCat("a matrix of ", Name(factor->dtype),
                                                   " is not laid out for products of ",
                                                   Name(precision)));
    }
  }
  if (window.has_value() && window->channels_are_inner) {
    const int64_t channels = product.k / (window->height.kernel * window->width.kernel);
    if (channels * form.bytes % kMostDepthBytes != 0) {
      return absl::UnimplementedError("its windows are not laid out for so few channels");
    }
  }
  return absl::OkStatus();
}

DeviceKernel ProductKernel(const MatrixProduct& product, size_t inputs, Precision precision,
                           const ProductDivision& division, const std::string& entry) {
  return Template(product, inputs, *FindNumberForm(precision), division, entry).Write();
}

}  // namespace slipway
