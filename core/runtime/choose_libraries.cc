#include "core/runtime/choose_libraries.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/measure_step.h"
#include "core/runtime/resident_program.h"

namespace slipway {
namespace {

// That a library is asked for, of which the first ones are the best by its own judgement.
constexpr int kMostWays = 4;
static_assert(kMostWays <= KeptStepTimes::kMostWays);

void Warn(const VendorStep& step, const absl::Status& why) {
  Log(LogLevel::kWarning, "a library's step is not used",
      {{"step", DescribeVendorStep(step)}, {"why", why.message()}});
}

// All that the times of a step depend on: the library's ways, and the launches, whose entries are named by what they compute and how.
std::string KeyOf(const VendorLibrary& library, const VendorStep& step,
                  const v1::Manifest& manifest) {
  std::string key = absl::StrCat(library.key(), "; ", DescribeVendorStep(step), ";");
  const v1::Function& function = manifest.functions(static_cast<int>(step.function));
  for (uint32_t i = step.first; i < step.end(); ++i) {
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
  absl::StatusOr<std::optional<ChosenStep>> Choose(const VendorStep& step) {
    const v1::Manifest& manifest = program_.manifest().proto();
    const uint32_t device = manifest.functions(static_cast<int>(step.function))
                                .steps(static_cast<int>(step.first))
                                .device();
    VendorLibrary* const library = program_.device(device)->library_for(step);
    if (library == nullptr) return std::nullopt;
    auto ways = library->Find(step, kMostWays);
    if (!ways.ok()) {
      Warn(step, ways.status());
      return std::nullopt;
    }
    if (ways->empty()) return std::nullopt;
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<StepTimes> times, TimesOf(*library, step, *ways));
    if (!times.has_value()) return std::nullopt;
    ChosenStep chosen{step, library->name(), *times, nullptr};
    if (IsForLibrary(*times, library->use())) {
      std::unique_ptr<LibraryWay>& way = (*ways)[static_cast<size_t>(*times->way)];
      const absl::Status loaded = way->Load();
      if (loaded.ok()) chosen.way = std::move(way);
      if (!loaded.ok()) Warn(step, loaded);
    }
    return chosen;
  }

 private:
  // Nothing where they could not be measured.
  absl::StatusOr<std::optional<StepTimes>> TimesOf(
      const VendorLibrary& library, const VendorStep& step,
      absl::Span<const std::unique_ptr<LibraryWay>> ways) {
    KeptStepTimes& kept =
        kept_.try_emplace(library.kept_times(), library.kept_times()).first->second;
    const std::string key = KeyOf(library, step, program_.manifest().proto());
    const std::optional<StepTimes> known = kept.Find(key);
    if (known.has_value() &&
        (!known->way.has_value() || static_cast<size_t>(*known->way) < ways.size())) {
      return known;
    }
    const absl::StatusOr<StepTimes> times = MeasureStep(program_, step, ways);
    if (!times.ok()) {
      // The device is not there any more.
      if (absl::IsUnavailable(times.status()) || absl::IsInternal(times.status())) {
        return Annotate(times.status(), "measuring a library's step");
      }
      Warn(step, times.status());
      return std::nullopt;
    }
    const absl::Status written = kept.Keep(key, *times);
    if (!written.ok()) {
      Log(LogLevel::kWarning, "cannot keep what a step takes; it is measured again",
          {{"error", written.message()}});
    }
    return *times;
  }

  const ResidentProgram& program_;
  std::map<std::string, KeptStepTimes> kept_;  // By file.
};

}  // namespace

absl::StatusOr<std::vector<ChosenStep>> ChooseLibraries(const Artifact& artifact,
                                                        const ResidentProgram& program) {
  std::vector<ChosenStep> steps;
  Chooser chooser(program);
  for (const VendorStep& step : VendorStepsOf(artifact)) {
    SLIPWAY_ASSIGN_OR_RETURN(std::optional<ChosenStep> chosen, chooser.Choose(step));
    if (chosen.has_value()) steps.push_back(*std::move(chosen));
  }
  return steps;
}

}  // namespace slipway
