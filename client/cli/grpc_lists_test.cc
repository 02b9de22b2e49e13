// Tags, lists of jobs, the history and records, against a fake server.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/cli/grpc_command_fixture.h"
#include "client/client.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/signed_statement.h"
#include "core/rpc/record_statement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::FakeBehaviour;
using ::slipway::testing::Json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CommandTest, TagsGoWithJobs) {
  for (const std::vector<std::string>& made : std::vector<std::vector<std::string>>{
           {"compile", model_}, {"run", slip_}, {"bench", slip_}}) {
    std::vector<std::string> call = made;
    call.insert(call.end(), {"--tag", "commit=1f", "--tag=branch=main"});
    ASSERT_EQ(Command(call), 0) << err_;
    const v1::Job job = server_.jobs().back();
    ASSERT_EQ(job.tags_size(), 2) << made[0];
    EXPECT_EQ(job.tags(0).key(), "branch");
    EXPECT_EQ(job.tags(1).value(), "1f");
  }
  EXPECT_THAT(out_, HasSubstr("tags     branch=main commit=1f\n"));
  EXPECT_EQ(CommandJson({"bench", slip_, "--tag=commit=1f"})["tags"]["commit"], "1f");
  EXPECT_EQ(CommandJson({"job", server_.jobs()[0].id()})["tags"]["branch"], "main");
  const size_t before = server_.jobs().size();
  EXPECT_EQ(Command({"compile", model_, "--tag", "a=1", "--tag", "a=2"}), 2);
  EXPECT_EQ(Command({"bench", slip_, "--tag", "a b=1"}), 2);
  EXPECT_EQ(Command({"run", slip_, "--tag", "commit=a\x07"}), 2);
  EXPECT_THAT(Error(), HasSubstr("flag \"--tag\": the value of tag \"commit\" has the byte 0x07 "
                                 "at byte 2; printable characters of ASCII wanted"));
  EXPECT_EQ(Command({"run", slip_, "--tag", "commit"}), 2);
  EXPECT_THAT(Error(), HasSubstr("tag \"commit\" has no value; KEY=VALUE wanted"));
  EXPECT_EQ(server_.jobs().size(), before);
}

TEST_F(CommandTest, JobsAreFilteredByTheServer) {
  ASSERT_EQ(Command({"jobs", "--state=running", "--state", "queued", "--kind=benchmark",
                     "--device=board-1", "--tag=commit=1f", "--subject=net", "--since=2h",
                     "--owner=bob"}),
            0)
      << err_;
  const v1::ListJobsRequest request = server_.last_list();
  EXPECT_THAT(request.states(), ElementsAre(v1::Job::RUNNING, v1::Job::QUEUED));
  EXPECT_THAT(request.kinds(), ElementsAre(v1::Job::BENCHMARK));
  EXPECT_EQ(request.device(), "board-1");
  EXPECT_EQ(request.tags(0).value(), "1f");
  EXPECT_EQ(request.subject(), "net");
  EXPECT_EQ(request.owner(), "bob");
  const absl::Duration ago = absl::Now() - absl::FromUnixNanos(request.since_ns());
  EXPECT_GE(ago, absl::Hours(2));
  EXPECT_LT(ago, absl::Hours(3));
  EXPECT_EQ(Command({"jobs", "--state=sleeping"}), 2);
  EXPECT_THAT(Error(), HasSubstr("flag \"--state\" takes queued, assigned, running, succeeded, "
                                 "failed, cancelled, not \"sleeping\""));
  EXPECT_EQ(Command({"jobs", "--kind=nap"}), 2);
  EXPECT_THAT(Error(), HasSubstr("takes compilation, run, benchmark, session, not \"nap\""));
  EXPECT_EQ(Command({"jobs", "--tag=commit"}), 2);
  EXPECT_EQ(Command({"jobs", "--watch", "--json"}), 2);
}

