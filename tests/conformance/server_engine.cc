#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

ModelFile FileOf(absl::string_view name, const Blob& contents) {
  return {std::string(name), contents, Digest::Of(contents.bytes())};
}

class ServerEngine final : public Engine {
 public:
  ServerEngine(std::string address, std::string target)
      : address_(std::move(address)), target_(std::move(target)) {}

  // The client starts threads: only where it is used, behind any fork.
  absl::Status Load(const OnnxFiles& files) override {
    SLIPWAY_ASSIGN_OR_RETURN(client_, Client::Connect({.server = address_}));
    ModelFiles model;
    model.display_name = "model.onnx";
    model.files.push_back(FileOf(model.display_name, files.main));
    for (const auto& [name, bytes] : files.external) model.files.push_back(FileOf(name, bytes));
    SLIPWAY_ASSIGN_OR_RETURN(const std::string id,
                             client_->SubmitCompilation(model, {.target = target_}));
    SLIPWAY_ASSIGN_OR_RETURN(const Job job, client_->Wait(id, nullptr));
    SLIPWAY_RETURN_IF_ERROR(job.error);
    if (!job.compilation.has_value()) {
      return absl::CancelledError(absl::StrCat("job \"", id, "\" was cancelled"));
    }
    artifact_ = job.compilation->artifact;
    SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary summary, client_->DescribeArtifact(artifact_));
    for (const NamedType& input : summary.inputs) inputs_.push_back(input.name);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    std::vector<NamedTensor> named;
    size_t port = 0;
    for (const Tensor& input : inputs) {
      if (port < inputs_.size()) named.push_back({inputs_[port], input});
      port += input.dtype() == DataType::kString ? 2 : 1;  // Strings are two of a program's.
    }
    if (port != inputs_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the program has ", inputs_.size(), " inputs, what was given are ", port, " of them"));
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> results, client_->Run(artifact_, named, {}));
    std::vector<Tensor> outputs;
    for (NamedTensor& result : results) outputs.push_back(std::move(result.tensor));
    return outputs;
  }

 private:
  const std::string address_;
  const std::string target_;
  std::unique_ptr<Client> client_;
  Digest artifact_;
  std::vector<std::string> inputs_;
};

}  // namespace

std::unique_ptr<Engine> MakeServerEngine(const std::string& address, const std::string& target) {
  return std::make_unique<ServerEngine>(address, target);
}

}  // namespace slipway
