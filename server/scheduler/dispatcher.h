// Dispatcher: acts on what the scheduler and the job rules decide. Everything that changes a job passes
// through here, under one lock: accepting, assigning, reports of agents and workers, deadlines, cancelling.
//
// Nothing waits for a disk under the lock: jobs change in memory, and before anybody is told of it (a peer or client
// answered, a watcher woken) the lock is released and the change stored (server/jobs/job_writer.h).
//
// What an agent or worker should hold follows from the live jobs alone, so that a restarted server answers as
// the one before it did.
#ifndef SLIPWAY_SERVER_SCHEDULER_DISPATCHER_H_
#define SLIPWAY_SERVER_SCHEDULER_DISPATCHER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/selector/labels.h"
#include "core/selector/selector.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/caller.h"
#include "server/change_hub.h"
#include "server/devices/can_run.h"
#include "server/devices/device_record.pb.h"
#include "server/devices/device_store.h"
#include "server/devices/opening.h"
#include "server/devices/reservations.h"
#include "server/devices/rollout.h"
#include "server/devices/standing.h"
#include "server/health/probe_program.h"
#include "server/history/history_store.h"
#include "server/jobs/job_store.h"
#include "server/jobs/job_tally.h"
#include "server/jobs/job_writer.h"
#include "server/jobs/live_jobs.h"
#include "server/jobs/used_time.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/peer_registry.h"
#include "server/peers/report.h"
#include "server/scheduler/free_peers.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/wait_reason.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

// What the dispatcher needs to know of artifacts. Thread-safe.
class ArtifactSource {
 public:
  virtual ~ArtifactSource() = default;
  // Puts the manifest and small blobs of a program into its assignment, which is for `owner`, and what the server says of it.
  // Errors end the attempt.
  virtual absl::Status FillAssignment(const v1::RunSpec& spec, absl::string_view owner,
                                      v1::RunAssignment* assignment) = 0;
  // Checks that what a worker, named by its id, made is complete here, and enters it into the artifact cache. Errors end the
  // attempt, which may be tried again.
  virtual absl::Status Admit(const CompilationFacts& facts, absl::string_view worker,
                             v1::CompilationResult* result) = 0;
  // Checks that an agent's result is one of the program: its outputs by name, order and type, their blobs here.
  virtual absl::Status CheckOutputs(const v1::Digest& manifest, const v1::RunResult& result) = 0;
};

// Thread-safe.
class Dispatcher {
 public:
  struct Options {
    absl::Duration silence = kDefaultSilence;
    absl::Duration job_retention = kDefaultJobRetention;
    int64_t max_queued_jobs = kDefaultMaxQueuedJobs;
    int64_t max_live_bytes_of_owner = kMaxLiveSpecBytesOfOwner;
    int64_t max_ended_bytes_of_owner = kMaxEndedBytesOfOwner;
    int64_t max_history_entries_of_owner = kMaxHistoryEntriesOfOwner;
    // For how long an owner's compilations may hold workers, and his other jobs devices, within kUsedTimeWindow.
    absl::Duration compile_time_of_owner = absl::InfiniteDuration();
    absl::Duration device_time_of_owner = absl::InfiniteDuration();
    int64_t max_reservations_of_owner = kDefaultMaxReservationsOfOwner;  // Of users.
    absl::Duration probe_every = kDefaultProbeEvery;
    // So many failures in a row put a device in quarantine; 0: none do.
    int quarantine_after = kDefaultQuarantineAfter;
  };
  // All must outlive the dispatcher.
  struct Parts {
    JobStore* jobs = nullptr;
    DeviceStore* devices = nullptr;
    HistoryStore* history = nullptr;
    ArtifactSource* artifacts = nullptr;
    const Clock* clock = nullptr;
    IdGenerator* ids = nullptr;
    ChangeHub* hub = nullptr;
    // What probes run; null: there are none.
    const ProbePrograms* probes = nullptr;
    // Called, with no lock held, when Tick should be called after this time at the latest.
    std::function<void(absl::Duration)> wake;
    // Told what one of the server's own workers compiles for.
    std::function<void(const TargetFingerprints&)> local_targets;
    // Called, with no lock held, when CompilationsWanted() has changed.
    std::function<void()> demand;
  };

