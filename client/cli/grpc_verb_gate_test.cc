// `slipway gate` against a fake server that keeps a history and cannot run anything.
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/testing/grpc_fake_server.h"
#include "core/base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::FakeBehaviour;
using ::slipway::testing::FakeServer;
using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int kPassed = 0;
constexpr int kRegressed = 1;
constexpr int kWrongCall = 2;
constexpr int kNoVerdict = 4;

class VerbGateTest : public ::testing::Test {
 protected:
  int Command(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    Environment environment = {
        .out = out,
        .err = err,
        .executable = "/nowhere/client/slipway",
        .variable =
            [this](const std::string& name) {
              return name == "SLIPWAY_SERVER" ? server_.address() : std::string();
            },
    };
    const ExitCode code = RunCommand(environment, arguments);
    out_ = out.str();
    err_ = err.str();
    return static_cast<int>(code);
  }
  int Gate(const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"gate", "net.onnx", "--baseline=baseline=main"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Command(arguments);
  }

  // A result a day, newest first, about `p50_ns` by 0.1 % in turns.
  void Add(int first_day, int days, const std::string& artifact, const std::string& key,
           const std::string& value, double p50_ns) {
    server_.Configure([&](FakeBehaviour& b) {
      for (int i = 0; i < days; ++i) {
        v1::HistoryEntry entry;
        entry.set_id(absl::StrCat("01J", artifact, first_day + i));
        entry.set_model("net.onnx");
        entry.set_target("x86-64-v3-linux");
        entry.mutable_device()->set_id("board");
        entry.mutable_manifest()->set_sha256(Digest::Of(artifact).hex());
        entry.mutable_manifest()->set_size_bytes(8);
        v1::Tag& tag = *entry.add_tags();
        tag.set_key(key);
        tag.set_value(value);
        const double ns = p50_ns * (i % 2 == 0 ? 1.001 : 0.999);
        entry.mutable_summary()->set_count(1);
        entry.mutable_summary()->set_min_ns(ns);
        entry.mutable_summary()->set_p50_ns(ns);
        entry.mutable_summary()->set_p90_ns(ns);
        entry.mutable_summary()->set_max_ns(ns);
        entry.mutable_result()->set_iterations_per_sample(1);
        entry.mutable_result()->set_threads(1);
        entry.mutable_result()->add_samples_ns(static_cast<int64_t>(ns));
        const int64_t time = absl::ToUnixNanos(absl::FromUnixSeconds(1767225600) +
                                               absl::Hours(24 * (first_day + i)));
        entry.set_create_time_ns(time);
        entry.set_end_time_ns(time);
        b.history.insert(b.history.begin(), entry);
      }
    });
  }

  FakeServer server_;
  std::string out_, err_;
};

TEST_F(VerbGateTest, AHistoryThatTellsDecides) {
  Add(0, 20, "a", "baseline", "main", 1000);
  Add(20, 4, "b", "commit", "good", 1000);
  EXPECT_EQ(Gate({}), kPassed) << err_;
  EXPECT_THAT(out_, HasSubstr("net.onnx for x86-64-v3-linux on board, 1 thread\n"));
  EXPECT_THAT(out_, EndsWith("passed: a regression of 3 % is excluded\n"));
  EXPECT_EQ(server_.last_history().model(), "net.onnx");

  Add(24, 4, "c", "commit", "bad", 1030);
  // The server has no artifacts, so that nothing can be timed in turns.
  EXPECT_EQ(Gate({"--json"}), kRegressed);
  EXPECT_THAT(err_,
              HasSubstr("slipway: error: \"net.onnx\" on \"board\" is slower than its baseline "
                        "\"baseline=main\"\n"));
  const absl::StatusOr<Json> json = ParseJson(out_);
  ASSERT_TRUE(json.ok()) << out_;
  EXPECT_EQ((*json)["verdict"], "regressed");
  EXPECT_EQ((*json)["not_timed"], "the server has the artifact of the baseline no more");
  EXPECT_EQ((*json)["candidate"]["results"].size(), 4u);
  EXPECT_EQ((*json)["max_regression"], 0.03);

  EXPECT_EQ(Gate({"--candidate=commit=good"}), kPassed) << out_;
  EXPECT_THAT(out_, HasSubstr("candidate  commit=good"));
  EXPECT_EQ(server_.last_history().tags(0).value(), "good");
  EXPECT_EQ(Gate({"--max-regression=10%"}), kPassed) << out_;
}

