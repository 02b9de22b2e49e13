// Every number the server is limited by. What an operator may change stands in server_options.h and
// takes its default from here.
#ifndef SLIPWAY_SERVER_LIMITS_H_
#define SLIPWAY_SERVER_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace slipway::server {

// Requests.
inline constexpr int kMaxRequestIdBytes = 128;
inline constexpr int kMaxPeerIdBytes = 64;
inline constexpr int kMaxInstanceIdBytes = 128;
inline constexpr int kMaxVersionBytes = 128;
inline constexpr int kMaxDisplayNameBytes = 255;
inline constexpr int kMaxModelFiles = 1'000;
inline constexpr int kMaxFileNameBytes = 255;
inline constexpr int kMaxDimensionBindings = 1'000;
inline constexpr int kMaxDimensionValue = 0x7fffffff;
inline constexpr int kMaxSymbolBytes = 255;
// CompileOptions.keep.
inline constexpr int kMaxKeptNames = 256;
inline constexpr int kMaxKeptNameBytes = 1024;
// CompileOptions.without.
inline constexpr int kMaxPassesWithout = 64;
// CompileOptions.ranges.
inline constexpr int kMaxRanges = 1024;
// CompileOptions.schedules.
inline constexpr int kMaxSchedulesBytes = 1 << 20;
inline constexpr int kMaxInputs = 1'000;
inline constexpr int kMaxThreads = 1'024;
// Threads of a step that a benchmark's result may tell of.
inline constexpr int kMaxToldThreads = 64;
inline constexpr int kMaxDigestsInFindMissing = 10'000;
inline constexpr int kMaxPageSize = 1'000;
inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxAttemptsReported = 1'000;
inline constexpr int64_t kMaxPieceBytes = 1 << 20;
// A page of jobs ends here, with one job at least: by itself gRPC takes messages of up to 4 MiB.
inline constexpr int64_t kMaxPageBytes = 4 << 20;
// Rows that are looked at for a page of a list with a filter: while they are read, nothing is stored.
inline constexpr int64_t kMaxPageRows = 2'000;
inline constexpr int kMaxSubjectBytes = 128;

// What peers report. A bound for a field by its name, and so for every field there will be, stands in
// server/peers/bounds.cc; these are those it takes for what has no bound of its own. An honest peer stays far below.
inline constexpr int64_t kMaxReportedTextBytes = 4 << 10;
inline constexpr int kMaxReportedEntries = 10'000;
// All of a result. Outputs that travel inline (8 MiB), a printed graph (16 MiB) or a million samples fit; together with its
// specification a job must stay below gRPC's limit (core/rpc/grpc_settings.h).
inline constexpr int64_t kMaxResultBytes = 24 << 20;
// What is said to people of a failure; its log has a limit of its own (core/wire/status_proto.h).
inline constexpr int kMaxErrorMessageBytes = 16 << 10;
inline constexpr int kMaxStageBytes = 255;
inline constexpr int kMaxAttemptIdBytes = 64;
inline constexpr int kMaxDescriptionBytes = 1'024;
inline constexpr int kMaxWorkerCapacity = 1'000;

// Transfers into the server that hold a file open; of more, those that were not used for the longest time let go of
// theirs, and open it again with the next piece. Far below the descriptors a process has by default, 1,024.
inline constexpr int kMaxOpenUploads = 256;
inline constexpr int kMaxOpenUploadsOfOwner = 64;
// They also do after this time without a piece.
inline constexpr absl::Duration kUploadIdle = absl::Seconds(10);
// Blobs being read at a time: each holds a file open, and a piece, which gRPC holds once more.
inline constexpr int kMaxOpenDownloads = 1'024;
inline constexpr int kMaxOpenDownloadsOfOwner = 512;
// All pieces together; the least is worth a message of its own.
inline constexpr int64_t kDownloadBytes = 64 << 20;
inline constexpr int64_t kMinPieceBytes = 16 << 10;
// What has come of a transfer is kept for so long, for its sender to resume; less when there is no room.
inline constexpr absl::Duration kUnfinishedRetention = absl::Hours(1);

// Blobs sent along with an assignment.
inline constexpr int64_t kMaxInlineBlobBytes = 64 << 10;
inline constexpr int64_t kMaxInlineBlobsBytes = 1 << 20;

