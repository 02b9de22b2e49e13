#include "tests/gpu/suite/suite_case.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/blob.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/npy.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 31;

using Words = std::vector<std::string>;

// "0 0.05 17 64,3,7,7"
std::string FormatSeeded(const SeededNormal& seeded) {
  return absl::StrFormat("%.17g %.17g %d %s", seeded.mean, seeded.deviation, seeded.seed,
                         absl::StrJoin(seeded.shape, ","));
}

bool ReadSeeded(const Words& words, size_t at, SeededNormal& seeded) {
  if (words.size() < at + 4 || !absl::SimpleAtod(words[at], &seeded.mean) ||
      !absl::SimpleAtod(words[at + 1], &seeded.deviation) ||
      !absl::SimpleAtoi(words[at + 2], &seeded.seed)) {
    return false;
  }
  for (const std::string& extent : Words(absl::StrSplit(words[at + 3], ','))) {
    seeded.shape.push_back(0);
    if (!absl::SimpleAtoi(extent, &seeded.shape.back())) return false;
  }
  return CheckShape(seeded.shape, sizeof(float)).ok();
}

// "f16 1 768 3072"
std::string FormatLayout(const WeightLayout& layout) {
  return absl::StrFormat("%s %d %d %d", std::string(Name(layout.dtype)), layout.matrices,
                         layout.rows, layout.columns);
}

bool ReadLayout(const Words& words, size_t at, const Shape& shape, WeightLayout& layout) {
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    if (words[at] == Name(dtype)) layout.dtype = dtype;
  }
  int64_t left = NumElements(shape);
  int64_t* const extents[] = {&layout.matrices, &layout.rows, &layout.columns};
  for (size_t i = 0; i < std::size(extents); ++i) {
    if (!absl::SimpleAtoi(words[at + 1 + i], extents[i]) || *extents[i] < 1) return false;
    if (left % *extents[i] != 0) return false;
    left /= *extents[i];
  }
  return words[at] == Name(layout.dtype) && left == 1;
}

bool ReadDigest(const std::string& word, Digest& digest) {
  const absl::StatusOr<Digest> parsed = Digest::Parse(word);
  if (parsed.ok()) digest = *parsed;
  return parsed.ok();
}

bool ReadLine(const Words& words, SuiteCase& read) {
  const std::string& key = words[0];
  if (key == "kind" && words.size() == 2) {
    read.kind = words[1];
  } else if (key == "like" && words.size() == 2) {
    read.like = words[1];
  } else if (key == "precision" && words.size() == 2) {
    read.precision = words[1];
  } else if (key == "manifest" && words.size() == 2) {
    return ReadDigest(words[1], read.manifest);
  } else if (key == "tolerance" && words.size() == 3) {
    return absl::SimpleAtod(words[1], &read.tolerance.relative) &&
           absl::SimpleAtod(words[2], &read.tolerance.absolute);
  } else if (key == "input" && words.size() == 2) {
    read.inputs.emplace_back(words[1]);
  } else if (key == "seeded" && words.size() == 5) {
    SeededNormal seeded;
    if (!ReadSeeded(words, 1, seeded)) return false;
    read.inputs.emplace_back(std::move(seeded));
  } else if (key == "output" && words.size() == 3) {
    read.outputs.push_back({words[1], 0});
    return absl::SimpleAtoi(words[2], &read.outputs.back().stride) &&
           read.outputs.back().stride > 0;
  } else if (key == "constant" && words.size() == 6) {
    Digest digest;
    return ReadDigest(words[1], digest) && ReadSeeded(words, 2, read.constants[digest].seeded);
  } else if (key == "laid_out" && words.size() == 10) {
    Digest digest;
    if (!ReadDigest(words[1], digest)) return false;
    SuiteCase::Constant& constant = read.constants[digest];
    return ReadSeeded(words, 2, constant.seeded) &&
           ReadLayout(words, 6, constant.seeded.shape, constant.layout.emplace());
  } else {
    return false;
  }
  return true;
}

