// A job's lease as lists show it.
#ifndef SLIPWAY_SERVER_JOBS_SHOWN_LEASE_H_
#define SLIPWAY_SERVER_JOBS_SHOWN_LEASE_H_

#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// What a job is, as lists call it.
v1::Lease::Kind LeaseKindOf(const v1::Job& job);

// Of a job that has a device. `is_named`: with the job's id, for those alone who may touch it; a probe has none.
v1::Lease ShowLease(const JobRecord& record, bool is_named);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_SHOWN_LEASE_H_
