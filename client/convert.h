// The server's answers as values of client/types.h. A server may say anything: what does not fit is an error.
#ifndef SLIPWAY_CLIENT_CONVERT_H_
#define SLIPWAY_CLIENT_CONVERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/server_status.h"
#include "client/types.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/peaks.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"

namespace slipway {

// INTERNAL, naming the job and the field, when the server broke the protocol.
absl::StatusOr<Job> JobFromProto(const v1::Job& proto);
absl::StatusOr<Device> DeviceFromProto(const v1::Device& proto);
// INTERNAL, naming the device, for a time that ends before it begins.
absl::StatusOr<Reservation> ReservationFromProto(const v1::Reservation& proto);
absl::StatusOr<Queue> QueueFromProto(const v1::ListQueueResponse& proto);
ServerInfo ServerInfoFromProto(const v1::ServerInfo& proto);
// Sums that cannot be, below zero, are zero.
ServerStatus ServerStatusFromProto(const v1::ServerStatus& proto);
// INTERNAL for one without samples, or with one that took no time.
absl::StatusOr<BenchmarkResult> BenchmarkFromProto(const v1::BenchmarkResult& proto);
// The same, also without samples.
absl::StatusOr<BenchmarkResult> UncheckedBenchmarkFromProto(const v1::BenchmarkResult& proto);
// INTERNAL, naming the entry and the field, when the server broke the protocol.
absl::StatusOr<HistoryEntry> HistoryEntryFromProto(const v1::HistoryEntry& proto);
v1::Job::State ToProto(JobState state);
v1::Job::Kind ToProto(JobKind kind);
// Infinite past for 0.
absl::Time TimeFromNs(int64_t ns);
AttemptTimings TimingsFromProto(const v1::AttemptTimings& proto);
// What a benchmark is asked for.
v1::Scenario ToProto(const Scenario& scenario);
v1::Settling ToProto(const Settling& settling);
AcceleratorState AcceleratorFromProto(const v1::AcceleratorState& proto);
MachineState MachineFromProto(const v1::MachineState& proto);
// Peaks that cannot be are none.
std::vector<MachinePeaks> PeaksFromProto(const v1::DevicePeaks& proto);
std::vector<AcceleratorPeaks> AcceleratorPeaksFromProto(const v1::DevicePeaks& proto);
std::vector<StepTime> StepTimesFromProto(
    const google::protobuf::RepeatedPtrField<v1::StepTime>& protos);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_CONVERT_H_
