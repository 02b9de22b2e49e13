#include "client/cli/tune.h"

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/artifact_summary.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/open_session.h"
#include "client/cli/programs_in_turns.h"
#include "client/cli/progress.h"
#include "client/model_files.h"
#include "client/tuning/tuned_records.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway::cli {
namespace {

// Of a call whose steps are timed, and those like it: what takes longer is no candidate.
constexpr absl::Duration kCallDeadline = absl::Minutes(2);
// Of the comparison of whole programs in the end.
constexpr absl::Duration kCompareLimit = absl::Seconds(30);

std::string TextOf(const KernelSchedules& schedules) {
  std::string text;
  for (const auto& [kernel, schedule] : schedules) {
    absl::StrAppend(&text, kernel, " ", schedule, "\n");
  }
  return text;
}

absl::StatusOr<std::string> ReadIfThere(const std::string& file) {
  absl::StatusOr<std::string> text = ReadFile(file, kMaxSchedulesBytes);
  if (absl::IsNotFound(text.status())) return "";
  return text;
}

// Compiles by jobs of the server, and measures in a session. Not thread-safe, but for Interrupt.
class SessionBench final : public TuningBench {
 public:
  SessionBench(Client& client, Session& session, ModelFiles model, CompileOptions options,
               const TuneFlags& flags)
      : client_(client),
        session_(session),
        model_(std::move(model)),
        options_(std::move(options)),
        flags_(flags) {
    options_.tell_candidates = true;
  }

  void Interrupt() {
    is_interrupted_ = true;
    client_.Interrupt();
  }

  absl::StatusOr<ScheduledProgram> Compile(const KernelSchedules& schedules) override {
    options_.schedules = TextOf(schedules);
    SLIPWAY_ASSIGN_OR_RETURN(const std::string id, client_.SubmitCompilation(model_, options_));
    const absl::StatusOr<Job> job = client_.Wait(id, nullptr);
    if (absl::IsCancelled(job.status())) client_.CancelJob(id).IgnoreError();
    SLIPWAY_RETURN_IF_ERROR(job.status());
    if (job->state == JobState::kCancelled) {
      return absl::CancelledError(absl::StrCat("job \"", id, "\" was cancelled"));
    }
    if (job->state != JobState::kSucceeded) return job->error;
    return ScheduledProgram{job->compilation->artifact, job->compilation->candidates};
  }

  absl::StatusOr<std::vector<std::vector<StepTime>>> TimeSteps(
      const Digest& a, const Digest& b, absl::Span<const Side> order) override {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::vector<BenchmarkResult> results,
        Time(a, b, order,
             {.call = {.function = "", .deadline = kCallDeadline, .profile = true},
              .warmup = 1,
              .samples = 1,
              .min_sample = absl::Nanoseconds(1)}));
    std::vector<std::vector<StepTime>> steps;
    for (const BenchmarkResult& result : results) steps.push_back(result.steps);
    return steps;
  }

  absl::StatusOr<Comparison> Compare(const Digest& a, const Digest& b) override {
    const SystemClock clock;
    return ComparePrograms(
        [&](absl::Span<const Side> order, int samples) {
          return Time(a, b, order, {.call = {}, .warmup = 1, .samples = samples});
        },
        {.margin = kWholeMargin, .limit = kCompareLimit}, clock);
  }

 private:
  absl::StatusOr<std::vector<BenchmarkResult>> Time(const Digest& a, const Digest& b,
                                                    absl::Span<const Side> order,
                                                    const TimingOptions& options) {
    if (is_interrupted_) return absl::CancelledError("interrupted");
    if (!programs_.has_value()) {
      // What the model takes is known with its first program, and the same for all.
      SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary program, client_.DescribeArtifact(a));
      SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> inputs, ReadInputs(flags_.inputs, program));
      programs_.emplace(session_, program.inputs, std::move(inputs), /*seed=*/0,
                        static_cast<int>(flags_.threads));
    }
    absl::StatusOr<std::vector<BenchmarkResult>> results = programs_->Time(a, b, order, options);
    if (results.ok() || is_interrupted_) return results;
    // A program that crashed leaves the session as it is; one that has ended says so to everything.
    if (const absl::Status ended = session_.Facts().status(); !ended.ok()) {
      return absl::UnavailableError(absl::StrCat("the session has ended: ", ended.message()));
    }
    return results;
  }

  Client& client_;
  Session& session_;
  const ModelFiles model_;
  CompileOptions options_;
  const TuneFlags& flags_;
  std::optional<ProgramsInTurns> programs_;
  std::atomic<bool> is_interrupted_ = false;
};

// Shows what is done, and keeps what was found in the file.
class FileKeeper final : public TuningObserver {
 public:
  FileKeeper(Environment& environment, const std::string& subject, const std::string& device,
             const std::string& file, const std::string& before, const Clock& clock)
      : err_(environment.err),
        progress_(environment),
        subject_(subject),
        device_(device),
        file_(file),
        before_(before),
        clock_(clock),
        text_(before) {}