TEST_F(VerbGateTest, WhatIsNotKnownIsNoVerdictOrPassesWhereThatIsWanted) {
  Add(0, 20, "a", "baseline", "main", 1000);
  Add(20, 1, "b", "commit", "one", 1100);
  EXPECT_EQ(Gate({}), kNoVerdict);
  EXPECT_THAT(
      out_, HasSubstr("not timed in turns: the server has the artifact of the baseline no more\n"));
  EXPECT_THAT(out_, HasSubstr("about 2 sittings of it"));
  EXPECT_THAT(err_, HasSubstr("is not known"));
  EXPECT_EQ(Gate({"--undecided=pass"}), kPassed) << err_;
  EXPECT_THAT(out_, HasSubstr("undecided: "));
  EXPECT_EQ(Gate({"--no-measure"}), kNoVerdict);
  EXPECT_THAT(out_, HasSubstr("not timed in turns: --no-measure\n"));
}

TEST_F(VerbGateTest, OneArtifactPasses) {
  Add(0, 20, "a", "baseline", "main", 1000);
  Add(20, 1, "a", "commit", "one", 1100);
  EXPECT_EQ(Gate({}), kPassed) << err_;
  EXPECT_THAT(out_, EndsWith("passed: both are one artifact; what differs is the machine\n"));
}

TEST_F(VerbGateTest, WithoutResultsThereIsNoVerdict) {
  EXPECT_EQ(Gate({}), kNoVerdict);
  EXPECT_THAT(err_,
              HasSubstr("model \"net.onnx\", of which \"slipway history\" shows what there is: "
                        "there are no results of a candidate: none without the tag "
                        "\"baseline=main\""));
  Add(20, 1, "b", "commit", "one", 1100);
  EXPECT_EQ(Gate({"--since=1h"}), kNoVerdict);
  EXPECT_THAT(err_, HasSubstr("there are no results of a baseline"));
  EXPECT_GT(server_.last_history().since_ns(), 0);
}

TEST_F(VerbGateTest, AsksForWhatItIsAsked) {
  EXPECT_EQ(Gate({"--device=board", "--target=x86-64-v3-linux", "--threads=2"}), kNoVerdict);
  const v1::ListHistoryRequest request = server_.last_history();
  EXPECT_EQ(request.device(), "board");
  EXPECT_EQ(request.target(), "x86-64-v3-linux");
  EXPECT_EQ(request.threads(), 2);
  EXPECT_EQ(request.tags_size(), 0);
}

TEST_F(VerbGateTest, IsCalledRightly) {
  EXPECT_EQ(Command({"gate", "--baseline=baseline=main"}), kWrongCall);
  EXPECT_EQ(Command({"gate", "net.onnx"}), kWrongCall);
  EXPECT_THAT(err_, HasSubstr("flag \"--baseline\" is required"));
  EXPECT_EQ(Command({"gate", "net.onnx", "--baseline=main"}), kWrongCall);
  EXPECT_THAT(err_, HasSubstr("flag \"--baseline\": "));
  for (const char* const flag : {"--candidate=x", "--max-regression=3", "--max-regression=51%",
                                 "--undecided=maybe", "--target=pdp-11", "--threads=-1"}) {
    EXPECT_EQ(Gate({flag}), kWrongCall) << flag;
  }
  EXPECT_EQ(Command({"gate", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("4: undecided or not judged"));
}

}  // namespace
}  // namespace slipway::cli
