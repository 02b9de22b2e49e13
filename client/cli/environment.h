// Environment: all that the command knows of the world around it, so that tests can make one up.
#ifndef SLIPWAY_CLIENT_CLI_ENVIRONMENT_H_
#define SLIPWAY_CLIENT_CLI_ENVIRONMENT_H_

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "client/cli/line_reader.h"
#include "client/trace/followed_job.h"

namespace slipway::cli {

// Who hears of a Ctrl-C.
class Interrupts {
 public:
  virtual ~Interrupts() = default;
  // From now on the first interrupt calls `handler`, on another thread; the second ends the process. Without
  // a handler (nullptr) the first one does.
  virtual void SetHandler(std::function<void()> handler) = 0;
};

struct Environment {
  std::ostream& out;             // Results.
  std::ostream& err;             // Progress and errors.
  bool err_is_terminal = false;  // Progress may overwrite itself.
  std::string executable;        // The file of this program; siblings are looked for near it.
  Interrupts* interrupts = nullptr;
  std::istream* in = nullptr;   // What is typed, or a script; null: nothing.
  bool in_is_terminal = false;  // Somebody types, and is prompted.
  // Makes what he can edit his lines with; null: they come from `in` as they are.
  std::function<std::unique_ptr<LineReader>()> edit_lines;
  JobLog* job_log = nullptr;  // Keeps what is seen of the jobs that are made; null: nobody does.
  // The value of an environment variable, or "".
  std::function<std::string(const std::string&)> variable;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_ENVIRONMENT_H_
