#include "server/web/exports.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/format_version.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/artifact.pb.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kTarget[] = "wasm-32-wasi-simd128";

class BlobServer final : public Upstream {
 public:
  Digest Add(std::string bytes) {
    const Digest digest = Digest::Of(bytes);
    blobs_[digest.ToString()] = Blob::Own(std::move(bytes));
    return digest;
  }
  void Remove(const Digest& digest) { blobs_.erase(digest.ToString()); }
  int reads() const { return reads_; }

  absl::Status Call(absl::string_view, const google::protobuf::Message&,
                    google::protobuf::Message&) override {
    return absl::UnimplementedError("only blobs");
  }
  absl::StatusOr<Blob> ReadBlob(const Digest& digest, int64_t) override {
    ++reads_;
    const auto found = blobs_.find(digest.ToString());
    if (found == blobs_.end()) return absl::NotFoundError("no such blob");
    return found->second;
  }
  absl::Status SendBlob(const Digest&, const Blob&) override {
    return absl::UnimplementedError("only blobs");
  }
  std::shared_ptr<RunningCall> WatchJob(const std::string&, int64_t,
                                        std::function<void(const slipway::v1::Job&)>,
                                        std::function<void(const absl::Status&)>) override {
    return nullptr;
  }
  std::shared_ptr<RunningCall> BeginSync(
      slipway::v1::AgentState, absl::Duration,
      std::function<void(absl::StatusOr<slipway::v1::DesiredAgentState>)>) override {
    return nullptr;
  }

 private:
  std::map<std::string, Blob> blobs_;
  int reads_ = 0;
};

// Of one kernel from "x" to "y", f32[4] both.
Digest AddProgram(BlobServer& server, const std::string& target, const std::string& code) {
  slipway::v1::Manifest manifest;
  manifest.set_min_reader_abi(SLIPWAY_ABI_VERSION);
  manifest.set_target(target);
  manifest.set_name("tiny");
  manifest.add_devices()->set_target(target);
  slipway::v1::Code& module = *manifest.add_code();
  module.set_kind(slipway::v1::Code::KIND_ELF);
  *module.mutable_blob() = ToProto(server.Add(code));
  module.set_kernel_count(1);
  slipway::v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  slipway::v1::Step& step = *main.add_steps();
  step.set_name("only");
  step.mutable_kernel()->set_kernel(0);
  for (const char* name : {"x", "y"}) {
    slipway::v1::Buffer& buffer = *manifest.add_buffers();
    buffer.set_class_(slipway::v1::Buffer::CLASS_EXTERNAL);
    buffer.mutable_size()->set_constant(16);
    slipway::v1::Value& value = *manifest.add_values();
    value.set_dtype(slipway::v1::DATA_TYPE_FLOAT32);
    value.add_shape()->set_value(4);
    const auto index = static_cast<uint32_t>(manifest.values_size()) - 1;
    value.set_buffer(index);
    const bool is_input = *name == 'x';
    slipway::v1::Binding& binding = is_input ? *main.add_inputs() : *main.add_outputs();
    binding.set_name(name);
    binding.set_value(index);
    is_input ? step.mutable_kernel()->add_inputs(index) : step.mutable_kernel()->add_outputs(index);
  }
  manifest.set_format_version(LowestFormatVersion(manifest));
  return server.Add(manifest.SerializeAsString());
}

class ExportsTest : public ::testing::Test {
 protected:
  BlobServer server_;
  Exports exports_{{.most_bytes = 10'000, .most_kept_bytes = 9'800}};
};

TEST_F(ExportsTest, GivesTheFilesOfAnExport) {
  const Digest program = AddProgram(server_, kTarget, "the module");
  ASSERT_OK_AND_ASSIGN(const HttpResponse plan, exports_.Answer(server_, program, "plan.json", ""));
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(plan.body));
  EXPECT_EQ(json["target"], kTarget);
  EXPECT_EQ(json["inputs"][0]["name"], "x");
  EXPECT_THAT(plan.headers, Contains(Pair("Content-Type", "application/json")));
  ASSERT_OK_AND_ASSIGN(const HttpResponse module,
                       exports_.Answer(server_, program, "model.wasm", ""));
  EXPECT_EQ(module.body, "the module");
  EXPECT_THAT(module.headers, Contains(Pair("Content-Type", "application/wasm")));
  EXPECT_THAT(exports_.Answer(server_, program, "../plan.json", "").status(),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("model.wasm"), HasSubstr("plan.json"))));
}

TEST_F(ExportsTest, WhoHasAFileGetsItNotAgain) {
  const Digest program = AddProgram(server_, kTarget, "the module");
  ASSERT_OK_AND_ASSIGN(const HttpResponse first,
                       exports_.Answer(server_, program, "model.wasm", ""));
  std::string tag;
  for (const auto& [name, value] : first.headers) {
    if (name == "ETag") tag = value;
  }
  ASSERT_OK_AND_ASSIGN(const HttpResponse again,
                       exports_.Answer(server_, program, "model.wasm", tag));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  ASSERT_OK_AND_ASSIGN(const HttpResponse other,
                       exports_.Answer(server_, program, "plan.json", tag));
  EXPECT_EQ(other.status, 200);
}

TEST_F(ExportsTest, KeepsTheLastButAsksWhetherItMayBeRead) {
  const Digest program = AddProgram(server_, kTarget, "the module");
  ASSERT_OK(exports_.Answer(server_, program, "plan.json", "").status());
  const int reads = server_.reads();
  ASSERT_OK(exports_.Answer(server_, program, "model.wasm", "").status());
  EXPECT_EQ(server_.reads(), reads + 1);
  const Digest large = AddProgram(server_, kTarget, std::string(9'500, 'm'));
  ASSERT_OK(exports_.Answer(server_, large, "plan.json", "").status());
  ASSERT_OK(exports_.Answer(server_, program, "plan.json", "").status());
  EXPECT_EQ(server_.reads(), reads + 1 + 2 + 2);
  server_.Remove(program);
  EXPECT_THAT(exports_.Answer(server_, program, "plan.json", "").status(),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ExportsTest, RefusesWhatNoPageRuns) {
  const Digest native = AddProgram(server_, "x86-64-v3-linux", "machine code");
  EXPECT_THAT(exports_.Answer(server_, native, "plan.json", "").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("x86-64-v3-linux"), HasSubstr("wasm-32"))));
  const Digest large = AddProgram(server_, kTarget, std::string(20'000, 'm'));
  EXPECT_THAT(exports_.Answer(server_, large, "plan.json", "").status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("10000")));
  EXPECT_THAT(exports_.Answer(server_, server_.Add("no manifest"), "plan.json", "").status(),
              ::testing::Not(StatusIs(absl::StatusCode::kOk)));
}

}  // namespace
}  // namespace slipway::web
