// What may stand where somebody types a line of `slipway session`: commands, options, names of what there is, files. Pure,
// but for the folders that `list_folder` looks into.
#ifndef SLIPWAY_CLIENT_SHELL_COMPLETION_H_
#define SLIPWAY_CLIENT_SHELL_COMPLETION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/line_reader.h"

namespace slipway::cli {

// The names that a line may use, sorted.
struct KnownNames {
  std::vector<std::string> programs;
  std::vector<std::string> tensors;
};

// The names in a folder ("" is that of the process), folders with a "/" behind them; none when it cannot be read.
using ListFolder = std::function<std::vector<std::string>(const std::string& folder)>;
std::vector<std::string> ListFolderOnDisk(const std::string& folder);

// `before`: the line up to the cursor.
Completion CompleteLine(absl::string_view before, const KnownNames& names,
                        const ListFolder& list_folder);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_SHELL_COMPLETION_H_
