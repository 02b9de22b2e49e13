// Runs ONNX's backend-test cases through an engine and prints a table per operator:
//   onnx_backend_test --data DIR [--filter RE] [--json OUT] [--engine reference|compiled|TARGET] [--jobs N]
//     [--outputs DIR]
//   onnx_backend_test --data DIR --via server [--server ADDRESS]
// Without an address it starts a server, its worker and an agent of its own; for a target with CUDA the agent's GPU is a
// fake, which interprets the code.
// Each case runs in a process of its own: one that crashes, or takes longer than --deadline, is one result.
// Exit codes: 0 nothing failed, 1 something did, 2 the call was wrong.
#include <functional>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/target/target.h"
#include "tests/common/cluster.h"
#include "tests/common/gpu_cluster.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/recording_engine.h"
#include "tests/conformance/report.h"
#include "tests/conformance/run_cases.h"

ABSL_FLAG(std::string, data, "", "folder with cases, searched with all that is below");
ABSL_FLAG(std::string, filter, "", "regular expression that a case's name must contain");
ABSL_FLAG(std::string, json, "", "file for the results as JSON");
ABSL_FLAG(std::string, engine, "reference",
          "what to test: reference; compiled, for this machine; or a target to compile for");
ABSL_FLAG(std::string, outputs, "",
          "folder for what the engine makes of each case's last data set: CASE/output_N.pb");
ABSL_FLAG(std::string, via, "",
          "\"server\": cases go as jobs through server, worker and agent, compiled for --engine "
          "where that is a target, "
          "else for this machine");
ABSL_FLAG(std::string, server, "",
          "with --via server: the address of one that runs; else one is started");
ABSL_FLAG(int, jobs, 1, "how many cases run at a time");
ABSL_FLAG(absl::Duration, deadline, slipway::ProcessOptions().deadline, "for each case");

namespace slipway {
namespace {

absl::StatusOr<std::function<std::unique_ptr<Engine>()>> EngineMaker(absl::string_view name) {
  using Maker = std::function<std::unique_ptr<Engine>()>;
  if (name == "reference") return Maker(MakeReferenceEngine);
  if (name == "compiled") return Maker([] { return MakeCompiledEngine(HostTarget()); });
  const auto target = ParseTarget(name);
  if (!target.ok()) return target.status();
  return Maker([target = *target] { return MakeCompiledEngine(target); });
}

// What jobs compile for, of --engine.
std::string JobTarget(const std::string& engine) {
  const absl::StatusOr<Target> target = ParseTarget(engine);
  return target.ok() ? target->ToString() : "host";
}

// The cluster that cases go through, unset where a server runs already or none is wanted.
absl::StatusOr<std::unique_ptr<testing::Cluster>> StartCluster() {
  const std::string via = absl::GetFlag(FLAGS_via);
  if (!via.empty() && via != "server") {
    return absl::InvalidArgumentError("--via is not \"server\", the only way there is");
  }
  if (via.empty() || !absl::GetFlag(FLAGS_server).empty()) return nullptr;
  testing::Cluster::Options options;
  if (absl::StrContains(JobTarget(absl::GetFlag(FLAGS_engine)), ",cuda")) {
    return testing::StartGpuCluster(options);
  }
  if (absl::StrContains(JobTarget(absl::GetFlag(FLAGS_engine)), ",opencl")) {
    options.agent_flags = {"--accelerator=opencl"};
  }
  return testing::Cluster::Start(options);
}

int Main() {
  if (absl::GetFlag(FLAGS_data).empty()) {
    std::cerr << "--data is needed: a folder such as /usr/share/libonnx-testdata/data/node\n";
    return 2;
  }
  auto make_engine = EngineMaker(absl::GetFlag(FLAGS_engine));
  if (!make_engine.ok()) {
    std::cerr << "--engine: " << make_engine.status().message() << "\n";
    return 2;
  }
  const auto cluster = StartCluster();
  if (!cluster.ok()) {
    std::cerr << cluster.status().message() << "\n";
    return 2;
  }
  if (!absl::GetFlag(FLAGS_via).empty()) {
    const std::string address =
        *cluster == nullptr ? absl::GetFlag(FLAGS_server) : (*cluster)->address();
    make_engine = [address, target = JobTarget(absl::GetFlag(FLAGS_engine))] {
      return MakeServerEngine(address, target);
    };
  }
  std::regex filter;
  try {
    filter = std::regex(absl::GetFlag(FLAGS_filter));
  } catch (const std::regex_error& error) {
    std::cerr << "--filter is no regular expression: " << error.what() << "\n";
    return 2;
  }
  const auto cases = FindBackendCases(absl::GetFlag(FLAGS_data));
  if (!cases.ok()) {
    std::cerr << cases.status().message() << "\n";
    return 2;
  }
  std::vector<BackendCase> chosen;
  for (const BackendCase& backend_case : *cases) {
    if (std::regex_search(backend_case.name, filter)) chosen.push_back(backend_case);
  }
  const std::vector<CaseResult> results =
      RunCases(chosen,
               [&make_engine](const BackendCase& backend_case) {
                 std::unique_ptr<Engine> engine = (*make_engine)();
                 const std::string outputs = absl::GetFlag(FLAGS_outputs);
                 if (!outputs.empty()) {
                   engine = RecordOutputs(std::move(engine), JoinPath(outputs, backend_case.name));
                 }
                 return RunBackendCase(backend_case, *engine, Tolerance());
               },
               {absl::GetFlag(FLAGS_jobs), absl::GetFlag(FLAGS_deadline)});
  bool failed = false;
  for (const CaseResult& result : results) {
    failed |= result.verdict != CaseResult::Verdict::kPassed &&
              result.verdict != CaseResult::Verdict::kUnsupported;
  }
  std::cout << FormatTable(results);
  if (!absl::GetFlag(FLAGS_json).empty()) {
    const absl::Status written =
        WriteFileAtomically(absl::GetFlag(FLAGS_json), FormatJson(results), false);
    if (!written.ok()) {
      std::cerr << written.message() << "\n";
      return 2;
    }
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("runs ONNX's backend-test cases; see the flags below");
  absl::ParseCommandLine(argc, argv);
  return slipway::Main();
}