  // Takes up every job in the store that has not ended. Attempts of the server's own workers, which ended with
  // it, go back to the queue; others are given the time of silence to be reported again.
  static absl::StatusOr<std::unique_ptr<Dispatcher>> Create(Parts parts, Options options);

  // --- Jobs ---

  // Stores a job, durably, and returns it; or the one its request made before. `record` is complete but for
  // the revision, and QUEUED or SUCCEEDED. ALREADY_EXISTS: see JobStore::Create. RESOURCE_EXHAUSTED when too
  // many jobs wait, or those of the owner have used their time.
  absl::StatusOr<JobRecord> Accept(const Caller& caller, JobRecord record);

  // Ends a job of the caller's; one that has ended is returned as it is. NOT_FOUND; UNAVAILABLE when that could not be stored yet.
  absl::StatusOr<v1::Job> Cancel(const Caller& caller, absl::string_view id);

  // The job that has what a job waits for, whoever's it is, when nothing else that is there would do; none when
  // something would, or nobody has it.
  absl::optional<v1::Job> HolderFor(absl::string_view id);

  // Ends a session whose client has left, if it has not ended.
  void Release(absl::string_view session);

  // --- The queue ---

  // WaitingJobs::PositionOf.
  int64_t QueuePosition(absl::string_view id);
  // Fills in the place of a job that waits, and why it does; with the names of the caller's jobs alone.
  void ShowWaiting(const Caller& caller, v1::Job* job);
  // What waits, those that need the same together. REQUIRES: a limit above 0.
  v1::ListQueueResponse Queue(const Caller& caller, const v1::ListQueueRequest& request);

  // --- Who may have devices when ---

  // The reservation that the request of `like` made before, if any; errors of Reserve.
  absl::StatusOr<absl::optional<v1::Reservation>> FindReservation(const ReservationRecord& like);
  // Makes a reservation, durably, and returns it; or the one its request made before. `record` is complete, and its times
  // are in bounds. NOT_FOUND when the device is not known; ALREADY_EXISTS; FAILED_PRECONDITION when another overlaps;
  // RESOURCE_EXHAUSTED; UNAVAILABLE when it could not be stored yet.
  absl::StatusOr<v1::Reservation> Reserve(const Caller& caller, ReservationRecord record);
  // Those that have not ended, of a device, or of all when it is empty; with the ids of the caller's alone.
  std::vector<v1::Reservation> OpenReservations(const Caller& caller, absl::string_view device);
  // Ends a reservation of the caller's; one that has ended is returned as it is. NOT_FOUND; UNAVAILABLE as above.
  absl::StatusOr<v1::Reservation> Unreserve(const Caller& caller, absl::string_view id);
  // Changes a device's standing, durably. NOT_FOUND; errors of ApplyToStanding; UNAVAILABLE as above.
  absl::StatusOr<v1::Device> SetAvailability(const Caller& caller, const std::string& device,
                                             const StandingEvent& event);

  // --- Agents and workers ---

