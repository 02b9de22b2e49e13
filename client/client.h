// Client: compiles models on a Slipway server and runs them on its devices.
//
//   SLIPWAY_ASSIGN_OR_RETURN(auto client, Client::Connect({.server = "buildhost:7411"}));
//   SLIPWAY_ASSIGN_OR_RETURN(Compilation c, client->Compile("net.onnx", {.target = "x86-64-v3-linux"}));
//   SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> y, client->Run(c.artifact, {{"x", x}}, {}));
//
// Calls block until done. A server that goes away is waited for (`retry_for`), calls are repeated with the same
// request id, transfers resume where they broke, and a job that is waited for is found again: nothing is
// done twice. Errors: UNAVAILABLE when the server cannot be reached, CANCELLED after Interrupt, otherwise the
// codes that proto/slipway/v1 lists for each call. All methods are thread-safe.
#ifndef SLIPWAY_CLIENT_CLIENT_H_
#define SLIPWAY_CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/artifact_summary.h"
#include "client/history.h"
#include "client/model_files.h"
#include "client/server_status.h"
#include "client/types.h"
#include "core/artifact/artifact.h"
#include "core/rpc/caller_proof.h"
#include "core/selector/labels.h"

namespace slipway {

struct ClientOptions {
  std::string server;  // "HOST:PORT" or "unix:PATH".
  // Who calls. Nothing said: over TCP, as the user that this one has joined the server as (`slipway join`).
  ProofOptions proof;
  absl::Duration connect_timeout = absl::Seconds(5);
  absl::Duration retry_for = absl::Seconds(30);
  // Told why, whenever a call begins to wait for the server; may be called by any thread that makes calls.
  std::function<void(const absl::Status&)> on_waiting;
};

// Deadlines of a job; zero means the server's default.
struct Deadlines {
  absl::Duration queue, run, total;
};

struct CompileOptions {
  std::string target;       // As core/target/target.h writes them; "host" is resolved here.
  std::string print_after;  // A pass after which the graph's text is wanted.
  std::vector<DimensionBounds> dimensions;
  // Names of values of the model that the program gives as outputs, too, "*" in them standing for any characters; in
  // any order.
  std::vector<std::string> keep;
  // What values of the model hold, in any order: products of weights with them are computed in 8 bits. None: all in f32.
  std::vector<NamedRange> ranges;
  // The values of which ranges are wanted are outputs of the program, too. Not together with ranges.
  bool observe = false;
  // What products are computed in where the target has instructions for that; not kInt8, which ranges say.
  Precision precision = Precision::kFloat32;
  // Names of optional passes that are left out (core/passes/README.md), in any order.
  std::vector<std::string> without;
  // How kernels are cut, records as CompileOptions of proto/slipway/v1/graph.proto has them; empty: as the compiler chooses.
  std::string schedules;
  bool print_schedules = false;  // The records of all kernels are wanted.
  bool tell_candidates = false;  // How else they may be cut is.
  // Not empty: the program is one to be linked into others, for client/library, and its symbols begin with this
  // (core/artifact/library_name.h). Compilers from before it make a program that runtimes load.
  std::string library_name = {};
  // In place of the model's program one without inputs whose outputs are what the model gives for these, all of its inputs
  // (ConstantOutputs of core/artifact). Compilers from before it make the model's program.
  std::optional<std::vector<NamedTensor>> evaluate = {};
  Deadlines deadlines;
  int priority = 0;       // Of jobs that wait for the same, higher ones go first; -1,000 to 1,000.
  std::vector<Tag> tags;  // What the job is to be found by; CheckTags says which can be.
};

// Which jobs to list. What is empty or infinite is not asked for; a server that cannot filter by the rest, and has jobs that do not pass,
// is an error, UNIMPLEMENTED.
struct JobListOptions {
  int limit = 100;
  bool of_everybody = false;  // And not one's own alone.
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  std::string device;                       // See ListJobsRequest.device.
  std::vector<Tag> tags;                    // All of them.
  std::string subject;                      // Is somewhere in the job's, in capitals or not.
  absl::Time since = absl::InfinitePast();  // Accepted then or later.
  std::string owner;                        // Of another than oneself for administrators.
};

// Which benchmarks of the past to list. What is empty, 0 or infinite is not asked for.
struct HistoryOptions {
  int limit = 100;
  std::string model;  // HistoryEntry::model, as it is.
  std::string device;
  std::string target;
  std::vector<Tag> tags;  // All of them.
  int threads = 0;
  Digest artifact;
  absl::Time since = absl::InfinitePast();    // Accepted then or later, and
  absl::Time until = absl::InfiniteFuture();  // before this.
  bool of_everybody = false;
  std::string owner;
  bool with_samples = false;  // And not their summary alone.
};

// What of the queue to show.
struct QueueListOptions {
  int limit = 100;     // 1 to 1,000.
  std::string device;  // Only jobs for it by name; empty: all.
  bool own = false;    // Only one's own.
};

// Asks for a device for oneself.
struct ReserveOptions {
  std::string device;
  absl::Time from = absl::InfinitePast();  // Infinite past: now.
  absl::Duration length;
  std::string purpose;  // Others see it.
};

// Which devices to list.
struct DeviceListOptions {
  std::string selector;    // An id, or a selector (core/selector/selector.h); empty: all.
  bool available = false;  // Only those that could be given work of this caller's.
};

struct RunOptions {
  std::string name;    // What lists and the history call the program; empty: as its manifest does.
  std::string device;  // An id, or a selector for any that matches and can; empty: any that can.
  uint64_t seed = 0;   // Makes the inputs that are not given.
  int threads = 1;
  int64_t loop_turns = 0;  // All loops of a call together; 0: RunSpec's default.
  int64_t dynamic_bytes =
      0;  // Of buffers of sizes found out while running; 0: what the device has.
  Deadlines deadlines;
  int priority = 0;       // See CompileOptions.
  std::vector<Tag> tags;  // See CompileOptions.
};

struct BenchmarkOptions {
  RunOptions run;
  int warmup = 10;
  int samples = 100;
  // Over 0: fewer samples, if these tell the median to this share of it (SampleOptions of device_agent/measure). Agents from before it take all,
  // and leave BenchmarkResult::precision_ppm unset.
  double precision_goal = 0;
  bool profile = false;
  // Agents from before these do not take such a benchmark, which is an error of submitting it, or leave
  // BenchmarkResult::scenario and ::settled unset where the server is from before them, too.
  std::optional<Scenario> scenario = {};  // Absent: calls follow each other.
  std::optional<Settling> settling = {};
};

class Client {
 public:
  // Called with a job each time it changed, on the thread that waits.
  using JobObserver = std::function<void(const Job&)>;