absl::StatusOr<Blob> LoadBlob(const std::string& suite, const SuiteCase& suite_case,
                              const Digest& digest) {
  Blob blob;
  const auto seeded = suite_case.constants.find(digest);
  if (seeded == suite_case.constants.end()) {
    SLIPWAY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(BlobPath(suite, digest), kMaxBytes));
    blob = Blob::Own(std::move(bytes));
  } else {
    auto made = std::make_shared<const Tensor>(MakeConstant(seeded->second));
    blob = Blob(made->bytes(), made);
  }
  if (Digest::Of(blob.bytes()) == digest) return blob;
  return absl::DataLossError(absl::StrCat("blob ", digest.hex(), " is another one"));
}

}  // namespace

Tensor MakeConstant(const SuiteCase::Constant& constant) {
  Tensor made = MakeSeeded(constant.seeded);
  if (!constant.layout.has_value()) return made;
  return LaidOutWeights(made, *constant.layout, {made.num_elements()});
}

std::string FormatSuiteCase(const SuiteCase& suite_case) {
  std::string text = absl::StrCat("kind ", suite_case.kind, "\n");
  if (!suite_case.like.empty()) absl::StrAppend(&text, "like ", suite_case.like, "\n");
  absl::StrAppend(&text, "precision ", suite_case.precision, "\n");
  absl::StrAppend(&text, "manifest ", suite_case.manifest.ToString(), "\n");
  absl::StrAppendFormat(&text, "tolerance %.17g %.17g\n", suite_case.tolerance.relative,
                        suite_case.tolerance.absolute);
  for (const auto& input : suite_case.inputs) {
    if (const auto* file = std::get_if<std::string>(&input)) {
      absl::StrAppend(&text, "input ", *file, "\n");
    } else {
      absl::StrAppend(&text, "seeded ", FormatSeeded(std::get<SeededNormal>(input)), "\n");
    }
  }
  for (const SuiteCase::Output& output : suite_case.outputs) {
    absl::StrAppend(&text, "output ", output.file, " ", output.stride, "\n");
  }
  for (const auto& [digest, constant] : suite_case.constants) {
    absl::StrAppend(&text, constant.layout.has_value() ? "laid_out " : "constant ",
                    digest.ToString(), " ", FormatSeeded(constant.seeded));
    if (constant.layout.has_value()) absl::StrAppend(&text, " ", FormatLayout(*constant.layout));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<SuiteCase> ParseSuiteCase(absl::string_view text) {
  SuiteCase read;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!ReadLine(absl::StrSplit(line, ' '), read)) {
      return absl::InvalidArgumentError(absl::StrCat("no line of a case: ", line));
    }
  }
  if (read.manifest.is_set()) return read;
  return absl::InvalidArgumentError("a case without a manifest");
}

std::string BlobPath(const std::string& suite, const Digest& digest) {
  return JoinPath(JoinPath(suite, "blobs"), digest.hex());
}

std::string CaseFolder(const std::string& suite, absl::string_view name) {
  return JoinPath(JoinPath(suite, "cases"), name);
}

Tensor Sampled(const Tensor& tensor, int64_t stride) {
  if (stride == 1) return tensor;
  const int64_t count = (tensor.num_elements() + stride - 1) / stride;
  Tensor sampled = Tensor::Zeros(tensor.dtype(), {count});
  const size_t element = static_cast<size_t>(ByteSize(tensor.dtype()));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(sampled.mutable_bytes() + static_cast<size_t>(i) * element,
                tensor.bytes().data() + static_cast<size_t>(i * stride) * element, element);
  }
  return sampled;
}

absl::StatusOr<Artifact> LoadSuiteProgram(const std::string& suite, const SuiteCase& suite_case) {
  SLIPWAY_ASSIGN_OR_RETURN(const Blob manifest, LoadBlob(suite, suite_case, suite_case.manifest));
  return Artifact::Parse(manifest.bytes(),
                         [&](const Digest& digest) { return LoadBlob(suite, suite_case, digest); });
}

absl::StatusOr<std::vector<Tensor>> LoadSuiteInputs(const std::string& folder,
                                                    const SuiteCase& suite_case) {
  std::vector<Tensor> inputs;
  for (const auto& input : suite_case.inputs) {
    if (const auto* seeded = std::get_if<SeededNormal>(&input)) {
      inputs.push_back(MakeSeeded(*seeded));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes,
                             ReadFile(JoinPath(folder, std::get<std::string>(input)), kMaxBytes));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ParseNpy(bytes));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace slipway::testing