// Jobs.
inline constexpr int kMaxPriority = 1'000;  // And the negative.
// Of users, by default: they may let others go first.
inline constexpr int kDefaultMaxUserPriority = 0;
inline constexpr int kMaxAttempts = 3;
inline constexpr absl::Duration kFirstBackoff = absl::Milliseconds(250);
inline constexpr int kBackoffFactor = 4;
// Not shorter than what follows from these.
inline constexpr absl::Duration kLongestBackoff = absl::Seconds(5);
inline constexpr absl::Duration kMaxDeadline = absl::Hours(24);
inline constexpr absl::Duration kDefaultQueueDeadline = absl::Hours(1);
inline constexpr absl::Duration kDefaultRunDeadline = absl::Minutes(10);
inline constexpr absl::Duration kDefaultTotalDeadline = absl::Hours(2);
// The agent or worker ends an attempt at its deadline and can say more about it than the server, which
// therefore waits this much longer.
inline constexpr absl::Duration kRunDeadlineGrace = absl::Seconds(2);
inline constexpr absl::Duration kDefaultJobRetention = absl::Hours(24 * 7);
inline constexpr int64_t kDefaultMaxQueuedJobs = 50'000;
// Specifications of jobs that have not ended are held in memory.
inline constexpr int64_t kMaxLiveSpecBytes = 512 << 20;
// Of one owner's; others always have the rest.
inline constexpr int64_t kMaxLiveSpecBytesOfOwner = 384 << 20;
// A specification that has more gives up the contents of its inputs when its job has ended: nobody needs them any more.
inline constexpr int64_t kMaxKeptSpecBytes = 64 << 10;
// What the jobs of an owner that have ended take in the database, before the oldest are forgotten ahead of their time. A week of a
// job a second without outputs takes some 600 MB.
inline constexpr int64_t kMaxEndedBytesOfOwner = int64_t{4} << 30;

// What is kept of an owner's benchmarks that succeeded, before the oldest are dropped.
inline constexpr int64_t kMaxHistoryEntriesOfOwner = 100'000;
inline constexpr int64_t kMaxHistoryBytesOfOwner = int64_t{512} << 20;

// The time for which an owner's jobs may hold workers and devices counts over so long. An operator sets it; by default it has no limit:
// whoever waits shares what there is with the others by turns.
inline constexpr absl::Duration kUsedTimeWindow = absl::Hours(24);

// Sizes an operator may change.
inline constexpr int64_t kDefaultMaxBlobBytes = int64_t{8} << 30;
inline constexpr int64_t kDefaultMaxModelBytes = int64_t{8} << 30;
inline constexpr int64_t kDefaultMaxInputBytes = int64_t{1} << 30;
inline constexpr int64_t kDefaultBlobQuotaBytes = int64_t{50} << 30;

// Agents and workers.
inline constexpr absl::Duration kMaxPark = absl::Seconds(30);
// How long a process with an open id may be silent before another instance may take the id over.
inline constexpr absl::Duration kInstanceGrace = absl::Seconds(1);
inline constexpr absl::Duration kDefaultSilence = absl::Seconds(20);
// Agents and workers known at a time.
inline constexpr int kMaxPeers = 10'000;
// Workers silent for this long are forgotten.
inline constexpr absl::Duration kWorkerRetention = absl::Hours(1);
// Devices silent for this long are forgotten.
inline constexpr absl::Duration kDeviceRetention = absl::Hours(24 * 30);
// Where there are kMaxPeers, those silent longest are forgotten earlier, but not before this.
inline constexpr absl::Duration kLeastPeerRetention = absl::Minutes(10);

// Reservations. An operator sets the first two, of users; the others hold for administrators, too.
inline constexpr absl::Duration kDefaultMaxReservation = absl::Hours(24);
inline constexpr int kDefaultMaxReservationsOfOwner = 10;
inline constexpr absl::Duration kMinReservation = absl::Seconds(1);
inline constexpr absl::Duration kMaxReservation = absl::Hours(24 * 30);
inline constexpr absl::Duration kMaxReservationAhead = absl::Hours(24 * 90);
inline constexpr int kMaxReservations = 10'000;
// Those that have ended are known for so long, of one owner so many: a wall clock may jump ahead and back.
inline constexpr absl::Duration kReservationRetention = absl::Hours(24 * 7);
inline constexpr int kMaxKeptReservationsOfOwner = 2'000;
// What others see of a device or reservation, in the words of whoever made it so.
inline constexpr int kMaxPurposeBytes = 255;