  // Takes in a report. Errors of PeerRegistry::Take; UNAVAILABLE when a change could not be stored: the peer tries
  // again. `is_new`, unless null, becomes true for the first one of an instance.
  absl::Status Reported(Report report, bool* is_new = nullptr);
  // What the peer should hold. ABORTED when the call this is for is outdated: another instance, or a later report.
  absl::StatusOr<DesiredState> DesiredOf(const PeerCall& call);
  // From this to that a call of the instance is open, and the peer not silent.
  void CallBegan(const PeerCall& call);
  void CallEnded(const PeerCall& call);
  // What the logs of all of them are to show, until the server ends; empty: what each was started with.
  void SetLogLevelOfPeers(absl::string_view level);
  // What agents are offered from now on, and what that was until now is not: some of them are told (server/devices/rollout.h), and
  // are given no work until they have taken it. REQUIRES: selectors parse.
  void SetOffers(const std::vector<AgentOfferRecord>& offers);
  // How far each of these is, in their order.
  std::vector<v1::AgentRollout> Rollouts();
  // The process of one of the server's own workers has ended. `why` tells people; `counted` as in AttemptLost.
  // When kMaxFailedStarts in a row have ended before they reported, compilations that no other worker could do fail
  // with UNAVAILABLE, and later ones at once, until one reports; `last_words` is what this one wrote, if anything.
  void LocalWorkerEnded(absl::string_view worker_id, absl::string_view why,
                        absl::string_view last_words, bool counted);

  // --- What is ---

  // With the names of the caller's jobs alone; who holds a device everybody sees.
  std::vector<v1::Device> Devices(const Caller& caller);
  std::vector<v1::Worker> Workers(const Caller& caller);
  // OK if a device that is meant could run the program; or if none is known and any would do: one may come.
  // NOT_FOUND when no device of that name is known, or none matches, with what there is; errors of CheckCanRun.
  absl::Status CheckSomeDeviceFits(const DeviceNeed& need);
  // PeerRegistry::ChangeLabels, stored. UNAVAILABLE when it could not be stored yet.
  absl::StatusOr<Labels> ChangeLabels(const Caller& caller, absl::string_view device,
                                      const Labels& given, absl::Span<const std::string> removed);
  // Compilations that wait or are worked on; those that share an attempt count once. At least 1 while the server's
  // own workers do not start: nobody waits for them, and yet they are to be tried again.
  int CompilationsWanted();
  // What the workers that are there compile for; of several for a family, one's fingerprint.
  TargetFingerprints WorkersTargets();
  absl::flat_hash_set<Digest> NeededBlobs();
  v1::ServerCounters Counters();
  // Adds what there is of jobs, devices and workers, and what lacks of store, queue and workers.
  void AddStatus(v1::ServerStatus* status);
  const JobTally& tally() const { return tally_; }
  // The last error of the store, if it has stored nothing since.
  absl::Status StoreRefusal() const { return writer_.refusal(); }
  const JobWriter::Tally& StoreTally() const { return writer_.tally(); }
  void CountCacheHit();

  // Does what is due; returns when to call again at the latest.
  absl::Duration Tick();

 private:
  class Section;

  Dispatcher(Parts parts, Options options);

  absl::Status Recover();
  absl::Status RecoverDevices();
  absl::Status RecoverUsedTime();

