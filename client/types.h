// What the client library speaks of: plain values, filled from the server's answers.
#ifndef SLIPWAY_CLIENT_TYPES_H_
#define SLIPWAY_CLIENT_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/artifact/versions.h"
#include "core/base/digest.h"
#include "core/base/tag.h"
#include "core/schedules/kernel_schedule.h"
#include "core/statistics/bound.h"
#include "core/target/machine_peaks.h"
#include "core/tensor/dtype.h"
#include "core/tensor/precision.h"
#include "core/tensor/tensor.h"

namespace slipway {

// What a symbolic dimension of a model may be; those that nothing is said about are free. With equal bounds the program is
// for that extent alone.
struct DimensionBounds {
  std::string name;
  int64_t min = 1;
  int64_t max = 1;
};

// What the elements of a value of a model lie between, but for a few that may be cut off. Both finite.
struct NamedRange {
  std::string name;
  float least = 0;
  float greatest = 0;
};

// Where a job stands (proto/slipway/v1/job.proto has the picture).
enum class JobState { kQueued, kAssigned, kRunning, kSucceeded, kFailed, kCancelled };
enum class JobKind { kCompilation, kRun, kBenchmark, kSession };

// "queued", "assigned", ...; "compilation", "run", "benchmark".
absl::string_view Name(JobState state);
absl::string_view Name(JobKind kind);

// The time one stage or pass of a compilation took.
struct StageTime {
  std::string name;
  absl::Duration duration;
  int64_t nodes_after = 0;              // 0 where it does not apply.
  std::vector<std::string> notes = {};  // What it left undone, and why, for people.
};

// A product of weights that is computed in f32 though 8 bits were asked for.
struct FloatProduct {
  std::string node;
  std::string reason;  // For people.
};

// What a compilation gave.
struct Compilation {
  Digest artifact;  // Of the manifest: the artifact's name.
  std::string compile_key;
  bool cached = false;  // The server had it; the times below are then those of whoever made it.
  int64_t artifact_bytes = 0;
  std::vector<StageTime> stages;
  std::vector<StageTime> passes;
  int64_t kernels = 0;
  int64_t kernels_compiled = 0;
  int64_t kernels_cached = 0;
  int64_t code_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t arena_bytes = 0;
  std::string printed_graph;  // Only when print_after was asked for.
  // With ranges: how many products of weights are computed in 8 bits, and those that are not. Of what was cached as long as the
  // server knows.
  int64_t integer_products = 0;
  std::vector<FloatProduct> float_products;
  // What products are computed in; absent where it is one that later compilers have.
  std::optional<Precision> precision = Precision::kFloat32;
  std::string printed_schedules;  // Only when print_schedules was asked for.
  std::vector<KernelCandidates>
      candidates;  // Only when tell_candidates was; none of older compilers.
  // Records in CompileOptions::schedules, and kernels that are cut by one; unset where the compiler does not know of those.
  int64_t records = 0;
  std::optional<int64_t> kernels_recorded;
};

// Where the time of a run or benchmark went, on the device.
struct AttemptTimings {
  absl::Duration fetch, spawn, load, run, upload;
};

// An output whose elements may still be at the server.
struct Output {
  std::string name;
  TensorType type;
  Tensor tensor;  // Unset when `blob` is set.
  Digest blob;
};

struct RunResult {
  std::vector<Output> outputs;  // In the program's order.
  AttemptTimings timings;
  std::string device;
  int64_t clock_resolution_ns = 0;  // What the clock of timings.run tells apart; 0: unknown.
};

// A GPU, or another accelerator, at that time; what is not known is 0 or empty.
struct AcceleratorState {
  std::string name;
  int64_t clock_hz = 0;  // Of its processors.
  int64_t memory_clock_hz = 0;
  int64_t power_milliwatts = 0;
  int64_t temperature_millicelsius = 0;
  int64_t memory_free_bytes = 0;
  bool throttled = false;  // Slowed down by heat, or by what it may draw.
};

// The machine before or after samples were taken; what is not known is 0 or empty.
struct MachineState {
  int64_t cpu_frequency_hz = 0;
  std::string governor;
  int64_t temperature_millicelsius = 0;
  int64_t load_millis = 0;
  // Of agents that let programs use them.
  std::vector<AcceleratorState> accelerators = {};
};

// How calls of a benchmark come (Scenario in proto/slipway/v1/run.proto says what each is).
enum class ScenarioKind { kSingleStream, kMultiStream, kOffline, kServer };
absl::string_view Name(ScenarioKind kind);  // "single-stream", "multi-stream", "offline", "server"

// What is asked for; 0 where the device is to choose. In a result nothing is left open.
struct Scenario {
  ScenarioKind kind = ScenarioKind::kSingleStream;
  int instances = 0;
  int calls_per_query = 0;  // Of kMultiStream.
  // Of kServer, here and below.
  double qps = 0;
  absl::Duration latency_bound;  // 0: none.
  double percentile = 0;         // Of latencies, that the bound is for; a share.
  bool find_qps = false;         // Looks for the highest rate that meets the bound.
};

struct ScenarioResult {
  Scenario scenario;
  absl::Duration duration;                   // From the first issue to the end of the last call.
  int64_t calls = 0;                         // Made meanwhile.
  std::optional<BoundVerdict> verdict = {};  // Where there was a bound.
  struct Trial {
    double qps = 0;
    absl::Duration latency;
    BoundVerdict verdict = BoundVerdict::kUndecided;
  };
  std::vector<Trial> trials = {};  // With find_qps.
};

// What is waited for before samples are taken, each for `longest` at most (0: the device's default).
struct Settling {
  int64_t cool_down_millicelsius = 0;  // 0: not waited for.
  bool until_steady = false;
  absl::Duration longest;
};

// What came of it.
struct Settled {
  absl::Duration cooled;
  bool is_cool = false;
  absl::Duration steadied;
  bool is_steady = false;
  int64_t temperature_millicelsius = 0;  // When samples began; 0: unknown.
};

// The machine during so many samples that follow each other (SampleStamp in proto/slipway/v1/run.proto).
struct SampleStamp {
  int64_t samples = 1;
  int64_t waited_millis = 0;
  int64_t foreign_millis = 0;
  bool disturbed = false;
  bool throttled = false;  // The processor, or one of the accelerators.
  int64_t cpu_frequency_hz = 0;
  int64_t temperature_millicelsius = 0;
  std::string governor = {};
  // That the program uses, without their memory, always in the same order.
  std::vector<AcceleratorState> accelerators = {};
};

// Energy counted during the samples, of all that the counter is for.
struct EnergyCount {
  std::string counter;
  int64_t microjoules = 0;
};

// What a step computes, reads and writes, of constants too (ProgramNotes in proto/slipway/v1/artifact.proto).
struct StepWork {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t constant_bytes = 0;
  DataType product_type =
      DataType::kInvalid;  // Of a device or compiler that is newer, any other number.
  // What its factors are rounded to before.
  Precision product_precision = Precision::kFloat32;
};

// Between which memories a step copies, if it does.
enum class CopiedBetween { kNone, kFromHost, kToHost };

// What one thread did of a step; times count from the step's begin (ThreadWork in proto/slipway/v1/run.proto).
struct ThreadWork {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
  int64_t tasks = 0;  // 0: it had none, and no times.
};

struct StepTime {
  std::string name;
  std::vector<std::string> operators;
  int64_t duration_ns = 0;
  std::optional<StepWork> work = {};     // Where artifact and agent tell it.
  std::vector<ThreadWork> threads = {};  // Where several ran it and the agent tells it.
  // Which of the program's devices did it: 0 is the processor, others accelerators by their order.
  int device = 0;
  CopiedBetween copied = CopiedBetween::kNone;
  // The library of a device's vendor that made it, "cublasLt 12.4.5"; empty where the program's own code did.
  std::string library = {};
};

struct BenchmarkResult {
  std::vector<int64_t> samples_ns;  // Each of `iterations_per_sample` calls.
  int64_t iterations_per_sample = 1;
  int64_t load_cold_ns = 0;
  int64_t load_warm_ns = 0;
  int64_t first_run_ns = 0;
  int64_t peak_memory_bytes = 0;
  int threads = 1;
  bool disturbed = false;  // Other processes took CPU time meanwhile.
  int64_t disturbed_millis = 0;
  // With a goal for it: how exactly the median is known, at a confidence of 95 %, in millionths; -1: not at all.
  std::optional<int64_t> precision_ppm = {};
  std::optional<ScenarioResult> scenario = {};  // Where one was asked for.
  std::vector<SampleStamp> stamps = {};  // For all samples, or none where the agent does not tell.
  std::optional<Settled> settled = {};   // Where it was asked for.
  std::vector<EnergyCount> energy = {};
  std::string energy_unknown =
      {};  // Why none of the machine's counters counted; empty where it has none.
  // What the runner held, pages that others share in part: before the program was loaded and after the samples; 0: unknown.
  int64_t memory_before_bytes = 0;
  int64_t memory_after_bytes = 0;
  int64_t clock_resolution_ns = 0;  // What the clock of samples tells apart; 0: unknown.
  MachineState before, after;
  std::vector<StepTime> steps;  // With `profile`, in the program's order,
  std::vector<MachinePeaks>
      peaks;  // and what the device does at most. Empty where the agent does not tell.
  std::vector<AcceleratorPeaks> accelerator_peaks;
  absl::Time start_time;
  AttemptTimings timings;
  std::string device;
  std::string device_target;
};

struct JobProgress {
  std::string stage;
  int64_t done = 0;
  int64_t total = 0;  // 0 when unknown.
};

// A device is one owner's alone for a time.
struct Reservation {
  std::string id;  // Empty if it is another owner's.
  std::string device;
  std::string owner;
  std::string purpose;
  absl::Time from;
  absl::Time until;
};

// Who holds a device.
struct DeviceLease {
  std::string job_id;           // Empty if it is another owner's.
  std::optional<JobKind> kind;  // Absent if this client does not know it.
  std::string purpose;          // Of a session.
  std::string owner;
  absl::Time since;
  absl::Time until;                      // At the latest;
  absl::Duration idle;                   // a session's when its client is not heard for so long,
  std::optional<absl::Time> idle_until;  // which will be then. Absent while the client is heard.
};

// Why a job waits (proto/slipway/v1/queue.proto says what each means); kUnknown of a server that is newer.
enum class WaitKind {
  kUnknown,
  kNext,
  kPauses,
  kHeld,
  kReserved,
  kTooLong,
  kQuarantined,
  kDrained,
  kLost,
  kNoDevice,
  kWorkersBusy,
  kNoWorker,
};
absl::string_view Name(WaitKind kind);  // "next", "held", ...

struct WaitReason {
  WaitKind kind = WaitKind::kUnknown;
  std::string device;
  std::optional<DeviceLease> lease;
  std::optional<Reservation> reservation;
  absl::Time until = absl::InfinitePast();  // Infinite past: not known. The same for the next.
  absl::Time since = absl::InfinitePast();
  std::string detail;  // For people.
  int fitting = 0;     // How many devices or workers could do it, in whatever state.
};

struct Job {
  std::string id;
  std::string owner;
  std::string request_id;  // Of the call that made it; as "request" in the logs of all processes.
  JobKind kind = JobKind::kCompilation;
  JobState state = JobState::kQueued;
  int64_t revision = 0;
  std::string subject;    // What it is about, for people. Empty from servers that do not tell.
  std::vector<Tag> tags;  // Sorted by key.
  std::string model;      // Of compilations: the model's display name.
  std::string target;     // Of compilations and sessions.
  std::string device;     // Of runs, benchmarks and sessions: the device asked for; empty for any.
  std::string purpose;    // Of sessions.
  Digest artifact;        // Of runs and benchmarks.
  int attempts = 0;
  int priority = 0;
  // How many of those that wait for the same go before it, while it is queued; see Job.queue_position in job.proto.
  int64_t ahead = 0;
  std::optional<WaitReason> waits = {};  // Why; while it is queued, where the server tells.
  std::string assignee;                  // Worker or device of the last attempt.
  absl::Time create_time = absl::InfinitePast();
  absl::Time start_time = absl::InfinitePast();  // Infinite past before it began, and
  absl::Time end_time = absl::InfinitePast();    // before it ended.
  JobProgress progress;
  absl::Status error;     // Not OK exactly when kFailed.
  std::string error_log;  // The end of the working process's log.
  std::optional<Compilation> compilation;
  std::optional<RunResult> run;
  std::optional<BenchmarkResult> benchmark;

