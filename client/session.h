// Session: a device in your hand. Programs and tensors stay on it; calls cost little more than a message there and back.
//
//   SLIPWAY_ASSIGN_OR_RETURN(Session session, Session::Open({.address = "buildhost:7411", .device = "board-1"}));
//   SLIPWAY_ASSIGN_OR_RETURN(RemoteProgram net, session.LoadFile("net.slip"));
//   SLIPWAY_ASSIGN_OR_RETURN(RemoteTensor x, session.Put(image));
//   SLIPWAY_ASSIGN_OR_RETURN(std::vector<RemoteTensor> outputs, net.Call({&x}));
//   SLIPWAY_ASSIGN_OR_RETURN(Tensor scores, outputs[0].Get());
//
// The device carries requests out one at a time, in the order in which they were made, whichever thread made them.
// What is started by an ...Async method need not be waited for before the next request, which may use its handles.
//
// A connection that breaks is taken up again by itself: nothing is lost and nothing done twice. When nothing is heard
// from the device for SessionOptions::patience, the session ends, and whatever waits ends within a second in
// UNAVAILABLE, which says whether the server or the device's agent went away.
//
// Errors are the device's, with its whole message; DeviceLogOf (client/session/response_status.h) has the log of a
// runner that crashed. Then (ABORTED) the handles of the session are lost, each use of one says so, and the session
// goes on: load and put anew. A session that has ended gives the error with which it ended for everything.
//
// A session is held by its Session, by every RemoteProgram and RemoteTensor, and by futures; it is closed, and the
// device free for others, when the last of them goes. Or it is left (Session::Detach) and taken up elsewhere, by another
// process on another machine, with what it has on the device (Session::Resume). All methods are thread-safe.
//
// Each method that blocks is its ...Async form, waited for: their errors and requirements are the same.
#ifndef SLIPWAY_CLIENT_SESSION_H_
#define SLIPWAY_CLIENT_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/future.h"
#include "client/types.h"
#include "core/artifact/artifact.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/tag.h"
#include "core/rpc/caller_proof.h"
#include "core/tensor/tensor.h"

