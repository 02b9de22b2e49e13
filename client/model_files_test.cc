#include "client/model_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "client/external_data.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/graph.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A field with a length, shorter than 128 bytes.
std::string Message(int field, const std::string& bytes) {
  EXPECT_LT(field, 16);
  EXPECT_LT(bytes.size(), 128u);
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string TensorIn(const std::string& location) {
  return absl::StrCat("\x10\x01",  // data_type: a varint, which is skipped
                      Message(13, Message(1, "offset") + Message(2, "4")),
                      Message(13, Message(1, "location") + Message(2, location)));
}

std::string ModelWith(const std::string& graph) { return "\x08\x07" + Message(7, graph); }

TEST(FindExternalDataTest, FindsInitializersAttributesAndSubgraphs) {
  const std::string in_attribute = Message(1, Message(5, Message(5, TensorIn("b"))));
  const std::string in_subgraph = Message(1, Message(5, Message(6, Message(5, TensorIn("c/d")))));
  EXPECT_THAT(FindExternalData(ModelWith(Message(5, TensorIn("a"))), 10), ElementsAre("a"));
  EXPECT_THAT(FindExternalData(ModelWith(in_attribute + Message(5, TensorIn("a"))), 10),
              ElementsAre("b", "a"));
  EXPECT_THAT(FindExternalData(ModelWith(in_subgraph), 10), ElementsAre("c/d"));
}

TEST(FindExternalDataTest, NamesEachOnceAndNoMoreThanAllowed) {
  const std::string model =
      ModelWith(Message(5, TensorIn("a")) + Message(5, TensorIn("a")) + Message(5, TensorIn("b")));
  EXPECT_THAT(FindExternalData(model, 10), ElementsAre("a", "b"));
  EXPECT_THAT(FindExternalData(model, 1), ElementsAre("a"));
}

TEST(FindExternalDataTest, StopsWhereBytesAreNoModel) {
  EXPECT_THAT(FindExternalData("", 10), IsEmpty());
  EXPECT_THAT(FindExternalData(std::string(100, '\xff'), 10), IsEmpty());
  const std::string model = ModelWith(Message(5, TensorIn("a")));
  for (size_t size = 0; size < model.size(); ++size) FindExternalData(model.substr(0, size), 10);
}

TEST(FindExternalDataTest, DeepNestingEnds) {
  std::string graph = Message(5, TensorIn("deep"));
  for (int i = 0; i < 10; ++i) graph = Message(1, Message(5, Message(6, graph)));
  EXPECT_THAT(FindExternalData(ModelWith(graph), 10), ElementsAre("deep"));
}

TEST(CheckModelFileNameTest, RefusesWhatPointsOutside) {
  EXPECT_THAT(CheckModelFileName("weights.bin"), IsOk());
  EXPECT_THAT(CheckModelFileName("a/b..c/d"), IsOk());
  for (const std::string name :
       {"", "/etc/passwd", "..", "../x", "a/../b", "a//b", "./a", "a/.", "a\\b", "a\nb", "a/"}) {
    EXPECT_THAT(CheckModelFileName(name), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
  EXPECT_THAT(CheckModelFileName(std::string(256, 'a')),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

class ReadModelFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("model_files")); }
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_THAT(WriteFileAtomically(path, bytes, false), IsOk());
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(ReadModelFilesTest, BringsExternalData) {
  const std::string path = Write("m.onnx", ModelWith(Message(5, TensorIn("w.bin"))));
  Write("w.bin", "weights");
  ASSERT_OK_AND_ASSIGN(const ModelFiles model, ReadModelFiles(path, 1000));
  EXPECT_EQ(model.display_name, "m.onnx");
  EXPECT_EQ(model.format, v1::MODEL_FORMAT_ONNX);
  ASSERT_EQ(model.files.size(), 2u);
  EXPECT_EQ(model.files[0].name, "m.onnx");
  EXPECT_EQ(model.files[1].name, "w.bin");
  EXPECT_EQ(model.files[1].contents.bytes(), "weights");
  EXPECT_EQ(model.files[1].digest, Digest::Of("weights"));
}

TEST_F(ReadModelFilesTest, RefusesByName) {
  const std::string path = Write("m.onnx", ModelWith(Message(5, TensorIn("w.bin"))));
  EXPECT_THAT(ReadModelFiles(path, 1000),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("m.onnx"), HasSubstr("\"w.bin\""), HasSubstr("missing"))));
  Write("w.bin", std::string(1000, 'w'));
  EXPECT_THAT(ReadModelFiles(path, 1000),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("limit of 1000 bytes")));
  EXPECT_THAT(
      ReadModelFiles(Write("o.onnx", ModelWith(Message(5, TensorIn("../w.bin")))), 1000),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("o.onnx"), HasSubstr("../w"))));
  EXPECT_THAT(ReadModelFiles(Write("e.onnx", ""), 1000),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is empty")));
  EXPECT_THAT(ReadModelFiles(folder_.path() + "/none.onnx", 1000),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.onnx")));
}

TEST_F(ReadModelFilesTest, SendsNothingThatALinkLeadsTo) {
  Write("secret", "secret");
  ASSERT_EQ(mkdir(JoinPath(folder_.path(), "models").c_str(), 0700), 0);
  const auto link = [this](const std::string& to, const std::string& name) {
    ASSERT_EQ(symlink(to.c_str(), JoinPath(folder_.path(), name).c_str()), 0);
  };
  const auto refuses = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("symbolic link"));
  const std::string model = ModelWith(Message(5, TensorIn("w.bin")));
  const std::string path = Write("models/m.onnx", model);
  link("../secret", "models/w.bin");
  EXPECT_THAT(ReadModelFiles(path, 1000), refuses);
  link("..", "models/up");
  EXPECT_THAT(
      ReadModelFiles(Write("models/n.onnx", ModelWith(Message(5, TensorIn("up/secret")))), 1000),
      refuses);
  Write("models/net-symbol.json", "{}");
  link("../secret", "models/net-0010.params");
  EXPECT_THAT(ReadModelFiles(JoinPath(folder_.path(), "models/net-symbol.json"), 1000), refuses);
  // The user's own word is followed.
  Write("w.bin", "weights");
  Write("real.onnx", model);
  link("real.onnx", "linked.onnx");
  ASSERT_OK_AND_ASSIGN(const ModelFiles files,
                       ReadModelFiles(JoinPath(folder_.path(), "linked.onnx"), 1000));
  EXPECT_EQ(files.files.size(), 2u);
}

