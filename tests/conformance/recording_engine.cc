#include "tests/conformance/recording_engine.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/onnx_tensor.h"

namespace slipway {
namespace {

class RecordingEngine final : public Engine {
 public:
  RecordingEngine(std::unique_ptr<Engine> engine, std::string folder)
      : engine_(std::move(engine)), folder_(std::move(folder)) {}

  absl::Status Load(const OnnxFiles& files) override { return engine_->Load(files); }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, engine_->Run(inputs));
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return absl::UnavailableError(absl::StrCat(folder_, ": ", error.message()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string name = absl::StrCat("output_", i);
      SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder_, absl::StrCat(name, ".pb")),
                                                  FormatOnnxTensor(outputs[i], name), false));
    }
    return outputs;
  }

 private:
  const std::unique_ptr<Engine> engine_;
  const std::string folder_;
};

}  // namespace

std::unique_ptr<Engine> RecordOutputs(std::unique_ptr<Engine> engine, std::string folder) {
  return std::make_unique<RecordingEngine>(std::move(engine), std::move(folder));
}

}  // namespace slipway
