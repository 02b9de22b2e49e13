// UpdateFolder: where an agent keeps binaries that its server has offered, and what it remembers of them.
#ifndef SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_FOLDER_H_
#define SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_FOLDER_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "device_agent/update/update_state.pb.h"

namespace slipway {

// A value type. An agent and its supervisor may use one at a time.
class UpdateFolder {
 public:
  // Below the agent's state folder. Nothing is made before something is stored.
  explicit UpdateFolder(absl::string_view state_dir);

  // What is remembered; nothing where there is no such file. One that cannot be read counts as none, and is said in the log: the
  // installed binary runs.
  std::optional<agent::UpdateState> Load() const;
  // Replaces what is remembered, or an empty state, by what `change` makes of it, durably, while nobody else does; then removes kept
  // binaries that it does not name. Returns it. Errors of writing, and then all is as before.
  absl::StatusOr<agent::UpdateState> Change(
      absl::FunctionRef<agent::UpdateState(agent::UpdateState)> change) const;

  // Keeps a binary, so that it can be executed; durably. Errors of writing.
  absl::Status Keep(const Digest& binary, absl::string_view bytes) const;
  // Whether it is there, byte for byte. NOT_FOUND, DATA_LOSS; errors of reading.
  absl::Status Check(const Digest& binary) const;
  std::string PathOf(const Digest& binary) const;

  std::string lock_path() const;

 private:
  void RemoveOthers(const agent::UpdateState& state) const;
  std::string folder_;
};

// The digest of the binary that this process executes. Errors of reading it.
absl::StatusOr<Digest> OwnBinary();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_FOLDER_H_