TEST_F(ReadModelFilesTest, GraphTextRefersToNothing) {
  ASSERT_OK_AND_ASSIGN(const ModelFiles model, ReadModelFiles(Write("m.graph", "graph"), 1000));
  EXPECT_EQ(model.format, v1::MODEL_FORMAT_GRAPH_TEXT);
  EXPECT_EQ(model.files.size(), 1u);
}

TEST_F(ReadModelFilesTest, NnvmBringsItsParameters) {
  const std::string path = Write("net-symbol.json", "{}");
  Write("net-best.params", "other");
  Write("network-0000.params", "other");
  ASSERT_OK_AND_ASSIGN(const ModelFiles alone, ReadModelFiles(path, 1000));
  EXPECT_EQ(alone.format, v1::MODEL_FORMAT_NNVM_JSON);
  EXPECT_EQ(alone.files.size(), 1u);
  Write("net-0010.params", "weights");
  ASSERT_OK_AND_ASSIGN(const ModelFiles model, ReadModelFiles(path, 1000));
  ASSERT_EQ(model.files.size(), 2u);
  EXPECT_EQ(model.files[1].name, "net-0010.params");
  EXPECT_EQ(model.files[1].contents.bytes(), "weights");
  Write("net-0011.params", "weights");
  EXPECT_THAT(ReadModelFiles(path, 1000),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("several epochs")));
}

TEST_F(ReadModelFilesTest, GraphProtobufIsToldByItsName) {
  ASSERT_OK_AND_ASSIGN(const ModelFiles model, ReadModelFiles(Write("m.graphpb", "graph"), 1000));
  EXPECT_EQ(model.format, v1::MODEL_FORMAT_GRAPH_PROTO);
  EXPECT_EQ(model.files.size(), 1u);
}

}  // namespace
}  // namespace slipway
