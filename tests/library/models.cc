#include "tests/library/models.h"

#include <string>

#include "core/base/blob.h"
#include "core/base/files.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/graph.pb.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {

ModelSource DigitsModel() {
  ModelSource model;
  absl::StatusOr<std::string> bytes =
      ReadFile(RunfilePath("client/examples/digits/digits.onnx"), 1 << 20);
  EXPECT_OK(bytes);
  model.files = {{"digits.onnx", Blob::Own(bytes.value_or(""))}};
  return model;
}

ModelSource TextModel(absl::string_view text) {
  ModelSource model;
  model.format = v1::MODEL_FORMAT_GRAPH_TEXT;
  model.files = {{"model.txt", Blob::Own(std::string(text))}};
  return model;
}

}  // namespace slipway::testing
