#include "client/cli/examples.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/tensor_files.h"
#include "core/artifact/input_match.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

bool IsTensorFile(absl::string_view path) {
  return absl::EndsWith(path, ".npz") || absl::EndsWith(path, ".npy") ||
         absl::EndsWith(path, ".pb");
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (IsTensorFile(it->path().native())) files.push_back(it->path().native());
  }
  if (error) return WrongCall(absl::StrCat("folder \"", path, "\": ", error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::vector<NamedTensor>> ReadArrays(const std::string& path,
                                                    absl::Span<const NamedType> inputs) {
  if (absl::EndsWith(path, ".npz")) return ReadTensorArchive(path);
  if (inputs.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", inputs.size(),
                     " inputs; a .npz file has an array for each of them, by its name"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ReadTensorFile(path));
  return std::vector<NamedTensor>{{inputs[0].name, std::move(tensor)}};
}

absl::StatusOr<std::vector<Tensor>> Match(std::vector<NamedTensor> arrays,
                                          absl::Span<const NamedType> inputs) {
  std::vector<Tensor> tensors(inputs.size());
  InputNames names(inputs);
  for (NamedTensor& array : arrays) {
    SLIPWAY_ASSIGN_OR_RETURN(const size_t position, names.Take(array.name));
    SLIPWAY_RETURN_IF_ERROR(CheckInput(inputs[position], array.tensor.type()));
    if (array.tensor.dtype() == DataType::kFloat32 &&
        !absl::c_all_of(array.tensor.values<float>(), [](float x) { return std::isfinite(x); })) {
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", array.name, "\" holds a number that is not finite"));
    }
    tensors[position] = std::move(array.tensor);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (tensors[i].dtype() != DataType::kInvalid) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no array for input \"", inputs[i].name, "\""));
  }
  return tensors;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListExamples(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return WrongCall(absl::StrCat("no example \"", path, "\""));
    if (!S_ISDIR(info.st_mode)) {
      files.push_back(path);
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> found, ListFolder(path));
    if (found.empty()) {
      return WrongCall(absl::StrCat("there is no .npz, .npy or .pb file in \"", path, "\""));
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) {
    return WrongCall(
        "8 bits need examples of what the model is given; name them with \"--examples\"");
  }
  return files;
}

absl::StatusOr<std::vector<Tensor>> ReadExample(const std::string& path,
                                                absl::Span<const NamedType> inputs) {
  absl::StatusOr<std::vector<NamedTensor>> arrays = ReadArrays(path, inputs);
  absl::Status status = arrays.status();
  if (status.ok()) {
    absl::StatusOr<std::vector<Tensor>> tensors = Match(*std::move(arrays), inputs);
    if (tensors.ok()) return tensors;
    status = tensors.status();
  }
  return WrongCall(absl::StrCat("example \"", path, "\": ", status.message()));
}

}  // namespace slipway::cli