namespace slipway {

class SessionEngine;
struct OutgoingRequest;

struct SessionOptions {
  std::string address;  // Of a server, or of an agent that listens: "HOST:PORT" or "unix:PATH".
  // Who calls; see ClientOptions. An agent without a server that listens has no TLS: `insecure` says that this is meant.
  ProofOptions proof;
  std::string device;     // An id, or a selector for any that matches; empty: any of `target`.
  std::string target;     // As core/target/target.h writes them; empty: any.
  std::string purpose;    // Others who wait for the device see it.
  std::vector<Tag> tags;  // What a server is to keep the session by; CheckTags says which can be.
  int priority = 0;       // Of jobs that wait for the same, higher ones go first; -1,000 to 1,000.
  // The lease ends after this time in any case; zero: after 24 h. A device that is reserved for others is given only to who must
  // be done by then.
  absl::Duration longest = absl::ZeroDuration();
  // The lease ends when the device has not heard of this client for so long; 1 s to 1 h.
  absl::Duration idle = absl::Seconds(10);
  // Longest time to wait for the device while others hold it; zero: not at all.
  absl::Duration wait = absl::Hours(1);
  // The session ends when the device was not heard of for so long, counted anew from when a connection broke, and the
  // server, asked for another second at most, does not answer either, or the device is not heard of over that connection
  // for another 0.8 s. At most `idle`. A piece of
  // a tensor, 1 MiB at most, should get through in it: slow lines need more.
  absl::Duration patience = absl::Milliseconds(3500);
  // Ends Open in CANCELLED.
  std::stop_token stop;
  // Whether a session that a server opened goes on straight to the device's agent, when that tells an address where it
  // listens and answers there, to the same token, within a second. Until then, and where it does not, the server passes
  // everything on. A straight connection that breaks is taken up again by either way, in turns.
  bool may_go_straight = true;
  // Told while Open waits: how many are to get the device before, and who holds it. Both callbacks are called on a
  // thread of the session's and should return soon.
  std::function<void(int64_t ahead, const std::string& holder)> on_waiting;
  // Told what programs write to their standard streams, and warnings and errors of what runs them: whole lines, as they
  // come, mostly before the answer to what wrote them. What comes faster than it is taken, or over 1 MiB/s for long, is dropped, and a line says
  // how much.
  std::function<void(const std::string& text)> on_log;
};

struct StartedTensor;

// A tensor on the device, which is freed with it. Movable. Errors of its methods are those of a request: FAILED_PRECONDITION
// for a tensor that is lost or not made yet, OUT_OF_RANGE for a part that does not lie inside.
class RemoteTensor {
 public:
  RemoteTensor() = default;  // No tensor; only to be assigned to.
  RemoteTensor(RemoteTensor&& other) noexcept { Swap(other); }
  RemoteTensor& operator=(RemoteTensor&& other) noexcept {
    RemoteTensor taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~RemoteTensor();

  bool is_set() const { return engine_ != nullptr; }
  // For messages.
  const std::string& name() const { return name_; }
  // That of a call's output is known, and dtype not kInvalid, when the call has been answered.
  TensorType type() const;

  absl::StatusOr<Tensor> Get() const;
  Future<Tensor> GetAsync() const;
  // Into memory of the caller's, of as many bytes as the tensor has. The same for all that reads: the memory is written
  // until the answer is there.
  absl::Status GetInto(absl::Span<char> bytes) const;
  Future<Done> GetIntoAsync(absl::Span<char> bytes) const;
  // Some of its bytes, from `offset` on. Whole elements.
  absl::Status Read(int64_t offset, absl::Span<char> bytes) const;
  Future<Done> ReadAsync(int64_t offset, absl::Span<char> bytes) const;
  absl::Status Write(int64_t offset, const Blob& bytes);
  Future<Done> WriteAsync(int64_t offset, const Blob& bytes);

  // A copy of a box of it: `begin` is the first index along each dimension. It has the name of this one unless it is given
  // another.
  absl::StatusOr<RemoteTensor> Slice(absl::Span<const int64_t> begin,
                                     absl::Span<const int64_t> shape,
                                     const std::string& name = "") const;
  StartedTensor SliceAsync(absl::Span<const int64_t> begin, absl::Span<const int64_t> shape,
                           const std::string& name = "") const;
  absl::StatusOr<RemoteTensor> Copy(const std::string& name = "") const;
  StartedTensor CopyAsync(const std::string& name = "") const;
  // Copies `from` into the box of it that begins at `begin`.
  absl::Status Assign(absl::Span<const int64_t> begin, const RemoteTensor& from);
  Future<Done> AssignAsync(absl::Span<const int64_t> begin, const RemoteTensor& from);

 private:
  friend class Session;
  friend class RemoteProgram;
  // Set by the answer to the request that makes the tensor.
  struct LateType {
    std::atomic<bool> is_known = false;
    TensorType type;
  };

  // A new one.
  RemoteTensor(std::shared_ptr<SessionEngine> engine, std::string name, TensorType type);
  // One that is there.
  RemoteTensor(std::shared_ptr<SessionEngine> engine, uint64_t handle, std::string name,
               TensorType type);
  void Swap(RemoteTensor& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    std::swap(type_, other.type_);
  }
  absl::StatusOr<TensorType> KnownType() const;
  static absl::Status CheckIsOf(const SessionEngine* engine, const RemoteTensor& tensor);
  // `tensor` comes about by `requests`.
  static StartedTensor Start(RemoteTensor tensor, std::vector<OutgoingRequest> requests);

  std::shared_ptr<SessionEngine> engine_;
  uint64_t handle_ = 0;
  std::string name_;
  std::shared_ptr<LateType> type_;
};

// A tensor that later requests may use at once; `done` says whether it came about.
struct StartedTensor {
  RemoteTensor tensor;
  Future<TensorType> done;
};

// An input or output of a function.
struct RemotePort {
  std::string name;
  std::string type;  // For people, for example "f32[batch, 64]".
};

struct RemoteFunction {
  std::string name;
  std::vector<RemotePort> inputs;
  std::vector<RemotePort> outputs;
};

struct RemoteCallOptions {
  std::string function;  // Empty: the first.
  // For the call, from when the device gets it, others before it included; zero: 1 min. A call that runs longer ends
  // the process that runs it.
  absl::Duration deadline;
  bool profile = false;  // Time every step.
  // What outputs are called, in the function's order, in place of the names of the function's outputs.
  std::vector<std::string> output_names;
};

// What the device tells of a call.
struct CallReport {
  absl::Duration duration;
  // With RemoteCallOptions::profile: in the program's order, and what the device does at most, empty where its agent does not
  // tell, or not yet.
  std::vector<StepTime> steps;
  std::vector<MachinePeaks> peaks;
  std::vector<AcceleratorPeaks> accelerator_peaks;
  int threads = 0;  // It ran on; 0 where the agent does not tell.
};

struct StartedCall {
  std::vector<RemoteTensor> outputs;  // Later requests may use them at once.
  Future<CallReport> done;
};

struct TimingOptions {
  RemoteCallOptions call;
  int warmup = 10;
  int samples = 100;
  absl::Duration min_sample = absl::Milliseconds(1);  // By several calls a sample.
  bool flush_cache = false;                           // A sample is then one call.
  absl::Duration cool_down;                           // Pause before each sample.
};

// A program on the device, which is unloaded with it. Movable.
class RemoteProgram {
 public:
  RemoteProgram() = default;  // No program; only to be assigned to.
  RemoteProgram(RemoteProgram&& other) noexcept { Swap(other); }
  RemoteProgram& operator=(RemoteProgram&& other) noexcept {
    RemoteProgram taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~RemoteProgram();

  bool is_set() const { return engine_ != nullptr; }
  // For messages.
  const std::string& name() const { return name_; }
  // Empty until it is loaded.
  const std::vector<RemoteFunction>& functions() const;
  // How long loading took, on the device. Zero until then, and of programs that were taken up.
  absl::Duration load_time() const;

  // Inputs and outputs are in the order of the function. INVALID_ARGUMENT for inputs that do not fit, NOT_FOUND for a
  // function that is not there, FAILED_PRECONDITION for a program or tensor that is lost, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED when the program crashed.
  absl::StatusOr<std::vector<RemoteTensor>> Call(absl::Span<const RemoteTensor* const> inputs,
                                                 const RemoteCallOptions& options = {}) const;
  // Writes outputs that are there, of the types that the function makes.
  absl::StatusOr<CallReport> CallInto(absl::Span<const RemoteTensor* const> inputs,
                                      absl::Span<RemoteTensor* const> outputs,
                                      const RemoteCallOptions& options = {}) const;
  StartedCall CallAsync(absl::Span<const RemoteTensor* const> inputs,
                        const RemoteCallOptions& options = {}) const;
  Future<CallReport> CallIntoAsync(absl::Span<const RemoteTensor* const> inputs,
                                   absl::Span<RemoteTensor* const> outputs,
                                   const RemoteCallOptions& options = {}) const;
  // Times calls, on the device. The deadline is for all of them.
  absl::StatusOr<BenchmarkResult> Time(absl::Span<const RemoteTensor* const> inputs,
                                       const TimingOptions& options = {}) const;
  Future<BenchmarkResult> TimeAsync(absl::Span<const RemoteTensor* const> inputs,
                                    const TimingOptions& options = {}) const;

 private:
  friend class Session;
  // Set by the answer to the request that loads the program.
  struct LateFunctions {
    std::atomic<bool> is_known = false;
    std::vector<RemoteFunction> functions;
    absl::Duration load_time;
  };

  RemoteProgram(std::shared_ptr<SessionEngine> engine, uint64_t handle, std::string name);
  void Swap(RemoteProgram& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    std::swap(functions_, other.functions_);
  }
  absl::Status Check(absl::Span<const RemoteTensor* const> tensors) const;
  std::vector<RemoteTensor> MakeOutputs(const RemoteCallOptions& options) const;
  Future<CallReport> StartCall(absl::Span<const RemoteTensor* const> inputs,
                               absl::Span<RemoteTensor* const> outputs,
                               const RemoteCallOptions& options) const;

  std::shared_ptr<SessionEngine> engine_;
  uint64_t handle_ = 0;
  std::string name_;
  std::shared_ptr<LateFunctions> functions_;
};

// A program that may be called once `done` says that it came about.
struct StartedProgram {
  RemoteProgram program;
  Future<Done> done;
};

struct LoadOptions {
  std::string name;  // For messages.
  int threads = 1;
  int64_t loop_turns = 0;     // See RunOptions.
  int64_t dynamic_bytes = 0;  // See RunOptions.
  absl::Duration deadline;    // Zero: 1 min.
};

// What state a device is in. What is not known is 0.
struct SessionFacts {
  MachineState machine;
  int64_t free_bytes = 0;   // Of the machine's memory.
  int64_t limit_bytes = 0;  // That the session may use.
  int64_t tensor_bytes = 0;
  int64_t tensors = 0;
  int64_t programs = 0;
};

struct ResumedSession;

// Movable and copyable: copies are the same session.
class Session {
 public:
  Session() = default;  // No session; only to be assigned to.
  // Waits for the device. INVALID_ARGUMENT for bad options; otherwise errors of SessionService.Open
  // (proto/slipway/v1/session.proto), such as NOT_FOUND for a device that nobody knows and UNAVAILABLE for a server that
  // is not there.
  static absl::StatusOr<Session> Open(const SessionOptions& options);

