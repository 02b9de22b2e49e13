// Links each library of //third_party that is not gRPC, and calls it once.

#include <openssl/evp.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

TEST(LibrariesLinkTest, CryptoComputesSha256) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ASSERT_EQ(EVP_Digest("abc", 3, digest, &size, EVP_sha256(), nullptr), 1);
  EXPECT_EQ(absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size)),
            "ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad");
}

TEST(LibrariesLinkTest, SqliteOpensADatabase) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "create table t (a integer) strict", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_close(database), SQLITE_OK);
}

TEST(LibrariesLinkTest, SpdlogFormatsWithFmt) {
  std::ostringstream out;
  spdlog::logger logger("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger.info("job={} ms={:.1f}", "runs/7", 1.25);
  EXPECT_THAT(out.str(), HasSubstr("job=runs/7 ms=1.2"));
}

TEST(LibrariesLinkTest, OnnxMessagesPrint) {
  onnx::ModelProto model;
  model.mutable_graph()->add_node()->set_op_type("Relu");
  std::string bytes;
  ASSERT_TRUE(model.SerializeToString(&bytes));
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  EXPECT_THAT(parsed.DebugString(), HasSubstr("op_type: \"Relu\""));
}

TEST(LibrariesLinkTest, MutexLocks) {
  absl::Mutex mutex;
  absl::MutexLock lock(&mutex);
  mutex.AssertHeld();
}

}  // namespace
}  // namespace slipway::testing
