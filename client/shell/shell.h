// Shell: what `slipway session` carries out, a line at a time. Programs and tensors on the device have names.
#ifndef SLIPWAY_CLIENT_SHELL_SHELL_H_
#define SLIPWAY_CLIENT_SHELL_SHELL_H_

#include <atomic>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/environment.h"
#include "client/future.h"
#include "client/session.h"
#include "client/shell/command_line.h"
#include "client/shell/completion.h"

namespace slipway::cli {

struct NamedProgram {
  RemoteProgram program;
  // The outputs of its first function in the order in which it computes them; empty: in the function's order. What was
  // taken up from elsewhere is known without its artifact.
  std::vector<int> as_computed;
};
using Thing = std::variant<NamedProgram, RemoteTensor>;

// Not thread-safe, but for Cancel.
class Shell {
 public:
  struct Options {
    std::ostream* out = nullptr;  // Results.
    bool json = false;            // A JSON object for each command.
    Interrupts* interrupts =
        nullptr;  // Cancels what is under way, and not the session. May be null.
  };
  // With what the session has, which gets names of its own where two have the same, or none.
  Shell(ResumedSession session, Options options);

  // Carries out a line. A line that is no command is a wrong call (exit_code.h); the other errors are those of the session,
  // and of files.
  absl::Status Execute(absl::string_view line);
  // Has the command that is carried out end in CANCELLED as soon as it waits for the device. On any thread.
  void Cancel() { is_cancelled_ = true; }
  // After "quit".
  bool has_quit() const { return has_quit_; }

  // --- For commands. ---
  Session& session() { return session_; }
  const std::map<std::string, Thing>& things() const { return things_; }
  KnownNames names() const;
  absl::StatusOr<NamedProgram*> FindProgram(const std::string& name);
  absl::StatusOr<RemoteTensor*> FindTensor(const std::string& name);
  absl::StatusOr<std::vector<const RemoteTensor*>> FindTensors(
      const std::vector<std::string>& names, size_t first);
  // In the place of what has the name.
  void Keep(const std::string& name, Thing thing) {
    things_.insert_or_assign(name, std::move(thing));
  }
  // A wrong call when nothing has the name.
  absl::Status Free(const std::string& name);
  void Quit() { has_quit_ = true; }

  // Waits for it; an interrupt cancels it.
  template <typename T>
  absl::StatusOr<T> Await(Future<T>& future) {
    const Cancelling cancelling(options_.interrupts, [&future] { future.Cancel(); });
    if (is_cancelled_) future.Cancel();
    return future.Get();
  }
  // One of the two, of the same thing.
  void Show(const std::function<std::string()>& text, const std::function<std::string()>& json);

 private:
  // An interrupt calls `cancel` while this lives.
  class Cancelling {
   public:
    Cancelling(Interrupts* interrupts, std::function<void()> cancel) : interrupts_(interrupts) {
      if (interrupts_ != nullptr) interrupts_->SetHandler(std::move(cancel));
    }
    ~Cancelling() {
      if (interrupts_ != nullptr) interrupts_->SetHandler(nullptr);
    }
    Cancelling(const Cancelling&) = delete;
    Cancelling& operator=(const Cancelling&) = delete;

   private:
    Interrupts* const interrupts_;
  };

  void Adopt(const std::string& name, uint64_t number, Thing thing);
  absl::Status Missing(const std::string& name, absl::string_view kind) const;

  Session session_;
  const Options options_;
  std::map<std::string, Thing> things_;
  std::atomic<bool> is_cancelled_ = false;
  bool has_quit_ = false;
  bool has_shown_ = false;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_SHELL_SHELL_H_
