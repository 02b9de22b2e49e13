#include "tests/conformance/run_cases.h"

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

CaseResult Behave(const BackendCase& backend_case) {
  if (backend_case.name == "crashes") raise(SIGKILL);
  if (backend_case.name == "exits") _exit(3);
  while (backend_case.name == "hangs") pause();
  CaseResult result;
  result.op = "Add";
  result.verdict = CaseResult::Verdict::kUnsupported;
  result.reason = backend_case.name == "says much" ? std::string(100'000, 'x') : "no reason";
  return result;
}

TEST(RunCasesTest, WhatGoesWrongIsOneResult) {
  const std::vector<BackendCase> cases = {{"fine", ""},    {"hangs", ""}, {"says much", ""},
                                          {"crashes", ""}, {"exits", ""}, {"fine too", ""}};
  for (const int jobs : {1, 2, 8}) {
    const auto results = RunCases(cases, Behave, {jobs, absl::Milliseconds(300)});
    ASSERT_EQ(results.size(), cases.size());
    std::vector<std::string> verdicts;
    for (const CaseResult& result : results) verdicts.push_back(Name(result.verdict));
    EXPECT_EQ(verdicts, (std::vector<std::string>{"unsupported", "hung", "unsupported", "crashed",
                                                  "crashed", "unsupported"}));
    EXPECT_EQ(results[0].op, "Add");
    EXPECT_EQ(results[0].reason, "no reason");
    EXPECT_EQ(results[2].reason.size(), 100'000u);
    EXPECT_EQ(results[3].reason, "it crashed: signal 9");
    EXPECT_EQ(results[4].reason, "it exited: status 3");
    EXPECT_EQ(results[5].name, "fine too");
  }
}

}  // namespace
}  // namespace slipway
