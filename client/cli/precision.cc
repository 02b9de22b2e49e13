#include "client/cli/precision.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/device_program.h"
#include "client/cli/examples.h"
#include "client/cli/exit_code.h"
#include "client/cli/open_session.h"
#include "client/cli/tag_flags.h"
#include "client/range_observer.h"
#include "core/base/status_macros.h"
#include "core/tensor/precision.h"

namespace slipway::cli {
namespace {

// What f32 values held, by name.
class Observers {
 public:
  explicit Observers(size_t examples) : examples_(examples) {}

  void Add(const std::string& name, const Tensor& tensor) {
    if (tensor.dtype() != DataType::kFloat32) return;
    const auto it = observers_.try_emplace(name, RangeObserver(examples_)).first;
    // What is not finite has no range, and its readers stay f32, which the compiler says.
    if (it->second.has_value() && !it->second->Add(tensor.values<float>()).ok()) it->second.reset();
  }
  std::vector<NamedRange> Ranges() const {
    std::vector<NamedRange> ranges;
    for (const auto& [name, observer] : observers_) {
      if (!observer.has_value()) continue;
      const RangeObserver::Range range = observer->Best();
      ranges.push_back({name, range.least, range.greatest});
    }
    return ranges;
  }

 private:
  const size_t examples_;
  std::map<std::string, std::optional<RangeObserver>> observers_;
};

absl::Status CheckPrecision(const ModelFlags& flags) {
  const std::optional<Precision> precision = FindPrecision(flags.precision);
  if (!precision.has_value()) {
    return WrongCall(absl::StrCat("flag \"--precision\" takes f32, tf32, f16, bf16 or int8, not \"",
                                  flags.precision, "\""));
  }
  if (precision == Precision::kInt8) return ListExamples(flags.examples).status();
  if (flags.examples.empty()) return absl::OkStatus();
  return WrongCall("\"--examples\" are for \"--precision int8\"");
}

}  // namespace

absl::Status CheckModelFlags(const ModelFlags& flags) {
  SLIPWAY_RETURN_IF_ERROR(CheckPrecision(flags));
  SLIPWAY_RETURN_IF_ERROR(TagsOf(flags.tags).status());
  return flags.target.empty() ? absl::OkStatus() : CanonicalTarget(flags.target).status();
}

ModelFlags OnDevice(const ModelFlags& flags) {
  ModelFlags on_device = flags;
  on_device.target.clear();
  on_device.keep.clear();
  return on_device;
}

absl::Status ApplyPrecision(Environment& environment, Connection& connection,
                            const std::string& path, const ModelFlags& flags,
                            CompileOptions& options) {
  const std::optional<Precision> precision = FindPrecision(flags.precision);
  if (precision != Precision::kInt8) {
    options.precision = precision.value_or(Precision::kFloat32);
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListExamples(flags.examples));
  // It is started once: with what the program of int8 needs, too.
  SLIPWAY_RETURN_IF_ERROR(connection.EnsureDevice(flags.target));
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions observing,
                           MakeCompileOptions(connection, OnDevice(flags), /*runs=*/true));
  observing.observe = true;
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, connection, path, observing));
  SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary artifact,
                           connection.client().DescribeArtifact(job.compilation->artifact));
  SessionFlags session_flags;
  session_flags.device = flags.device;
  session_flags.target = observing.target;
  session_flags.purpose = "quantize";
  session_flags.tags = flags.tags;
  session_flags.priority = flags.priority;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, connection, session_flags));
  SLIPWAY_ASSIGN_OR_RETURN(DeviceProgram program,
                           DeviceProgram::Load(session, artifact.digest, /*threads=*/1));
  Observers observers(files.size());
  for (const std::string& file : files) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadExample(file, artifact.inputs));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::vector<NamedTensor> outputs, program.Call(inputs),
                                  absl::StrCat("example \"", file, "\""));
    for (size_t i = 0; i < inputs.size(); ++i) observers.Add(artifact.inputs[i].name, inputs[i]);
    for (const NamedTensor& output : outputs) observers.Add(output.name, output.tensor);
  }
  options.ranges = observers.Ranges();
  return session.Close();
}

}  // namespace slipway::cli
