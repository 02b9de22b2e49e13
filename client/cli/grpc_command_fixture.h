// CommandTest: the command against a fake server, with a model and an artifact to work on.
#ifndef SLIPWAY_CLIENT_CLI_GRPC_COMMAND_FIXTURE_H_
#define SLIPWAY_CLIENT_CLI_GRPC_COMMAND_FIXTURE_H_

#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/cli/command.h"
#include "client/testing/grpc_fake_server.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {

// Interrupts as soon as somebody listens.
class EagerInterrupts final : public Interrupts {
 public:
  ~EagerInterrupts() override { thread_.join(); }
  void SetHandler(std::function<void()> handler) override {
    if (handler == nullptr || thread_.joinable()) return;
    thread_ = std::thread([this, handler] {
      while (!may_()) std::this_thread::yield();
      handler();
    });
  }
  explicit EagerInterrupts(std::function<bool()> may) : may_(std::move(may)) {}

 private:
  const std::function<bool()> may_;
  std::thread thread_;
};

class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("command"));
    model_ = Write("model.onnx", "a model");
    const v1::Manifest manifest = TestManifest();
    ASSERT_OK_AND_ASSIGN(
        const Artifact artifact, Artifact::Create(manifest, [](const Digest& digest) {
          return absl::StatusOr<Blob>(
              Blob::Own(digest == Digest::Of(TestCode()) ? TestCode() : TestConstants()));
        }));
    slip_ = JoinPath(folder_.path(), "program.slip");
    ASSERT_THAT(WriteSlip(artifact, slip_), slipway::testing::IsOk());
  }

  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_THAT(WriteFileAtomically(path, bytes, false), slipway::testing::IsOk());
    return path;
  }
  std::string WriteTensor(const std::string& name, const Tensor& tensor) {
    return Write(name, FormatNpy(tensor).value());
  }

  // Runs the command against the fake; what it wrote is in out_ and err_.
  int Command(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    Environment environment = {
        .out = out,
        .err = err,
        .executable = "/nowhere/client/slipway",
        .interrupts = interrupts_,
        .variable =
            [this](const std::string& name) {
              return name == "SLIPWAY_SERVER" ? server_variable_ : std::string();
            },
    };
    const ExitCode code = RunCommand(environment, arguments);
    out_ = out.str();
    err_ = err.str();
    return static_cast<int>(code);
  }

  // The same with --json, of a command that succeeds and writes JSON alone.
  slipway::testing::Json CommandJson(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    EXPECT_EQ(Command(arguments), 0) << err_;
    absl::StatusOr<slipway::testing::Json> json = slipway::testing::ParseJson(out_);
    EXPECT_OK(json) << out_;
    return json.ok() ? *std::move(json) : slipway::testing::Json();
  }

  // The last line of err.
  std::string Error() const {
    const size_t at = err_.rfind("slipway: error: ");
    return at == std::string::npos ? "no error" : err_.substr(at);
  }

  slipway::testing::FakeServer server_;
  std::string server_variable_ = server_.address();
  TemporaryFolder folder_;
  std::string model_, slip_;
  Interrupts* interrupts_ = nullptr;
  std::string out_, err_;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_GRPC_COMMAND_FIXTURE_H_
