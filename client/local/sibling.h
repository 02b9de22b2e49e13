// A process that this command starts beside itself and that ends with it.
#ifndef SLIPWAY_CLIENT_LOCAL_SIBLING_H_
#define SLIPWAY_CLIENT_LOCAL_SIBLING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"

namespace slipway {

// Where a binary of Slipway is: `wish` if not empty, else beside `executable`, as installed, or in `folder`
// beside its folder, as Bazel builds it. NOT_FOUND says where it was looked for and how to name it.
absl::StatusOr<std::string> FindSibling(absl::string_view name, absl::string_view folder,
                                        absl::string_view wish, absl::string_view executable);

// The file this process runs, without links. INTERNAL when /proc does not say.
absl::StatusOr<std::string> OwnExecutable();

// A started process. It must know the flag --ready-fd N, write a line to descriptor N when it can be used, and
// call FollowParent (core/base/lifeline.h). Its log is kept for error messages.
class Sibling {
 public:
  static absl::StatusOr<std::unique_ptr<Sibling>> Start(absl::string_view name,
                                                        std::vector<std::string> argv);

  // Returns when it is ready. FAILED_PRECONDITION with the end of its log when it ended instead,
  // DEADLINE_EXCEEDED after `timeout`.
  absl::Status WaitUntilReady(absl::Duration timeout);

  // Asks it to end, and returns at once.
  void Terminate() { process_->Terminate(); }
  // Waits for its end, and kills it after `grace`.
  void WaitForEnd(absl::Duration grace);

 private:
  Sibling(absl::string_view name, std::unique_ptr<Subprocess> process, UniqueFd ready)
      : name_(name), process_(std::move(process)), ready_(std::move(ready)) {}

  const std::string name_;
  const std::unique_ptr<Subprocess> process_;
  UniqueFd ready_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LOCAL_SIBLING_H_