  void Show(const std::string& stage, const std::string& detail) override {
    progress_.Show({.stage = absl::StrCat("tuning ", Printable(subject_), " on ",
                                          Printable(device_), ": ", stage),
                    .detail = detail});
  }
  void Dropped(const std::string& kernel, const std::string& schedule,
               const absl::Status& why) override {
    progress_.Clear();
    err_ << "dropped " << kernel << " " << schedule << ": " << Printable(why.message()) << "\n";
  }
  absl::Status Keep(const std::vector<TunedKernel>& kernels) override {
    std::string text = WithTunedRecords(before_, kernels, device_, clock_.Now());
    if (text == text_) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR_WITH(WriteFileAtomically(file_, text, /*durable=*/false),
                                 absl::StrCat("\"", file_, "\""));
    text_ = std::move(text);
    return absl::OkStatus();
  }

  // What the file has.
  const std::string& text() const { return text_; }

 private:
  std::ostream& err_;
  Progress progress_;
  const std::string subject_;
  const std::string device_;
  const std::string file_;
  const std::string before_;
  const Clock& clock_;
  std::string text_;
};

}  // namespace

void TuneFlags::AddTo(FlagSet& flags) {
  flags.Add("tune-on", &device, "ID|SELECTOR",
            "Measure on this device, \"local\" without a server, which schedules are fastest, and "
            "compile for it with those. The file of \"--schedules\" keeps them: what it has is "
            "begun with, if it is there.");
  flags.Add("tune-limit", &options.limit, "TIME",
            "Try no more schedules when they have been tried for so long; looking at what was "
            "found once more comes behind it.");
  flags.Add("tune-threads", &threads, 1, 1024, "N", "Threads to run on while it is tuned.");
  flags.Add("tune-input", &inputs, "NAME=FILE",
            "An input while it is tuned, from .npy or ONNX's .pb; repeatable. Others are random.");
}

absl::Status TuneFlags::Apply(const FlagSet& flags, ModelFlags& model, std::string& file) const {
  if (!IsWanted()) {
    for (const char* name : {"tune-limit", "tune-threads", "tune-input"}) {
      if (flags.IsSet(name)) {
        return WrongCall(absl::StrCat("\"--", name, "\" is for \"--tune-on\""));
      }
    }
    return absl::OkStatus();
  }
  if (model.schedules.empty()) {
    return WrongCall("\"--tune-on\" needs \"--schedules FILE\", where it keeps what it finds");
  }
  if (!model.device.empty()) {
    return WrongCall("\"--tune-on\" says which device it is for; leave \"--device\" out");
  }
  model.device = device;
  file = std::exchange(model.schedules, "");
  return absl::OkStatus();
}

absl::StatusOr<TuningReport> TuneModel(Environment& environment, Connection& connection,
                                       const std::string& path, const std::string& file,
                                       const ModelFlags& model, const TuneFlags& flags,
                                       CompileOptions& options) {
  const absl::StatusOr<std::string> before = ReadIfThere(file);
  absl::StatusOr<KernelSchedules> begin;
  if (before.ok()) begin = ReadTunedRecords(*before);
  for (const absl::Status& status : {before.status(), begin.status()}) {
    if (!status.ok()) return WrongCall(absl::StrCat("flag \"--schedules\": ", status.message()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(ModelFiles files,
                           ReadModelFiles(path, connection.client().max_model_bytes()));
  const std::string subject = files.display_name;
  SessionFlags session_flags;
  session_flags.device = flags.device;
  session_flags.target = options.target;
  session_flags.purpose = absl::StrCat("tuning ", subject);
  session_flags.tags = model.tags;
  session_flags.priority = model.priority;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, connection, session_flags));
  SessionBench bench(connection.client(), session, std::move(files), options, flags);
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&bench] { bench.Interrupt(); });
  }
  const SystemClock clock;
  absl::StatusOr<TuningResult> result;
  std::string kept;
  {
    FileKeeper keeper(environment, subject, session.device(), file, *before, clock);
    result = Tune(bench, *begin, flags.options, clock, keeper);
    kept = keeper.text();
  }
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([client = &connection.client()] { client->Interrupt(); });
  }
  if (!result.ok()) {
    return Annotate(result.status(),
                    kept == *before ? absl::StrCat("nothing new is in \"", file, "\"")
                                    : absl::StrCat("what was found before is in \"", file, "\""));
  }
  options.schedules = kept;
  TuningReport report = {.device = session.device(),
                         .threads = static_cast<int>(flags.threads),
                         .file = file,
                         .result = *std::move(result)};
  // What was measured stands, even if the server is gone by now.
  session.Close().IgnoreError();
  return report;
}

}  // namespace slipway::cli