// One that cannot filter is not taken for one that has found these jobs.
TEST_F(CommandTest, AServerFromBeforeFiltersIsFound) {
  ASSERT_EQ(Command({"run", slip_, "--detach", "--tag=commit=1f"}), 0) << err_;
  EXPECT_EQ(Command({"jobs", "--kind=run", "--tag=commit=1f"}), 0) << err_;
  for (const char* const filter : {"--kind=session", "--tag=commit=2f", "--device=board-2",
                                   "--subject=net", "--owner=bob", "--since=1s"}) {
    EXPECT_EQ(Command({"jobs", filter}), 1) << filter;
    EXPECT_THAT(Error(), HasSubstr("the server is from before it could filter jobs")) << filter;
  }
}

// Until it is interrupted, through a server that goes away.
TEST_F(CommandTest, JobsAreWatched) {
  server_.Configure([](FakeBehaviour& b) { b.subject = "net.onnx"; });
  ASSERT_EQ(Command({"run", slip_, "--detach"}), 0) << err_;
  const std::string id = server_.jobs()[0].id();
  int lists_before = -1;
  EagerInterrupts interrupts([&] {
    // The second list is of what came since: by then the job was told.
    if (server_.last_list().since_ns() == 0) return false;
    if (lists_before < 0) {
      auto client = Client::Connect({.server = server_.address()});
      EXPECT_OK((*client)->CancelJob(id));
      server_.Configure([](FakeBehaviour& b) { b.unavailable_calls = 2; });
      lists_before = server_.lists();
    }
    // One may have been under way.
    return server_.lists() >= lists_before + 3;
  });
  interrupts_ = &interrupts;
  EXPECT_EQ(Command({"jobs", "--watch"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr(id + "  run          queued "));
  EXPECT_THAT(out_, HasSubstr(id + "  run          cancelled "));
  EXPECT_THAT(out_, HasSubstr("net.onnx\n"));
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2) << out_;
}

TEST_F(CommandTest, HistoryShowsWhatWasMeasured) {
  EXPECT_EQ(Command({"history"}), 0) << err_;
  EXPECT_EQ(out_, "no results\n");
  server_.Configure([](FakeBehaviour& b) {
    for (int i = 3; i > 0; --i) {
      v1::HistoryEntry entry;
      entry.set_id("01J" + std::to_string(i));
      entry.set_model("net.onnx");
      entry.set_target("x86-64-v3-linux");
      entry.mutable_device()->set_id("board-1");
      entry.mutable_manifest()->set_sha256(Digest::Of("artifact").hex());
      entry.mutable_manifest()->set_size_bytes(8);
      entry.mutable_summary()->set_count(1);
      entry.mutable_summary()->set_min_ns(i * 1'000);
      entry.mutable_summary()->set_p50_ns(i * 1'000);
      entry.mutable_summary()->set_p90_ns(i * 1'000);
      entry.mutable_summary()->set_max_ns(i * 1'000);
      entry.mutable_result()->set_iterations_per_sample(1);
      entry.mutable_result()->set_threads(1);
      entry.mutable_result()->add_samples_ns(i * 1'000);
      entry.set_create_time_ns(i);
      entry.set_end_time_ns(i);
      b.history.push_back(entry);
    }
  });
  ASSERT_EQ(Command({"history", "net.onnx", "--device=board-1", "--target=x86-64-v3-linux",
                     "--threads=1", "--tag=commit=1f", "--since=1h", "--owner=bob"}),
            0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("net.onnx for x86-64-v3-linux on board-1, 1 thread, 3 results\n"));
  EXPECT_THAT(out_, HasSubstr("▁▅█"));
  const v1::ListHistoryRequest request = server_.last_history();
  EXPECT_EQ(request.model(), "net.onnx");
  EXPECT_EQ(request.device(), "board-1");
  EXPECT_EQ(request.target(), "x86-64-v3-linux");
  EXPECT_EQ(request.threads(), 1);
  EXPECT_EQ(request.tags(0).key(), "commit");
  EXPECT_EQ(request.owner(), "bob");
  EXPECT_GT(request.since_ns(), 0);
  EXPECT_FALSE(request.with_samples());
  const Json json = CommandJson({"history", "--samples", "--limit=3"});
  EXPECT_TRUE(server_.last_history().with_samples());
  EXPECT_EQ(json["series"][0]["results"].size(), 3u);
  EXPECT_EQ(json["series"][0]["results"][0]["id"], "01J1");
  ASSERT_EQ(Command({"history", "--csv"}), 0);
  EXPECT_THAT(out_, StartsWith("id,ended_at,"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"history", "a", "b"},
                                             {"history", "--csv", "--json"},
                                             {"history", "--samples"},
                                             {"history", "--target=pdp-11"},
                                             {"history", "--tag=x"},
                                             {"history", "--limit=0"}}) {
    EXPECT_EQ(Command(wrong), 2) << wrong.back();
  }
}

// Written by one, checked by whoever trusts the authority.
TEST_F(CommandTest, RecordsAreWrittenAndVerified) {
  const absl::Time now = absl::Now();
  const auto authority = *CertificateAuthority::Create(now);
  const CertificateRequest request = *NewCertificateRequest();
  const auto signer = *StatementSigner::Create(
      request.key, *authority->SignSigner(request.request, now, absl::Hours(1)));
  v1::HistoryEntry entry;
  entry.set_id("01JX");
  entry.set_model("net.onnx");
  entry.mutable_manifest()->set_sha256(Digest::Of("artifact").hex());
  entry.mutable_manifest()->set_size_bytes(8);
  for (const auto set : {&v1::SampleSummary::set_min_ns, &v1::SampleSummary::set_p50_ns,
                         &v1::SampleSummary::set_p90_ns, &v1::SampleSummary::set_max_ns}) {
    (entry.mutable_summary()->*set)(1'500);
  }
  entry.mutable_result()->set_iterations_per_sample(1);
  entry.mutable_result()->add_samples_ns(1'500);
  server_.Configure(
      [&](FakeBehaviour& b) { b.record = *SignRecord(*signer, entry.SerializeAsString(), now); });
  const std::string file = JoinPath(folder_.path(), "net.record");
  ASSERT_EQ(Command({"record", "01JX", "-o", file}), 0) << err_;
  EXPECT_EQ(out_, "wrote " + file + "\n");
  EXPECT_EQ(Command({"record", "none", "-o", file}), 2);
  EXPECT_EQ(Command({"record", "01JX"}), 2);

  const std::string trusted = Write("authority.pem", authority->certificate());
  server_variable_ = "";  // No server is needed any more.
  ASSERT_EQ(Command({"verify", file, "--authority", trusted}), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("as its server signed it"), HasSubstr("1.50 us")));
  EXPECT_EQ(CommandJson({"verify", file, "--authority", trusted})["result"]["samples_ns"][0],
            1'500);

  const std::string other = Write("other.pem", (*CertificateAuthority::Create(now))->certificate());
  EXPECT_EQ(Command({"verify", file, "--authority", other}), 1);
  EXPECT_THAT(Error(), HasSubstr("the authority does not vouch for the record"));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(file, 1 << 20));
  const std::string cut = Write("cut.record", bytes.substr(0, bytes.size() - 7));
  EXPECT_EQ(Command({"verify", cut, "--authority", trusted}), 1);
  EXPECT_THAT(Error(), HasSubstr("the record is cut off"));
  std::string changed = bytes;
  changed[changed.find("net.onnx")] = 'N';
  EXPECT_EQ(Command({"verify", Write("changed.record", changed), "--authority", trusted}), 1);
  EXPECT_THAT(Error(), HasSubstr("the record was altered"));
  EXPECT_EQ(Command({"verify", model_, "--authority", trusted}), 1);
  EXPECT_THAT(Error(), HasSubstr("it is no record"));
  EXPECT_EQ(Command({"verify", file}), 2);
  EXPECT_THAT(Error(), HasSubstr("whom to trust is missing"));
  EXPECT_EQ(Command({"verify", file, "--authority", model_}), 2);
  EXPECT_THAT(Error(), HasSubstr("has no certificate in PEM"));
}

}  // namespace
}  // namespace slipway::cli
