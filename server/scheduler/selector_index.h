// SelectorIndex: which of the selectors that jobs wait with a device matches.
//
// A selector and a device, as it is described, are held against each other once, when the device is next looked at; from then on the answer is
// a list. A selector that nobody waits with any more is kept for a while: the next job often has the same.
#ifndef SLIPWAY_SERVER_SCHEDULER_SELECTOR_INDEX_H_
#define SLIPWAY_SERVER_SCHEDULER_SELECTOR_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/selector/device_attributes.h"
#include "core/selector/selector.h"

namespace slipway::server {

// Not thread-safe.
class SelectorIndex {
 public:
  // How many are kept that nobody waits with.
  static constexpr size_t kMaxIdle = 256;

  // Jobs begin to wait with it, and cease to. `text` is its canonical form.
  void Use(const std::string& text, const Selector& selector);
  void Leave(const std::string& text);

  // The canonical forms of those in use that the device matches. Valid until the next call of anything.
  const std::vector<absl::string_view>& Matching(
      const std::string& device, const std::shared_ptr<const DeviceAttributes>& attributes);

  // How often a selector was held against a device.
  int64_t matched() const { return matched_; }

 private:
  struct Entry {
    std::string text;
    Selector selector;
    bool is_used = true;
  };
  struct Device {
    // Whose matches these are: held, so that nothing else has its address.
    std::shared_ptr<const DeviceAttributes> attributes;
    int64_t seen = 0;  // Selectors below this number.
    std::vector<int64_t> matches;
  };

  int64_t next_ = 0;
  absl::btree_map<int64_t, Entry> selectors_;  // By number, in the order in which they came.
  absl::flat_hash_map<std::string, int64_t> numbers_;
  absl::btree_set<int64_t> idle_;
  absl::flat_hash_map<std::string, Device> devices_;
  std::vector<absl::string_view> matching_;
  int64_t matched_ = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_SELECTOR_INDEX_H_