  // UNAVAILABLE when no server answers there; INVALID_ARGUMENT for a malformed address; FAILED_PRECONDITION when it speaks no
  // version of the protocol that this client does; errors of FindProof.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(ClientOptions options);
  virtual ~Client() = default;

  // The common path. A job that fails is the error it failed with.
  absl::StatusOr<Compilation> Compile(const std::string& model, const CompileOptions& options);
  absl::StatusOr<std::vector<NamedTensor>> Run(const Digest& artifact,
                                               const std::vector<NamedTensor>& inputs,
                                               const RunOptions& options);
  absl::StatusOr<BenchmarkResult> Benchmark(const Digest& artifact,
                                            const std::vector<NamedTensor>& inputs,
                                            const BenchmarkOptions& options);

  // The same in two steps. Submit* sends what the server lacks (for a model, see ReadModelFiles) and returns
  // the id of a job that is accepted for good; the client may end then.
  virtual absl::StatusOr<std::string> SubmitCompilation(const ModelFiles& model,
                                                        const CompileOptions& options) = 0;
  virtual absl::StatusOr<std::string> SubmitRun(const Digest& artifact,
                                                const std::vector<NamedTensor>& inputs,
                                                const RunOptions& options) = 0;
  virtual absl::StatusOr<std::string> SubmitBenchmark(const Digest& artifact,
                                                      const std::vector<NamedTensor>& inputs,
                                                      const BenchmarkOptions& options) = 0;
  // Until the job has ended, in whatever way.
  virtual absl::StatusOr<Job> Wait(const std::string& job_id, const JobObserver& observer) = 0;

  virtual absl::StatusOr<Job> GetJob(const std::string& job_id) = 0;
  // Newest first. PERMISSION_DENIED for those of everybody, unless one is an administrator.
  virtual absl::StatusOr<std::vector<Job>> ListJobs(const JobListOptions& options) = 0;
  virtual absl::StatusOr<Job> CancelJob(const std::string& job_id) = 0;