  absl::Duration TimeOfOwner(HeldKind kind) const {
    return kind == HeldKind::kWorker ? options_.compile_time_of_owner
                                     : options_.device_time_of_owner;
  }
  // RESOURCE_EXHAUSTED, with how much of what, and when there is room again.
  absl::Status CheckUsedTime(const JobRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountUsedTime(const EndedJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Moves one job, in memory; the end of the section stores it, and wakes its watchers and its holder. False when
  // the job's rules refuse the event, as they do a late or repeated report.
  bool Transit(absl::string_view id, const JobEvent& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves every job of an attempt. False when one refused.
  bool TransitAttempt(absl::string_view attempt_id, const JobEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What the history is to keep of a benchmark that has just succeeded on a device of `holder`.
  v1::HistoryEntry EntryOf(absl::string_view holder, const JobRecord& record)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Another server has changed a job: what is stored holds.
  void Overtaken(absl::string_view id, absl::optional<JobRecord> stored);
  // From now on, changes get revisions above those of all jobs. Waits for the store.
  absl::Status ReserveRevisions();
  int64_t NextRevision() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The store did not take what was changed: `keys` are to be told when it does. Returns how long to wait with the
  // next try.
  absl::Duration StoreRefused(const absl::Status& status, std::vector<std::string> keys);
  // Loses all attempts of a holder, a key of names.h.
  void LoseAttempts(absl::string_view holder, absl::string_view why, bool counted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // After a report: loses attempts that the holder should know of and does not report.
  void LoseUnreported(const Report& report, bool is_new_instance, bool is_up_to_date)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::string> JobsHeldBy(absl::string_view peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Puts a peer into the view, which is good until the next change of it.
  void View(const std::string& key, const RegisteredPeer& peer, FleetView& fleet)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  FleetView ViewFleet() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Why it waits, with all names. Of a job for any device or for a worker, as it was within the last second: many who watch
  // ask for the same.
  v1::WaitReason WhyWaiting(const WaitingJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How many leases a peer has, those that nobody wants any more too.
  int TakenPlaces(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The first of the jobs that share a lease, if the peer has it.
  const LiveJob* HeldBy(absl::string_view peer, absl::string_view lease)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Null: nothing was decided about it.
  const DeviceStanding* StandingOf(absl::string_view device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What it may be given now.
  Opening OpeningOfDevice(absl::string_view device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // It may be given what it might not before.
  void LookAgainAt(absl::string_view device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // In memory; the end of the section stores it. Errors of ApplyToStanding.
  absl::Status MoveStanding(const std::string& device, const StandingEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Another server has changed it: what is stored holds.
  void StandingOvertaken(DeviceStanding stored);
  void ShowAvailability(const Caller& caller, v1::Device* device)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<absl::optional<v1::Reservation>> EarlierReservation(const ReservationRecord& like)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What an event that ends an attempt of the job says of its device, if anything.
  absl::optional<StandingEvent> JudgeAttempt(const JobRecord& record, const JobEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ShowHealth(v1::Device* device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MakesProbes() const {
    return parts_.probes != nullptr && options_.probe_every < absl::InfiniteDuration();
  }
  // When a device was probed last, or, before its first probe, when it came; monotonic.
  struct LastProbe {
    absl::Duration at;
    bool is_first = true;
  };
  absl::Duration ProbeDueAt(const std::string& device, const LastProbe& last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Begins to probe devices that are idle and due.
  void LookForProbes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A probe first runs its program, whose outputs are checked, and then measures it.
  void StartProbe(const std::string& device, bool measures) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ProbeEnded(const JobRecord& ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Offer {
    std::shared_ptr<const AgentOfferRecord> record;
    // Of what it is for.
    absl::optional<Selector> selector;  // None: a device, by its id, or any.
    bool IsFor(const RegisteredPeer& agent) const;
  };
  std::vector<RolloutAgent> AgentsFor(const Offer& offer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells agents of offers, and no longer of others, as they stand now. Looks at all agents that take offers.
  void PlanRollouts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same within a moment, once for all who come meanwhile.
  void PlanRolloutsSoon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // That the peer is told of; null: none.
  std::shared_ptr<const AgentOfferRecord> OfferFor(absl::string_view peer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string DesiredVersionOf(absl::string_view peer, std::vector<std::string> attempts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Whether a new one may be made.
  absl::Status CheckReservation(const Caller& caller, const ReservationRecord& record)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Devices of which a reservation has begun or ended are looked at again.
  void PassEdges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetReservations() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Gives waiting jobs to whoever is free.
  void Schedule() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives a peer what it has places for. False when it has none left, or is not there.
  bool Fill(const std::string& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Assign(const std::string& job_id, const std::string& peer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int Demand() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Keys waiting compilations anew that are for another compiler than the server's own, which compiles for
  // `targets`.
  void RekeyCompilations(const TargetFingerprints& targets) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Rekey(const std::string& job_id, const std::string& fingerprint)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // While the server's own workers do not start: of these waiting compilations, keys those anew that a worker which
  // is there could do, and fails the others that none could.
  void GiveUpCompilations(const std::vector<std::string>& job_ids)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets a waiting compilation take part in an attempt of its group, if there is one.
  void JoinGroup(const std::string& job_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Finds results that cannot be true or are not complete here, which are failures then. Waits for disks.
  void CheckResults(Report& report);
  // One that was stopped without being told to counts as an attempt, unless its holder leaves.
  void TakeLease(absl::string_view peer, LeaseReport& lease, bool is_leaving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Puts an attempt's assignment into assignments_, or fails it. Waits for disks.
  void MakeAssignment(const JobRecord& record);

  void PassDeadlines() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LoseSilentHolders() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetOldPeers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets go of what is held of them.
  void Forgotten(const std::vector<PeerRegistry::Forgotten>& forgotten)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Waits for the store.
  void ForgetOldJobs();
  absl::Duration UntilNextTick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When Tick is needed earlier than whoever calls it was told.
  absl::optional<absl::Duration> EarlierTick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsHolderLost(absl::string_view holder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Parts parts_;
  const Options options_;
  const absl::Duration started_at_;  // Monotonic.
  JobWriter writer_;
  JobTally tally_;

  absl::Mutex mu_;
  int64_t next_revision_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t end_of_revisions_ ABSL_GUARDED_BY(mu_) = 0;
  LiveJobs live_ ABSL_GUARDED_BY(mu_);
  // Of jobs that have ended, by what they held, where that has a limit.
  std::map<HeldKind, UsedTime> used_time_ ABSL_GUARDED_BY(mu_);
  PeerRegistry peers_ ABSL_GUARDED_BY(mu_);
  absl::btree_set<std::string> to_fill_ ABSL_GUARDED_BY(mu_);  // Peers that may have come free.
  FreePeers free_ ABSL_GUARDED_BY(mu_);                        // All others that may have places.
  // Where a device was found last, by what was named; where to look first.
  absl::flat_hash_map<std::string, std::string> fitting_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, DeviceStanding> standings_ ABSL_GUARDED_BY(mu_);
  Reservations reservations_ ABSL_GUARDED_BY(mu_);
  absl::Time edges_passed_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // Wall clock.
  // By device: of all that were there, and the jobs of probes under way.
  absl::flat_hash_map<std::string, LastProbe> probed_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::string> probing_ ABSL_GUARDED_BY(mu_);
  absl::Duration next_probes_ ABSL_GUARDED_BY(mu_);  // Monotonic; LookForProbes.
  // Assignments of running attempts; made when first asked for, and again after a restart.
  absl::btree_map<std::string, std::shared_ptr<const Assignment>> assignments_ ABSL_GUARDED_BY(mu_);
  v1::ServerCounters counters_ ABSL_GUARDED_BY(mu_);
  // WhyWaiting's, by what jobs need; all found since then, monotonic.
  absl::flat_hash_map<std::string, v1::WaitReason> reasons_ ABSL_GUARDED_BY(mu_);
  absl::Duration reasons_since_ ABSL_GUARDED_BY(mu_);
  // Keys to notify when what was changed is stored.
  std::vector<std::string> changed_ ABSL_GUARDED_BY(mu_);
  int told_demand_ ABSL_GUARDED_BY(mu_) = 0;
  std::string log_level_of_peers_ ABSL_GUARDED_BY(mu_);
  std::vector<Offer> offers_ ABSL_GUARDED_BY(mu_);
  // By peer.
  absl::flat_hash_map<std::string, std::shared_ptr<const AgentOfferRecord>> told_
      ABSL_GUARDED_BY(mu_);
  // How many of the server's own workers ended before they reported, since one did; of the last, how and what it said.
  int failed_starts_ ABSL_GUARDED_BY(mu_) = 0;
  std::string failed_start_ ABSL_GUARDED_BY(mu_);
  std::string last_words_ ABSL_GUARDED_BY(mu_);
  absl::Duration next_tick_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();  // Monotonic.
  absl::Duration next_cleaning_ ABSL_GUARDED_BY(mu_);                         // Monotonic.
  absl::Duration next_plan_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();  // Of rollouts.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_DISPATCHER_H_
