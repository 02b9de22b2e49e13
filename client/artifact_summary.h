// ArtifactSummary: what people and the command want to know of an artifact.
#ifndef SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_
#define SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/checked_manifest.h"
#include "core/artifact/signature.h"
#include "core/base/digest.h"

namespace slipway {

struct ArtifactSummary {
  struct Step {
    std::string name;
    std::vector<std::string> operators;
  };

  Digest digest;
  std::string name;
  std::string target;
  std::string compile_key;
  std::vector<std::pair<std::string, std::string>> tools;  // Name and version.
  std::vector<NamedType> inputs, outputs;
  std::vector<Step> steps;  // Of the entry function.
  int64_t kernels = 0;
  int64_t code_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t arena_bytes = 0;
  int64_t artifact_bytes = 0;  // The manifest and all blobs it names.
};

ArtifactSummary Summarize(const CheckedManifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_
