// "--tune-on": schedules that are measured on a device, and kept in a file.
#ifndef SLIPWAY_CLIENT_CLI_TUNE_H_
#define SLIPWAY_CLIENT_CLI_TUNE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/connection.h"
#include "client/cli/environment.h"
#include "client/cli/model_flags.h"
#include "client/cli/render_tuning.h"
#include "client/client.h"
#include "client/tuning/tuning.h"
#include "core/base/flags.h"

namespace slipway::cli {

struct TuneFlags {
  std::string device;  // An id or a selector; empty: nothing is tuned.
  TuningOptions options;
  int64_t threads = 1;
  std::vector<std::string> inputs;

  void AddTo(FlagSet& flags);
  bool IsWanted() const { return !device.empty(); }
  // A wrong call for what does not go with `model`, which is made to be for the device: its schedules are then those that are kept, and
  // are taken out of it, into `file`.
  absl::Status Apply(const FlagSet& flags, ModelFlags& model, std::string& file) const;
};

// Tunes the model at `path`, as it is compiled by `options`, on the device of the flags; `file` has the schedules that it begins with, if
// it is there, and gets those that it finds, whenever it finds some. They are put into `options` in the end. Progress and candidates that are dropped go to err. Errors of Tune,
// of OpenDevice, and of the file; CANCELLED on an interrupt.
absl::StatusOr<TuningReport> TuneModel(Environment& environment, Connection& connection,
                                       const std::string& path, const std::string& file,
                                       const ModelFlags& model, const TuneFlags& flags,
                                       CompileOptions& options);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TUNE_H_
