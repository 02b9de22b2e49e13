// Recorded artifacts of every format and ABI there was: each must load, run and be shown for ever.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/artifact_summary.h"
#include "client/cli/render.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/versions.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/code_module.h"
#include "core/runtime/drivers/null/null_driver.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "core/tensor/npy.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kRecorded[] = "tests/testdata/skew";
constexpr char kArtifacts[] = "tests/testdata/skew/artifacts";
constexpr int64_t kMaxBytes = 1 << 20;

std::string Read(const fs::path& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path.string(), kMaxBytes);
  EXPECT_OK(bytes);
  return bytes.ok() ? *std::move(bytes) : "";
}

// FOLDER/KIND.NAME.npy, by name.
std::map<std::string, Tensor> ReadTensors(const fs::path& folder, absl::string_view kind) {
  std::map<std::string, Tensor> tensors;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    absl::string_view name = file;
    if (!absl::ConsumePrefix(&name, absl::StrCat(kind, ".")) ||
        !absl::ConsumeSuffix(&name, ".npy")) {
      continue;
    }
    absl::StatusOr<Tensor> tensor = ParseNpy(Read(entry.path()));
    EXPECT_OK(tensor) << file;
    if (tensor.ok()) tensors[std::string(name)] = *std::move(tensor);
  }
  return tensors;
}

// Every recorded .slip file.
std::vector<std::string> Paths() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kArtifacts)) {
    if (entry.path().extension() == ".slip") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class RecordedArtifact : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(Artifact artifact, ReadSlip(GetParam()));
    artifact_ = std::make_unique<Artifact>(std::move(artifact));
    inputs_ = ReadTensors(folder(), "input");
    outputs_ = ReadTensors(folder(), "output");
    ASSERT_FALSE(outputs_.empty());
  }
  fs::path folder() const { return fs::path(GetParam()).parent_path(); }
  // Whether this machine is the program's host; null devices stand for its GPUs.
  bool IsHostHere() const {
    const Target host{{artifact_->manifest().target().host()}};
    return CheckRunsOn(host, HostTarget()).ok();
  }

  std::unique_ptr<Artifact> artifact_;
  std::map<std::string, Tensor> inputs_;
  std::map<std::string, Tensor> outputs_;
};

TEST_P(RecordedArtifact, IsWhatItsFolderSays) {
  const v1::Manifest& manifest = artifact_->manifest().proto();
  EXPECT_EQ(folder().parent_path().filename(),
            absl::StrCat("format_", manifest.format_version(), "_abi_", manifest.min_reader_abi()));
  EXPECT_EQ(fs::path(GetParam()).stem(), manifest.target());
}

TEST_P(RecordedArtifact, IsShown) {
  const ArtifactSummary summary = Summarize(artifact_->manifest());
  EXPECT_EQ(summary.inputs.size(), inputs_.size());
  EXPECT_EQ(summary.outputs.size(), outputs_.size());
  const std::string text = cli::RenderArtifact(summary);
  const std::string json = cli::RenderArtifactJson(summary);
  EXPECT_THAT(text, HasSubstr(artifact_->digest().hex()));
  EXPECT_THAT(text, HasSubstr(summary.compile_key));
  EXPECT_THAT(json, HasSubstr(absl::StrCat("\"", fs::path(GetParam()).stem().string(), "\"")));
  for (const auto& [ports, tensors] :
       {std::pair(&summary.inputs, &inputs_), std::pair(&summary.outputs, &outputs_)}) {
    for (const NamedType& port : *ports) {
      ASSERT_TRUE(tensors->contains(port.name)) << port.name;
      EXPECT_TRUE(port.type.Admits((*tensors)[port.name].type())) << port.name;
      EXPECT_THAT(text, HasSubstr(absl::StrCat(port.name, ": ", ToString(port.type))));
      EXPECT_THAT(json, HasSubstr(absl::StrCat("\"", port.name, "\"")));
    }
  }
  ASSERT_FALSE(summary.steps.empty());
  for (const ArtifactSummary::Step& step : summary.steps) EXPECT_THAT(text, HasSubstr(step.name));
}

TEST_P(RecordedArtifact, RunsWhereItsMachineIs) {
  if (!IsHostHere()) GTEST_SKIP() << "this machine is not one";
  Drivers drivers = AllDrivers();
  drivers.insert(drivers.begin(), MakeNullDriver());
  ASSERT_OK_AND_ASSIGN(auto devices, OpenDevices(artifact_->manifest(), drivers));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program,
                       Program::Load(*artifact_, std::move(devices)));
  std::vector<Tensor> inputs;
  for (const NamedType& input : program->signature().inputs) inputs.push_back(inputs_[input.name]);
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(absl::StrCat(threads, " threads"));
    ProgramContextOptions options;
    options.threads = threads;
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context,
                         program->NewContext(options));
    std::vector<Tensor> outputs(program->signature().outputs.size());
    // Twice: nothing may hang on what memory held before.
    for (int run = 0; run < 2; ++run) {
      ASSERT_OK(context->Run(inputs, absl::MakeSpan(outputs)));
      for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = program->signature().outputs[i].name;
        EXPECT_OK(CheckClose(outputs[i], outputs_[name], {})) << "output " << name;
      }
    }
  }
}

TEST_P(RecordedArtifact, LoadsInRuntimesThatSpeakNewerVersionsToo) {
  if (!IsHostHere()) GTEST_SKIP() << "this machine is not one";
  const v1::Manifest& manifest = artifact_->manifest().proto();
  const VersionRange spoken{SLIPWAY_OLDEST_ABI_VERSION, SLIPWAY_ABI_VERSION + 2};
  for (const v1::Code& code : manifest.code()) {
    if (code.kind() != v1::Code::KIND_ELF) continue;
    ASSERT_OK_AND_ASSIGN(const Digest digest, FromProto(code.blob()));
    EXPECT_OK(CodeModule::Load(artifact_->blob(digest).bytes(), code.kernel_count(),
                               manifest.min_reader_abi(), spoken));
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedArtifact, ::testing::ValuesIn(Paths()), [](const auto& info) {
  std::string name = fs::path(info.param).lexically_relative(kArtifacts).replace_extension();
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(Recorded, NothingIsChangedOrRemoved) {
  std::map<std::string, std::string> digests;  // By path, as sha256sum writes them.
  std::ifstream sums(fs::path(kRecorded) / "SHA256SUMS");
  for (std::string digest, path; sums >> digest >> path;) digests[path] = digest;
  ASSERT_FALSE(digests.empty());
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRecorded)) {
    const std::string path = entry.path().lexically_relative(kRecorded).string();
    if (!entry.is_regular_file() || path == "SHA256SUMS") continue;
    found[path] = Digest::Of(Read(entry.path())).hex();
  }
  EXPECT_EQ(found, digests);
}

}  // namespace
}  // namespace slipway::testing