// Probes. An operator sets the first two.
inline constexpr absl::Duration kDefaultProbeEvery = absl::Minutes(15);
inline constexpr int kDefaultQuarantineAfter = 5;
// After a failure, and in quarantine; less often if an operator says so.
inline constexpr absl::Duration kProbeDoubtedEvery = absl::Minutes(1);
// So many that pass in a row end a quarantine, and so many say what is usual.
inline constexpr int kPassesToReturn = 2;
inline constexpr int kUsualProbes = 5;
// Devices are looked over for whose turn it is; so many are probed at a time at most.
inline constexpr absl::Duration kLookForProbesEvery = absl::Seconds(5);
inline constexpr int kMaxProbes = 32;
// A probe begins at once or not at all, and takes much less than this.
inline constexpr absl::Duration kProbeQueueDeadline = absl::Seconds(5);
inline constexpr absl::Duration kProbeRunDeadline = absl::Seconds(30);
inline constexpr int kProbeSamples = 20;

// When the server's own workers have ended so often in a row before they reported, nobody waits for them any more.
inline constexpr int kMaxFailedStarts = 3;
// Of the last words of one that are kept with every compilation that fails for it.
inline constexpr int kMaxLastWordsBytes = 4 << 10;

// Identities.
inline constexpr int kMaxIdentities = 10'000;
inline constexpr int kMaxOpenInvitations = 1'000;
inline constexpr absl::Duration kMinSecretLifetime = absl::Minutes(1);
inline constexpr absl::Duration kMaxInvitationLifetime = absl::Hours(24 * 30);
inline constexpr absl::Duration kDefaultInvitationLifetime = absl::Hours(24);
inline constexpr absl::Duration kMaxTokenLifetime = absl::Hours(24 * 365 * 10);
inline constexpr absl::Duration kDefaultTokenLifetime = absl::Hours(24 * 90);
// Whoever has joined renews his certificate long before; a process uses the one that it began with. Who is shut out is so at once, whatever his
// certificate says.
inline constexpr absl::Duration kCertificateLifetime = absl::Hours(24 * 366);
// What a stranger may send in place of a code, token or request for a certificate.
inline constexpr int kMaxSecretBytes = 64;
inline constexpr int kMaxCertificateRequestBytes = 4 << 10;

// Connections let in at a time, as far as the process may have descriptors. An idle one takes 14 KB of memory, 27 KB
// with TLS.
inline constexpr int kDefaultMaxConnections = 8'000;
// How many of them one identity may have, and one address: ListenerOptionsFor. What calls over them are a flood: core/rpc/call_flood.h.
// Of the memory that the process may have: the share from which on it begins nothing new. What is under way needs the rest.
inline constexpr double kSoftMemoryShare = 0.8;
// How much it has is read as often; and as often what was freed is given back, above the share.
inline constexpr absl::Duration kMemoryReadEvery = absl::Milliseconds(100);
inline constexpr absl::Duration kMemoryGiveBackEvery = absl::Seconds(5);

// The server knocks at its own door as often; when it has let nobody in for so many times, it ends, for whoever keeps it to start it again.
inline constexpr absl::Duration kListenerCheckEvery = absl::Seconds(10);
inline constexpr int kMaxUnansweredKnocks = 6;

// What it takes to let an agent in over TLS, with room for what else is to be done meanwhile, and the longest time agents are asked to spread
// their return over.
inline constexpr absl::Duration kReturnTimeOfAgent = absl::Milliseconds(4);
inline constexpr absl::Duration kLongestReturnTime = absl::Minutes(1);

// Work done for calls at a time. Calls of agents and workers, which end what has been begun, have threads of their own, so that whoever asks for
// more than can be done holds up himself. Most of the time they wait for what others store.
inline constexpr int kHandlerThreads = 4;
inline constexpr int kPeerThreads = 16;
// Calls that may wait for such a thread.
inline constexpr int kMaxWaitingCalls = 10'000;

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_LIMITS_H_
