// ArtifactSummary: what people and the command want to know of an artifact.
#ifndef SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_
#define SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
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
    // What a step that decides does: "if: keep, else change", "loop: body", "bind: count".
    std::string control;
    // Of a step that calls a kernel: which code, and which of its kernels.
    struct Kernel {
      uint32_t code = 0;
      uint32_t number = 0;
    };
    std::optional<Kernel> kernel = {};
    // Of a step that decides: the functions that it may run, by their place in the manifest.
    std::vector<size_t> runs = {};
  };
  struct Function {
    std::string name;
    bool is_entry = false;  // The one that runs, or a further one.
    std::vector<NamedType> inputs, outputs;
    std::vector<Step> steps;
  };
  struct Code {
    std::string kind;  // "ELF", "PTX", "OPENCL_SOURCE".
    std::string device;
    int64_t bytes = 0;
    int64_t kernels = 0;
    std::vector<std::string> entries;
  };
  struct Space {
    std::string device;
    std::vector<std::string> shared_with;
    int64_t arena_bytes = 0;
  };
  struct Symbol {
    std::string name;
    int64_t min = 0;
    int64_t max = 0;
  };

  Digest digest;
  std::string name;
  std::string target;
  std::string compile_key;
  std::vector<std::pair<std::string, std::string>> tools;  // Name and version.
  std::vector<NamedType> inputs, outputs;
  std::vector<Step> steps;          // Of the entry function.
  size_t entry = 0;                 // Its place in the manifest.
  std::vector<Function> functions;  // The others, in the manifest's order.
  std::vector<Code> code;
  std::vector<Space> spaces;
  std::vector<Symbol> symbols;
  int64_t kernels = 0;
  int64_t code_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t arena_bytes = 0;
  int64_t artifact_bytes = 0;  // The manifest and all blobs it names.
};

ArtifactSummary Summarize(const CheckedManifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_ARTIFACT_SUMMARY_H_