  // What was measured, newest first. PERMISSION_DENIED for what is of others, unless one is an administrator; UNIMPLEMENTED from servers
  // that keep no history.
  virtual absl::StatusOr<std::vector<HistoryEntry>> ListHistory(const HistoryOptions& options) = 0;
  // One entry with its samples, by the id of its job. NOT_FOUND.
  virtual absl::StatusOr<HistoryEntry> GetHistoryEntry(const std::string& id) = 0;
  // The same as the bytes of a file that others can check (client/record.h): signed by the server. FAILED_PRECONDITION from one without TLS.
  virtual absl::StatusOr<std::string> GetRecord(const std::string& id) = 0;
  // SeriesOf what ListHistory lists: with_samples, all that a judgement of a new result against older ones needs.
  absl::StatusOr<std::vector<HistorySeries>> ReadHistory(const HistoryOptions& options);

  // The outputs of a run with their elements, which may be at the server.
  virtual absl::StatusOr<std::vector<NamedTensor>> FetchOutputs(const RunResult& result) = 0;

  // Artifacts, to and from the server; .slip files are read and written by core/artifact/slip_file.h.
  virtual absl::Status PutArtifact(const Artifact& artifact) = 0;
  virtual absl::StatusOr<Artifact> GetArtifact(const Digest& artifact) = 0;
  // Writes it as a .slip file, with one blob at a time in memory. Errors of GetArtifact and WriteSlip.
  virtual absl::Status ExportArtifact(const Digest& artifact, const std::string& path) = 0;
  // Fetches the manifest alone.
  virtual absl::StatusOr<ArtifactSummary> DescribeArtifact(const Digest& artifact) = 0;

  // INVALID_ARGUMENT as Selector::Parse; FAILED_PRECONDITION where the server is too old for what is asked.
  virtual absl::StatusOr<DeviceList> FindDevices(const DeviceListOptions& options) = 0;
  absl::StatusOr<std::vector<Device>> ListDevices();  // All, sorted by id.
  // Gives a device labels, in place of those that administrators gave it under the same keys, and takes away those of these keys.
  // Returns all that administrators have given it. PERMISSION_DENIED unless one is an administrator.
  virtual absl::StatusOr<Labels> ChangeLabels(const std::string& device, const Labels& given,
                                              const std::vector<std::string>& removed) = 0;
  virtual absl::StatusOr<ServerInfo> Info() = 0;
  // FAILED_PRECONDITION from a server from before it.
  virtual absl::StatusOr<ServerStatus> Status() = 0;

  // What waits, for what and why; and who may have devices when. UNIMPLEMENTED by servers that are older.
  virtual absl::StatusOr<Queue> ListQueue(const QueueListOptions& options) = 0;
  virtual absl::StatusOr<Reservation> Reserve(const ReserveOptions& options) = 0;
  virtual absl::StatusOr<std::vector<Reservation>> ListReservations(
      const std::string& device) = 0;  // Of all devices, if empty; by their begin.
  virtual absl::StatusOr<Reservation> Unreserve(const std::string& id) = 0;
  // `reason` tells others why; PERMISSION_DENIED unless one is an administrator.
  virtual absl::StatusOr<Device> SetAvailability(const std::string& device, DeviceAction action,
                                                 const std::string& reason) = 0;
  // Offers the binary of the agent that is in a file to agents of its platform. INVALID_ARGUMENT when it is none; PERMISSION_DENIED
  // unless one is an administrator; UNIMPLEMENTED by servers that are older, the same for the next two.
  virtual absl::StatusOr<AgentOffer> OfferAgent(const AgentOfferOptions& options) = 0;
  virtual absl::StatusOr<std::vector<AgentRollout>> ListAgentOffers() = 0;
  // NOT_FOUND when nothing is offered to that platform.
  virtual absl::StatusOr<AgentOffer> WithdrawAgentOffer(const std::string& platform) = 0;
  virtual int64_t max_model_bytes() const = 0;  // What the server accepts.

  // Makes every call, in flight or to come, return CANCELLED, but CancelJob and a Submit* that is about to know
  // its job's id.
  virtual void Interrupt() = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_CLIENT_H_
