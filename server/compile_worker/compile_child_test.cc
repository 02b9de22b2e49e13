// Compile children that end in every way, made of the fake compiler's binary.
#include "server/compile_worker/compile_child.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::worker {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

class CompileChildTest : public ::testing::Test {
 protected:
  CompileChildTest() : store_(*FileBlobStore::Create({.folder = folder_.path()})) {
    options_.command = {"server/compile_worker/fake_compile_worker"};
    options_.deadline = absl::Seconds(20);
  }

  CompileChildRequest Request(const std::string& model) {
    const Digest digest = *PutBytes(*store_, model);
    CompileChildRequest request;
    v1::ModelFile& file = *request.mutable_spec()->mutable_model()->add_files();
    file.set_name("model");
    *file.mutable_digest() = ToProto(digest);
    request.set_compile_key(std::string(64, 'b'));
    request.set_store_folder(folder_.path());
    return request;
  }

  absl::StatusOr<CompileChildResponse::Made> Compile(const std::string& model) {
    absl::StatusOr<std::unique_ptr<CompileChild>> child =
        CompileChild::Start(options_, Request(model));
    if (!child.ok()) return child.status();
    return (*child)->Wait(
        [this](absl::string_view stage, int64_t done, int64_t total) {
          progress_.push_back(absl::StrCat(stage, " ", done, "/", total));
        },
        &failure_);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("compile_child_test");
  const std::unique_ptr<FileBlobStore> store_;
  CompileChild::Options options_;
  ChildFailure failure_;
  std::vector<std::string> progress_;
};

TEST_F(CompileChildTest, MakesAnArtifact) {
  const absl::StatusOr<CompileChildResponse::Made> made = Compile("program");
  ASSERT_OK(made);
  const Blob manifest = *store_->Get(*FromProto(made->manifest()));
  EXPECT_EQ(CheckedManifest::Parse(manifest.bytes())->proto().compile_key(), std::string(64, 'b'));
  for (const v1::Digest& blob : made->blobs()) EXPECT_TRUE(store_->Has(*FromProto(blob)));
  EXPECT_EQ(made->report().kernels(), 1);
  EXPECT_EQ(progress_, std::vector<std::string>{"pretend 1/2"});
}

TEST_F(CompileChildTest, ABadModelIsAnErrorThatIsNotTriedAgain) {
  EXPECT_THAT(Compile("nonsense"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(failure_.error.message(), "'nonsense' is no model");
  EXPECT_THAT(failure_.error.log_tail(), HasSubstr("compiling nonsense"));
  EXPECT_FALSE(failure_.retriable);
}

TEST_F(CompileChildTest, ACrashIsATypedFailureWithTheLogsEnd) {
  EXPECT_THAT(Compile("crash"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(failure_.error.message(), HasSubstr("SIGSEGV"));
  EXPECT_THAT(failure_.error.log_tail(), HasSubstr("compiling crash"));
  EXPECT_FALSE(failure_.retriable);
}

TEST_F(CompileChildTest, AKillFromOutsideMayBeTriedAgain) {
  EXPECT_THAT(Compile("kill"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_TRUE(failure_.retriable);
}

TEST_F(CompileChildTest, AnExceptionIsABugOfOurs) {
  EXPECT_THAT(Compile("throw"), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(failure_.error.message(), HasSubstr("thrown"));
}

TEST_F(CompileChildTest, AnExitWithoutResult) {
  EXPECT_THAT(Compile("exit"), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(failure_.error.message(), HasSubstr("exit code 3"));
}

TEST_F(CompileChildTest, AnEndlessLoopMeetsItsDeadline) {
  options_.deadline = absl::Milliseconds(200);
  EXPECT_THAT(Compile("loop"), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(failure_.error.message(), HasSubstr("200ms"));
  EXPECT_THAT(failure_.error.log_tail(), HasSubstr("compiling loop"));
}

// Root's, too, whom RLIMIT_NPROC does not bind.
TEST_F(CompileChildTest, TasksHaveALimitWhereGroupsCanBeMade) {
  const ControlGroups groups = ControlGroups::Prepare();
  if (!groups.limits_tasks()) GTEST_SKIP() << groups.why_not();
  options_.groups = &groups;
  EXPECT_THAT(Compile("fork"), StatusIs(absl::StatusCode::kInternal));
  const std::string message(failure_.error.message());
  int begun = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripPrefix(message, "began "), &begun)) << message;
  EXPECT_GT(begun, 100);
  EXPECT_LE(begun, 256);
}

TEST_F(CompileChildTest, MemoryOfAllItsProcessesHasALimitWhereGroupsCanBeMade) {
  const ControlGroups groups = ControlGroups::Prepare();
  if (!groups.limits_memory()) GTEST_SKIP() << groups.why_not();
  options_.groups = &groups;
  options_.memory_bytes = 256 << 20;
  // None of them has more than the limit.
  EXPECT_THAT(Compile("eat together"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(failure_.error.message(), HasSubstr("--compile-memory"));
  EXPECT_FALSE(failure_.retriable);
}

TEST_F(CompileChildTest, MemoryHasALimit) {
  options_.memory_bytes = int64_t{1} << 30;
  EXPECT_THAT(Compile("eat"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(failure_.error.message(), HasSubstr("1024 MiB"));
  EXPECT_THAT(failure_.error.message(), HasSubstr("--compile-memory"));
  EXPECT_FALSE(failure_.retriable);
}

TEST_F(CompileChildTest, ACheckThatFailsForWantOfMemoryIsNoCrash) {
  options_.memory_bytes = int64_t{1} << 30;
  EXPECT_THAT(Compile("tensor"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(failure_.error.message(), HasSubstr("--compile-memory"));
}

TEST_F(CompileChildTest, FilesThatAreMappedDoNotCount) {
  options_.memory_bytes = int64_t{1} << 30;
  const std::string large = JoinPath(folder_.path(), "large");
  ASSERT_OK(WriteFileAtomically(large, "", /*durable=*/false));
  ASSERT_EQ(truncate(large.c_str(), int64_t{4} << 30), 0);  // A hole.
  EXPECT_OK(Compile("map " + large));
}

TEST_F(CompileChildTest, TheSystemsKillForWantOfMemoryIsToldAsSuch) {
  options_.vmstat = JoinPath(folder_.path(), "vmstat");
  ASSERT_OK(WriteFileAtomically(options_.vmstat, "oom_kill 3\n", /*durable=*/false));
  const std::unique_ptr<CompileChild> child = *CompileChild::Start(options_, Request("loop"));
  ASSERT_OK(WriteFileAtomically(options_.vmstat, "oom_kill 4\n", /*durable=*/false));
  child->Kill();
  EXPECT_THAT(child->Wait([](absl::string_view, int64_t, int64_t) {}, &failure_),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(failure_.error.message(), HasSubstr("--compile-memory"));
  EXPECT_TRUE(failure_.retriable);
}

TEST_F(CompileChildTest, KillEndsIt) {
  const std::unique_ptr<CompileChild> child = *CompileChild::Start(options_, Request("loop"));
  std::thread killer([&child] { child->Kill(); });
  EXPECT_FALSE(child->Wait([](absl::string_view, int64_t, int64_t) {}, &failure_).ok());
  killer.join();
}

TEST_F(CompileChildTest, AProgramThatIsNotThere) {
  options_.command = {"/nowhere/worker"};
  EXPECT_THAT(Compile("program"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace slipway::worker
