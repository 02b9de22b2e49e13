// Which is faster, a program's own launches or a vendor's library: from measured times to a choice, and a file that keeps them.
#ifndef SLIPWAY_CORE_RUNTIME_LIBRARY_CHOICE_H_
#define SLIPWAY_CORE_RUNTIME_LIBRARY_CHOICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

// Of one step, the smallest of several times each, in nanoseconds.
struct StepTimes {
  int64_t own_ns = 0;
  // The library's fastest way, as VendorLibrary::Find numbers them; unset where none of them is right.
  std::optional<int> way;
  int64_t library_ns = 0;  // Of that way.

  friend bool operator==(const StepTimes&, const StepTimes&) = default;
};

// Of several equally fast ways the first one, which the library prefers. A way that failed, or is wrong, has no time.
StepTimes FastestOf(int64_t own_ns, absl::Span<const std::optional<int64_t>> ways_ns);

// Own launches stay unless the library takes less than 31/32 of their time: below, a difference is as likely noise.
bool IsForLibrary(const StepTimes& times, LibraryUse use);

// Times in a file, by keys without line breaks: a step is measured once on a machine. What is found there is hostile: a line that is none counts as not
// there. Several processes may have the file; what one of them adds may be lost, and is then measured again. Not thread-safe.
class KeptStepTimes {
 public:
  static constexpr size_t kMostKept = 4096;  // The oldest ones go.
  static constexpr int kMostWays = 16;       // More are none that was kept.

  // Empty: nothing is kept.
  explicit KeptStepTimes(std::string file);

  std::optional<StepTimes> Find(absl::string_view key) const;
  // From here on Find knows it. Errors of the file, whose old state stays then.
  absl::Status Keep(absl::string_view key, const StepTimes& times);

 private:
  struct Entry {
    std::string key;
    StepTimes times;
  };

  void Read();

  const std::string file_;
  std::vector<Entry> entries_;  // The oldest one first.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_LIBRARY_CHOICE_H_
