// The transcript of `slipway session` in client/README.md, typed again: what does not depend on time comes out as it stands
// there.
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/client.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::string_view kPrompt = "local> ";

struct Exchange {
  std::string command;
  std::vector<std::string> output;
};

// Of the README's block.
std::vector<Exchange> ReadTranscript(absl::string_view readme) {
  std::vector<Exchange> exchanges;
  const std::vector<absl::string_view> parts = absl::StrSplit(readme, "$ slipway session\n");
  if (parts.size() != 2) return exchanges;
  for (const absl::string_view line : absl::StrSplit(parts[1], '\n')) {
    if (line == "```") break;
    if (absl::StartsWith(line, kPrompt)) {
      exchanges.push_back({std::string(absl::StripPrefix(line, kPrompt)), {}});
    } else if (!exchanges.empty()) {
      exchanges.back().output.push_back(std::string(line));
    }
  }
  return exchanges;
}

// Without the time that something took: "y: f32[1, 10]  (27.3 us)".
std::string WithoutTime(const std::string& line) {
  const size_t at = line.rfind("  (");
  return at == std::string::npos || line.back() != ')' ? line : line.substr(0, at);
}

// Whether what it shows is the same each time, but for the times of WithoutTime. Others measure, or show sums whose order
// is the compiler's.
bool IsExact(const std::string& command) {
  for (const char* const word : {"time ", "profile ", "facts", "diff "}) {
    if (absl::StartsWith(command, word)) return false;
  }
  return true;
}

TEST(SessionTranscriptTest, ComesOutAsItStandsInTheReadme) {
  ASSERT_OK_AND_ASSIGN(const std::string readme,
                       ReadFile(RunfilePath("client/README.md"), 1 << 20));
  const std::vector<Exchange> recorded = ReadTranscript(readme);
  ASSERT_GT(recorded.size(), 10u);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  // The files that it names, in a folder of the test's own.
  const std::string model = RunfilePath("client/examples/digits/digits.onnx");
  std::string input;
  const auto compile = [&](const std::string& name, const CompileOptions& options) {
    ASSERT_OK_AND_ASSIGN(const Compilation compiled, client->Compile(model, options));
    ASSERT_OK(client->ExportArtifact(compiled.artifact, cluster->Path(name)));
  };
  compile("digits.slip", {.target = "x86-64-v3-linux"});
  compile("kept-v3.slip", {.target = "x86-64-v3-linux", .keep = {"*"}});
  compile("kept-v2.slip", {.target = "x86-64-v2-linux", .keep = {"*"}});
  ASSERT_OK_AND_ASSIGN(const std::string image,
                       ReadFile(RunfilePath("client/examples/digits/images/7.npy"), 1 << 20));
  ASSERT_OK(MakeFolders(cluster->Path("images")));
  ASSERT_OK(WriteFileAtomically(cluster->Path("images/7.npy"), image, false));
  for (const Exchange& exchange : recorded) absl::StrAppend(&input, exchange.command, "\n");

  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(cluster->Path(""));
  std::istringstream in(input);
  std::ostringstream out, err;
  cli::Environment environment = {.out = out,
                                  .err = err,
                                  .executable = "/nowhere/slipway",
                                  .in = &in,
                                  .in_is_terminal = true,
                                  .variable = [](const std::string&) { return std::string(); }};
  const cli::ExitCode code = cli::RunCommand(
      environment, std::vector<std::string>{"session", "--server", cluster->address()});
  std::filesystem::current_path(before);
  EXPECT_EQ(code, cli::ExitCode::kDone) << err.str();
  EXPECT_THAT(err.str(), Not(HasSubstr("log: ")));

  std::vector<std::string> shown = absl::StrSplit(out.str(), "agent0> ");
  ASSERT_EQ(shown.size(), recorded.size() + 1) << out.str() << err.str();
  for (size_t i = 0; i < recorded.size(); ++i) {
    SCOPED_TRACE(recorded[i].command);
    std::vector<std::string> lines = absl::StrSplit(shown[i + 1], '\n', absl::SkipEmpty());
    if (!IsExact(recorded[i].command)) {
      EXPECT_THAT(lines, Not(IsEmpty()));
      continue;
    }
    std::vector<std::string> expected = recorded[i].output;
    for (std::vector<std::string>* const side : {&lines, &expected}) {
      for (std::string& line : *side) line = WithoutTime(line);
    }
    EXPECT_EQ(lines, expected);
  }
  EXPECT_TRUE(absl::StrContains(out.str(), "7 values compared: "));
}

}  // namespace
}  // namespace slipway::testing