  bool ended() const { return state >= JobState::kSucceeded; }
};

// What the samples of a benchmark say: nanoseconds of one call, percentiles by nearest rank.
struct SampleSummary {
  int64_t count = 0;
  double min_ns = 0;
  double p50_ns = 0;
  double p90_ns = 0;
  double max_ns = 0;
};

// A device as it was when something was measured on it.
struct MeasuredDevice {
  std::string id;
  std::string target;
  std::string model;
  std::string os;
  int cores = 0;
  int64_t memory_bytes = 0;
};

// A benchmark that succeeded, as a server keeps it for longer than its job (proto/slipway/v1/history.proto).
struct HistoryEntry {
  std::string id;  // Of its job.
  std::string owner;
  std::string model;  // The program's name.
  std::vector<Tag> tags;
  Digest artifact;
  std::string target;              // Of the program.
  std::string compile_key;         // Empty: unknown. It changes with model, options and compiler.
  std::vector<std::string> tools;  // Who made the program: "NAME VERSION".
  MeasuredDevice device;
  std::string agent_version;
  std::string server_version;
  std::string conditions;  // Equal where times can be compared; see HistoryEntry.conditions.
  SampleSummary summary;
  BenchmarkResult result;  // Without steps and peaks; samples where they were asked for.
  absl::Time create_time;
  absl::Time end_time;
};

enum class DeviceState { kIdle, kBusy, kLost };
absl::string_view Name(DeviceState state);  // "idle", "busy", "lost"

// A job that waits.
struct QueuedJob {
  std::string job_id;           // Empty if it is another owner's; the same for `subject`.
  std::optional<JobKind> kind;  // Absent if this client does not know it.
  std::string owner;
  std::string subject;  // What it is about, for people.
  std::string device;   // Empty: any.
  std::string target;   // Empty: any.
  int priority = 0;
  int64_t ahead = 0;  // See Job.
  absl::Time since;
  absl::Time until;  // When it fails if it has not begun.
  WaitReason waits;
};

// What waits.
struct Queue {
  std::vector<QueuedJob> jobs;
  int64_t waiting =
      0;  // Those that were not asked for are not counted, those beyond the limit are.
};

// Whether a device is given work; kUnknown of a server that is newer.
enum class AvailabilityState { kUnknown, kAvailable, kReserved, kDraining, kDrained, kQuarantined };
absl::string_view Name(AvailabilityState state);  // "available", ...

struct DeviceAvailability {
  AvailabilityState state = AvailabilityState::kAvailable;
  std::string reason;
  std::string by;  // Empty: the server.
  absl::Time since = absl::InfinitePast();
  std::optional<Reservation> reservation;  // That runs, or else begins next.
};

// What an administrator does with a device.
enum class DeviceAction { kDrain, kUndrain, kQuarantine, kUnquarantine };

// What speaks for and against a device.
struct DeviceHealth {
  int failures = 0;                             // In a row, that the device is to blame for.
  int passes = 0;                               // Probes in a row, while it is in quarantine.
  absl::Time probe_end = absl::InfinitePast();  // Infinite past: it was not probed yet.
  std::string probe_error;                      // Empty: the last probe passed.
  absl::Duration
      probe_call;  // How long a call of the last probe took; zero: not known. The same for the next.
  absl::Duration usual_call;
};

// How a device confines programs.
struct DeviceConfinement {
  std::vector<std::string> missing;  // "PART: why, and what to do".
};

// Cores that are alike.
struct CoreKind {
  int cores = 0;
  int capacity = 0;              // What one does, of 1,024 of the fastest kind.
  int64_t max_frequency_hz = 0;  // 0 when unknown.
};

enum class PowerSource { kUnknown, kMains, kBattery };
enum class MachineKind { kUnknown, kPhysical, kVirtual };
absl::string_view Name(PowerSource source);  // "unknown", "mains", "battery"
absl::string_view Name(MachineKind kind);    // "unknown", "physical", "virtual"

// What a device's machine is besides; what is not known is 0 or empty.
struct DeviceInventory {
  std::vector<CoreKind> core_kinds;  // The fastest first.
  std::string kernel;
  int64_t storage_bytes = 0;  // Of the disk where its agent keeps programs.
  int64_t storage_free_bytes = 0;
  PowerSource power = PowerSource::kUnknown;
  std::optional<int> charge_percent;  // Of its batteries, in tens.
  MachineKind machine = MachineKind::kUnknown;
  std::vector<std::string> accelerators;
};

// What people say of a device.
struct DeviceLabel {
  std::string key;
  std::string value;
  bool by_administrator = false;  // Not its agent.
};

// What an agent that takes offers of its server says of its binary.
struct AgentUpdate {
  std::string platform;  // "x86-64-linux".
  Digest binary;         // That it runs.
  bool is_taking = false;
  std::string failure;  // Why it gave up the last offer it has given up; empty: none.
};

// A binary that agents of a platform are to run.
struct AgentOffer {
  std::string id;
  Digest binary;
  std::string version;
  std::string platform;
  std::string selector;  // Which devices' agents; empty: all.
  int at_once = 1;       // So many may be taking it at a time,
  int max_failures = 1;  // and no other is told when so many have given it up.
  std::string by;
  absl::Time since;
};

// What is asked for when one is made.
struct AgentOfferOptions {
  std::string path;
  std::string selector;  // The same for the next as of AgentOffer.
  int at_once = 1;
  int max_failures = 1;
};

// How far an offer is: how many of the agents that it is for do what.
struct AgentRollout {
  AgentOffer offer;
  int updated = 0;
  int under_way = 0;
  int waiting = 0;
  int failed = 0;
  bool is_halted = false;     // AgentOffer::max_failures is reached.
  std::string failed_device;  // One whose agent has given it up, and why.
  std::string failure;
};

struct Device {
  std::string id;
  std::string target;
  std::string model;
  std::string os;
  int cores = 0;
  int64_t memory_bytes = 0;
  std::vector<MachinePeaks> peaks;  // By number of threads. Empty where its agent does not tell.
  std::vector<AcceleratorPeaks> accelerator_peaks = {};  // Of those that programs may use.
  DeviceState state = DeviceState::kIdle;
  std::string job_id;
  absl::Time last_seen;
  std::optional<MachineState>
      machine;  // As its agent last read it. Absent where it does not tell, and of a lost one.
  std::string agent_version;
  // What its agent takes of artifacts: kernel ABIs, manifest formats. 0 from servers that do not tell.
  VersionRange abis, formats;
  std::optional<DeviceConfinement> confinement;  // Absent where its agent does not confine them.
  bool is_compiled_only =
      false;  // Takes no programs but those that a worker of its server has compiled.
  std::string warning;
  std::optional<DeviceLease>
      lease;  // Absent when nobody holds it, and from servers that do not tell.
  std::optional<DeviceAvailability> availability = {};  // Absent from servers that do not tell.
  std::optional<DeviceHealth> health = {};              // The same.
  std::optional<DeviceInventory> inventory;             // Absent where its agent does not tell.
  std::vector<DeviceLabel> labels;         // One a key, sorted; administrators go before.
  std::optional<AgentUpdate> update = {};  // Absent where its agent takes no offers.
  std::string offered_version =
      {};  // That its agent is to take now; until then it is given no work.
};

// Devices that were asked for.
struct DeviceList {
  std::vector<Device> devices;  // Sorted by id.
  std::string explanation;      // Why there are none; empty where there are some.
};

struct ServerInfo {
  std::string version;
  std::vector<std::string> targets;
  std::string instance_id;
  int64_t max_blob_bytes = 0;
  int64_t max_model_bytes = 0;
  int64_t max_input_bytes = 0;
  // Counters since the server began, by name, in the order of server.proto.
  std::vector<std::pair<std::string, int64_t>> counters;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TYPES_H_
