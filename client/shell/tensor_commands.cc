// Commands about tensors.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/tensor_files.h"
#include "client/shell/commands.h"
#include "client/shell/render_shell.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// Keeps a tensor under the name that the line gives it.
absl::Status Finish(Shell& shell, const CommandLine& line, StartedTensor started) {
  SLIPWAY_RETURN_IF_ERROR(shell.Await(started.done).status());
  const std::string& name = line.results.front();
  const std::vector<NamedTensorType> made = {{name, started.tensor.type()}};
  shell.Keep(name, std::move(started.tensor));
  shell.Show([&] { return RenderTensors(made, absl::ZeroDuration()); },
             [&] { return RenderTensorsJson(made, absl::ZeroDuration()); });
  return absl::OkStatus();
}

// All arrays of a file, or none: they get the names that are given, or those that the file has for them.
absl::Status PutArchive(Shell& shell, const CommandLine& line) {
  const std::string& path = line.words.front();
  absl::StatusOr<std::vector<NamedTensor>> arrays = ReadTensorArchive(path);
  if (!arrays.ok()) {
    return WrongCall(absl::StrCat("\"", path, "\": ", arrays.status().message()));
  }
  if (!line.results.empty() && line.results.size() != arrays->size()) {
    return WrongCall(absl::StrCat(line.results.size(), " names are given, but \"", path, "\" has ",
                                  arrays->size(), " arrays"));
  }
  std::vector<StartedTensor> started;
  std::vector<NamedTensorType> made;
  for (size_t i = 0; i < arrays->size(); ++i) {
    const NamedTensor& array = (*arrays)[i];
    const std::string& name = line.results.empty() ? array.name : line.results[i];
    started.push_back(shell.session().PutAsync(array.tensor, name));
    made.push_back({name, array.tensor.type()});
  }
  for (size_t i = 0; i < started.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        shell.Await(started[i].done).status(),
        absl::StrCat("array \"", absl::Utf8SafeCEscape((*arrays)[i].name), "\""));
  }
  for (size_t i = 0; i < started.size(); ++i) {
    shell.Keep(made[i].name, std::move(started[i].tensor));
  }
  shell.Show([&] { return RenderTensors(made, absl::ZeroDuration()); },
             [&] { return RenderTensorsJson(made, absl::ZeroDuration()); });
  return absl::OkStatus();
}

absl::StatusOr<TensorType> TypeOf(const CommandLine& line) {
  absl::StatusOr<TensorType> type = ParseTensorType(line.words.front());
  if (!type.ok()) return WrongCall(type.status().message());
  return type;
}

}  // namespace

absl::Status Put(Shell& shell, const CommandLine& line) {
  const std::string& path = line.words.front();
  if (absl::EndsWith(path, ".npz")) return PutArchive(shell, line);
  if (line.results.size() != 1) {
    return WrongCall(absl::StrCat("\"", path, "\" is one tensor: NAME = put FILE"));
  }
  const absl::StatusOr<Tensor> tensor = ReadTensorFile(path);
  if (!tensor.ok()) {
    return WrongCall(absl::StrCat("\"", path, "\": ", tensor.status().message()));
  }
  return Finish(shell, line, shell.session().PutAsync(*tensor, line.results.front()));
}

absl::Status Random(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(line));
  const absl::StatusOr<int64_t> seed = line.Integer("seed", 0, 0, INT64_MAX);
  if (!seed.ok()) return WrongCall(seed.status().message());
  return Finish(
      shell, line,
      shell.session().RandomAsync(type, static_cast<uint64_t>(*seed), line.results.front()));
}

absl::Status Zeros(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(line));
  return Finish(shell, line, shell.session().ZerosAsync(type, line.results.front()));
}

absl::Status Get(Shell& shell, const CommandLine& line) {
  const std::string& name = line.words.front();
  const std::string path = line.words.size() > 1 ? line.words[1] : "";
  if (!path.empty() && !absl::EndsWith(path, ".npy")) {
    return WrongCall(absl::StrCat("\"", path, "\" does not end in .npy"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor* const remote, shell.FindTensor(name));
  Future<Tensor> future = remote->GetAsync();
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, shell.Await(future));
  const NamedTensor named{name, std::move(tensor)};
  if (!path.empty()) SLIPWAY_RETURN_IF_ERROR(WriteTensorFile(named.tensor, path));
  shell.Show([&] { return RenderTensor(named, path); },
             [&] { return RenderTensorJson(named, path); });
  return absl::OkStatus();
}

absl::Status Slice(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor* const from, shell.FindTensor(line.words.front()));
  const Shape extents = from->type().shape;
  if (line.words.size() != extents.size() + 1) {
    return WrongCall(absl::StrCat("\"", line.words.front(), "\" has ", extents.size(),
                                  " dimensions; one BEGIN:END for each wanted"));
  }
  std::vector<int64_t> begin;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < extents.size(); ++i) {
    const absl::StatusOr<Range> range = ParseRange(line.words[i + 1], extents[i]);
    if (!range.ok()) return WrongCall(range.status().message());
    begin.push_back(range->begin);
    shape.push_back(range->size);
  }
  return Finish(shell, line, from->SliceAsync(begin, shape, line.results.front()));
}

absl::Status Copy(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor* const from, shell.FindTensor(line.words.front()));
  return Finish(shell, line, from->CopyAsync(line.results.front()));
}

absl::Status Assign(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(RemoteTensor* const to, shell.FindTensor(line.words[0]));
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor* const from, shell.FindTensor(line.words[1]));
  std::vector<int64_t> begin(to->type().shape.size());
  if (line.words.size() > 2 && line.words.size() != begin.size() + 2) {
    return WrongCall(absl::StrCat("\"", line.words[0], "\" has ", begin.size(),
                                  " dimensions; a first index for each wanted, or none"));
  }
  for (size_t i = 2; i < line.words.size(); ++i) {
    if (absl::SimpleAtoi(line.words[i], &begin[i - 2])) continue;
    return WrongCall(absl::StrCat("\"", line.words[i], "\" is no index"));
  }
  Future<Done> future = to->AssignAsync(begin, *from);
  SLIPWAY_RETURN_IF_ERROR(shell.Await(future).status());
  const std::vector<NamedTensorType> changed = {{line.words[0], to->type()}};
  shell.Show([&] { return RenderTensors(changed, absl::ZeroDuration()); },
             [&] { return RenderTensorsJson(changed, absl::ZeroDuration()); });
  return absl::OkStatus();
}

}  // namespace slipway::cli
