#include "core/runtime/choose_libraries.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/measure_product.h"
#include "core/runtime/resident_program.h"

namespace slipway {
namespace {

// That a library is asked for, of which the first ones are the best by its own judgement.
constexpr int kMostWays = 4;
static_assert(kMostWays <= KeptProductTimes::kMostWays);

void Warn(const LibraryProduct& product, const absl::Status& why) {
  Log(LogLevel::kWarning, "a library's product is not used",
      {{"product", DescribeLibraryProduct(product)}, {"why", why.message()}});
}

// All that the times of a product depend on: the library's ways, and the launches, whose entries are named by what they compute and how.
std::string KeyOf(const ProductLibrary& library, const LibraryProduct& product,
                  const v1::Manifest& manifest) {
  std::string key = absl::StrCat(library.key(), "; ", DescribeLibraryProduct(product), ";");
  const v1::Function& function = manifest.functions(static_cast<int>(product.function));
  for (uint32_t i = product.first; i < product.end(); ++i) {
    const v1::Step::Kernel& call = function.steps(static_cast<int>(i)).kernel();
    const v1::Code& code = manifest.code(static_cast<int>(call.code()));
    absl::StrAppend(&key, " ",
                    code.entries().empty() ? absl::StrCat(call.kernel())
                                           : code.entries(static_cast<int>(call.kernel())));
  }
  return key;
}

class Chooser {
 public:
  explicit Chooser(const ResidentProgram& program) : program_(program) {}

  // Nothing where there is no library for it.
  absl::StatusOr<std::optional<ProductStep>> Choose(const LibraryProduct& product) {
    const v1::Manifest& manifest = program_.manifest().proto();
    const uint32_t device = manifest.functions(static_cast<int>(product.function))
                                .steps(static_cast<int>(product.first))
                                .device();
    ProductLibrary* const library = program_.device(device)->product_library();
    if (library == nullptr) return std::nullopt;
    auto ways = library->Find(product, kMostWays);
    if (!ways.ok()) {
      Warn(product, ways.status());
      return std::nullopt;
    }
    if (ways->empty()) return std::nullopt;
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<ProductTimes> times,
                             TimesOf(*library, product, *ways));
    if (!times.has_value()) return std::nullopt;
    ProductStep step{product, library->name(), *times, nullptr};
    if (IsForLibrary(*times, library->use())) {
      step.way = std::move((*ways)[static_cast<size_t>(*times->way)]);
    }
    return step;
  }

 private:
  // Nothing where they could not be measured.
  absl::StatusOr<std::optional<ProductTimes>> TimesOf(
      const ProductLibrary& library, const LibraryProduct& product,
      absl::Span<const std::unique_ptr<DeviceProduct>> ways) {
    KeptProductTimes& kept =
        kept_.try_emplace(library.kept_times(), library.kept_times()).first->second;
    const std::string key = KeyOf(library, product, program_.manifest().proto());
    const std::optional<ProductTimes> known = kept.Find(key);
    if (known.has_value() &&
        (!known->way.has_value() || static_cast<size_t>(*known->way) < ways.size())) {
      return known;
    }
    const absl::StatusOr<ProductTimes> times = MeasureProduct(program_, product, ways);
    if (!times.ok()) {
      // The device is not there any more.
      if (absl::IsUnavailable(times.status()) || absl::IsInternal(times.status())) {
        return Annotate(times.status(), "measuring a library's product");
      }
      Warn(product, times.status());
      return std::nullopt;
    }
    const absl::Status written = kept.Keep(key, *times);
    if (!written.ok()) {
      Log(LogLevel::kWarning, "cannot keep what a product takes; it is measured again",
          {{"error", written.message()}});
    }
    return *times;
  }

  const ResidentProgram& program_;
  std::map<std::string, KeptProductTimes> kept_;  // By file.
};

}  // namespace

absl::StatusOr<std::vector<ProductStep>> ChooseLibraries(const Artifact& artifact,
                                                         const ResidentProgram& program) {
  std::vector<ProductStep> steps;
  Chooser chooser(program);
  for (const LibraryProduct& product : LibraryProductsOf(artifact)) {
    SLIPWAY_ASSIGN_OR_RETURN(std::optional<ProductStep> step, chooser.Choose(product));
    if (step.has_value()) steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace slipway
