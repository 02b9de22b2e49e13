// The queue as it is shown.
#include <string>
#include <vector>

#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server::testing {
namespace {

using ::testing::ElementsAre;
using v1::WaitReason;

class DispatcherQueueTest : public DispatcherTest {
 protected:
  std::string AcceptRunOf(const std::string& owner, const std::string& request) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->set_owner(owner);
    record.mutable_job()->set_subject("net.onnx");
    record.mutable_job()->mutable_run();
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept({.owner = owner}, record)->job().id();
  }
  v1::ListQueueResponse Queue(const Caller& caller, int limit = 100, const std::string& device = "",
                              bool own = false) {
    v1::ListQueueRequest request;
    request.set_limit(limit);
    request.set_device(device);
    request.set_own(own);
    return dispatcher_->Queue(caller, request);
  }
  Job Waiting(const std::string& id, const Caller& caller) {
    Job job = Get(id);
    dispatcher_->ShowWaiting(caller, &job);
    return job;
  }
  const Caller ann_{.owner = "ann"};
};

TEST_F(DispatcherQueueTest, EverybodySeesWhatWaitsAndHisOwnByName) {
  const std::string holder = AcceptRunOf("bob", "0");
  Sync(Agent("d"));
  const std::string first = AcceptRunOf("ann", "1");
  AcceptRunOf("bob", "2");
  clock_.Advance(absl::Seconds(3));
  const v1::ListQueueResponse queue = Queue(ann_);
  EXPECT_EQ(queue.waiting(), 2);
  ASSERT_EQ(queue.jobs_size(), 2);
  // bob has a device.
  EXPECT_EQ(queue.jobs(0).job_id(), first);
  EXPECT_EQ(queue.jobs(0).subject(), "net.onnx");
  EXPECT_EQ(queue.jobs(0).queue_position(), 1);
  EXPECT_EQ(queue.jobs(0).kind(), v1::Lease::RUN);
  EXPECT_EQ(queue.jobs(0).target(), "x86-64-linux");
  EXPECT_EQ(absl::FromUnixNanos(queue.jobs(0).since_ns()), clock_.Now() - absl::Seconds(3));
  EXPECT_EQ(absl::FromUnixNanos(queue.jobs(0).until_ns()),
            clock_.Now() - absl::Seconds(3) + absl::Hours(1));
  EXPECT_EQ(queue.jobs(1).job_id() + queue.jobs(1).subject(), "");
  EXPECT_EQ(queue.jobs(1).owner(), "bob");
  EXPECT_EQ(queue.jobs(1).queue_position(), 2);
  for (const v1::QueuedJob& job : queue.jobs()) {
    EXPECT_EQ(job.reason().kind(), WaitReason::HELD);
    EXPECT_EQ(job.reason().lease().owner(), "bob");
    EXPECT_EQ(job.reason().lease().job_id(), "");
  }
  EXPECT_EQ(Queue({.owner = "bob"}).jobs(0).reason().lease().job_id(), holder);
  const v1::ListQueueResponse all = Queue({.owner = "root", .roles = {Role::kAdmin}});
  EXPECT_EQ(all.jobs(1).reason().lease().job_id(), holder);
  EXPECT_NE(all.jobs(1).job_id(), "");
}

TEST_F(DispatcherQueueTest, TheQueueIsBoundedAndFiltered) {
  AcceptRun("1", "d");
  AcceptRun("2", "d");
  AcceptRun("3");
  AcceptCompilation("4");
  AcceptRunOf("ann", "5");
  EXPECT_EQ(Queue(ann_).waiting(), 5);
  const v1::ListQueueResponse page = Queue(ann_, 2);
  EXPECT_EQ(page.jobs_size(), 2);
  EXPECT_EQ(page.waiting(), 5);
  EXPECT_EQ(Queue(ann_, 100, "d").waiting(), 2);
  EXPECT_EQ(Queue(ann_, 100, "", /*own=*/true).waiting(), 1);
  const v1::ListQueueResponse own = Queue(caller_);
  for (const v1::QueuedJob& job : own.jobs()) {
    EXPECT_EQ(job.reason().kind(),
              job.kind() == v1::Lease::COMPILATION ? WaitReason::NO_WORKER : WaitReason::NO_DEVICE);
  }
}

TEST_F(DispatcherQueueTest, APauseIsToldUntilItEnds) {
  const std::string id = AcceptRun("1");
  Sync(Agent("d"));
  Advance(kSilence);
  EXPECT_EQ(Queue(caller_).jobs(0).reason().kind(), WaitReason::PAUSES);
  EXPECT_EQ(Queue(caller_).jobs(0).queue_position(), 0);
  EXPECT_EQ(Waiting(id, caller_).wait_reason().until_ns(),
            absl::ToUnixNanos(clock_.Now() + kFirstBackoff));
  Advance(kFirstBackoff);
  EXPECT_EQ(Queue(caller_).jobs(0).reason().kind(), WaitReason::LOST);
}

TEST_F(DispatcherQueueTest, AJobThatIsReadSaysWhyItWaits) {
  const std::string holder = AcceptRunOf("bob", "0");
  Sync(Agent("d"));
  const std::string pinned = AcceptRun("1", "d");
  const std::string any = AcceptRun("2");
  for (const std::string& id : {pinned, any}) {
    const Job job = Waiting(id, caller_);
    EXPECT_EQ(job.queue_position(), 1);
    EXPECT_EQ(job.wait_reason().kind(), WaitReason::HELD);
    EXPECT_EQ(job.wait_reason().device(), "d");
    EXPECT_EQ(job.wait_reason().lease().job_id(), "");
  }
  // Of many for any device it is found once a second.
  Sync(Agent("e"));
  EXPECT_EQ(Get(any).assignee(), "e");
  const std::string next = AcceptRun("3");
  EXPECT_EQ(Waiting(next, caller_).wait_reason().device(), "d");
  EXPECT_EQ(Waiting(next, {.owner = "bob"}).wait_reason().lease().job_id(), holder);
  EXPECT_FALSE(Waiting(holder, caller_).has_wait_reason());
}

}  // namespace
}  // namespace slipway::server::testing