  // Takes up a session that was opened elsewhere and not closed there, with all that it has on the device. Whoever has it
  // still ends in ABORTED. Of the options, those that say what is asked for mean nothing: the session has them already.
  // NOT_FOUND when its lease has ended, PERMISSION_DENIED for another ticket, UNIMPLEMENTED for a device whose agent
  // is too old; the session goes on then.
  static absl::StatusOr<ResumedSession> Resume(const SessionOptions& options, const std::string& id,
                                               const std::string& ticket);

  const std::string& id() const;
  // Who knows it may take the session up: keep it like a password.
  const std::string& ticket() const;
  const std::string& device() const;
  const std::string& target() const;
  // Whether its connection is, now, one that goes past the server; see SessionOptions.
  bool is_straight() const;

  // Sends what the device lacks of the artifact. Errors of the runtime, such as FAILED_PRECONDITION for a program that
  // is for other machines.
  absl::StatusOr<RemoteProgram> Load(const Artifact& artifact, const LoadOptions& options = {});
  // A .slip file. Errors of ReadSlip as well.
  absl::StatusOr<RemoteProgram> LoadFile(const std::string& path, const LoadOptions& options = {});
  // An artifact that the device or its server has. FAILED_PRECONDITION names what they lack.
  absl::StatusOr<RemoteProgram> Load(const Digest& artifact, const LoadOptions& options = {});
  StartedProgram LoadAsync(const Artifact& artifact, const LoadOptions& options = {});
  StartedProgram LoadAsync(const Digest& artifact, const LoadOptions& options = {});

