// DeviceNews: what a list of devices that is asked for again and again has that was not told before. Pure; not thread-safe.
#ifndef SLIPWAY_CLIENT_CLI_LISTS_DEVICE_NEWS_H_
#define SLIPWAY_CLIENT_CLI_LISTS_DEVICE_NEWS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/lists/device_columns.h"
#include "client/types.h"

namespace slipway::cli {

class DeviceNews {
 public:
  // Tells of these columns. Those that always move (DeviceColumn::always_moves) are shown, but are no reason to tell.
  explicit DeviceNews(std::vector<const DeviceColumn*> columns);

  // A line for each device that is new or looks otherwise than when it was told last, in the order of `listed`, then one for each that
  // is not listed any more. Each begins with `now`; cells are as wide as the widest so far.
  std::string Take(const std::vector<Device>& listed, absl::Time now);

 private:
  const std::vector<const DeviceColumn*> columns_;
  std::vector<size_t> widths_;
  std::map<std::string, std::string> told_;  // What was told of each, by id.
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_LISTS_DEVICE_NEWS_H_