  // A tensor of the device's with these elements. INVALID_ARGUMENT for strings (core/tensor/strings.h splits them),
  // RESOURCE_EXHAUSTED for one that does not fit. The tensor's bytes must not change before the answer is there.
  absl::StatusOr<RemoteTensor> Put(const Tensor& tensor, const std::string& name = "");
  StartedTensor PutAsync(const Tensor& tensor, const std::string& name = "");
  absl::StatusOr<RemoteTensor> Zeros(const TensorType& type, const std::string& name = "");
  StartedTensor ZerosAsync(const TensorType& type, const std::string& name = "");
  // The elements are those of RandomTensor (core/tensor/random.h).
  absl::StatusOr<RemoteTensor> Random(const TensorType& type, uint64_t seed,
                                      const std::string& name);
  StartedTensor RandomAsync(const TensorType& type, uint64_t seed, const std::string& name);

  absl::StatusOr<SessionFacts> Facts();
  Future<SessionFacts> FactsAsync();

  // Leaves the session to be taken up elsewhere (Resume), within its idle time, once all requests are answered: programs
  // and tensors stay on the device, whatever becomes of their objects here. The error with which it ended before.
  absl::Status Detach();
  // Ends the session and its lease once all requests are answered. The error with which it ended before.
  absl::Status Close();

 private:
  explicit Session(std::shared_ptr<SessionEngine> engine) : engine_(std::move(engine)) {}
  // Asked for blobs that the device lacks; null: it is sent none.
  using BlobSource = std::function<std::optional<Blob>(const Digest&)>;
  StartedProgram LoadWith(const Digest& digest, BlobSource contents, const LoadOptions& options);
  absl::Status TakeListed(ResumedSession& resumed);

  std::shared_ptr<SessionEngine> engine_;
};

// A session that was taken up, and what it had: whoever takes it up owns that now.
struct ResumedSession {
  Session session;
  // In the order in which they were made, with the names that they were given then.
  std::vector<RemoteProgram> programs;
  std::vector<RemoteTensor> tensors;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_H_
