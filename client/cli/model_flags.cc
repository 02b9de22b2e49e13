#include "client/cli/model_flags.h"

#include <sys/stat.h>

#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/precision.h"
#include "client/cli/tag_flags.h"
#include "client/model_files.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/schedules/kernel_schedule.h"
#include "core/selector/selector.h"
#include "core/target/machine_description.h"
#include "core/target/target.h"

namespace slipway::cli {
namespace {

// What came of a compilation's records.
std::string AboutRecords(const Compilation& compilation) {
  if (!compilation.kernels_recorded.has_value()) {
    return "the compiler does not know of schedules, and has chosen all by itself\n";
  }
  const int64_t used = *compilation.kernels_recorded;
  return absl::StrCat("schedules: ", used, " of ", compilation.records,
                      " records are of kernels of the model\n");
}

// Whether something of the target multiplies in these.
bool HasInstructionsFor(const Target& target, Precision precision) {
  const auto has_tensor_cores = [](const DeviceTarget& device) {
    return device.arch == Arch::kCuda && DescribeMachine(device).has_bf16;
  };
  return target.host().Has(Name(precision)) || absl::c_any_of(target.devices, has_tensor_cores);
}

// What came of the wish for other products than those of f32.
std::string AboutPrecision(const Job& job, Precision wanted) {
  const absl::string_view name = Name(wanted);
  if (job.compilation->precision == wanted) return absl::StrCat("precision: ", name, "\n");
  if (!job.compilation->precision.has_value()) {
    return "precision: one that this version of the command does not know\n";
  }
  const absl::StatusOr<Target> target = ParseTarget(job.target);
  if (target.ok() && HasInstructionsFor(*target, wanted)) {
    return absl::StrCat("precision: f32: no product of the model is computed in ", name, " for \"",
                        Printable(job.target), "\"\n");
  }
  return absl::StrCat("precision: f32, which is faster than emulating ", name, ": \"",
                      Printable(job.target), "\" has no instructions for it\n");
}

}  // namespace

absl::StatusOr<std::string> CanonicalTarget(const std::string& text) {
  if (text == "host") return HostTarget().ToString();
  const absl::StatusOr<Target> target = ParseTarget(text);
  if (!target.ok()) {
    return WrongCall(absl::StrCat("flag \"--target\": ", target.status().message()));
  }
  return target->ToString();
}

absl::Span<const Optimization> Optimizations() {
  static constexpr Optimization kAll[kOptimizations] = {
      {"winograd", "ChooseConvolution",
       "Make convolutions of transformed tiles where that is faster; it rounds a little more."},
      {"strassen", "ChooseProduct",
       "Make products of seven of half their extents where that is faster."},
      {"blocked-layout", "AlterLayout", "Keep channels of images in blocks."},
      {"padded-channels", "PadChannels",
       "Give images more channels, of zeros, where vectors are fuller by that."},
      {"fused-attention", "FuseAttention", "Compute attention without its scores in memory."},
      {"narrow-products", "NarrowProducts",
       "Compute products of bf16 and of bytes where the target sums several at once."},
      {"tabulated-codes", "TabulateCodes", "Look up what is computed of a number of 8 bits alone."},
      {"split-batch", "SplitBatch",
       "Do images of a batch one after the other where caches hold one and not all."},
      {"packed-products", "PackGemm", "Keep constant matrices in panels."},
      {"folded-pads", "FoldPad", "Make zeros around an image the padding of a convolution."},
      {"folded-scales", "FoldScaleAxis", "Put scales and shifts a channel into weights."},
      {"delayed-resizes", "DelayResize",
       "Make images larger behind the convolution of single places that reads them."},
      {"merged-transposes", "MergeTransposes", "Make one permutation of several."},
      {"integer-products", "FoldQuantization",
       "Multiply quantized tensors as the integers that they are."},
      {"shared-nodes", "EliminateCommonSubexpr", "Compute equal nodes once."},
  };
  return kAll;
}

void ModelFlags::AddTo(FlagSet& flags, bool runs) {
  flags.Add("target", &target, "TARGET",
            runs ? "Compile for it, instead of for the device; \"host\" is this machine."
                 : "Compile for it; \"host\", the default, is this machine.");
  flags.Add("device", &device, "ID|SELECTOR",
            runs ? "Device to run on, or any that matches, such as \"arch=arm-64 memory>=4GiB "
                   "label:lab=berlin\"; else any that can."
                 : "Compile for the target of this device, or of those that match.");
  flags.Add("dimension", &dimensions, "SYMBOL=N",
            "Extent of a symbolic dimension, or its bounds MIN..MAX; free without it. Repeatable.");
  flags.Add("keep", &keep, "NAME",
            "Give this value of the model as an output, too; \"*\" stands for any characters. "
            "Repeatable.");
  flags.Add("precision", &precision, "TYPE",
            "Numbers that products are computed in: f32; tf32, f16 or bf16 where the target has "
            "instructions for them; or int8, which needs examples.");
  flags.Add("examples", &examples, "FILE|DIR",
            "What the model is given, for int8: .npz files with an array for each input, or .npy "
            "and .pb files of a model's one input. Repeatable.");
  for (size_t i = 0; i < kOptimizations; ++i) {
    flags.Add(Optimizations()[i].flag, &optimizations[i], Optimizations()[i].help);
  }
  flags.Add("schedules", &schedules, "FILE",
            "Cut the loops of kernels as this file says, instead of as the compiler chooses; "
            "\"compile --write-schedules\" writes one.");
  flags.Add("priority", &priority, -1000, 1000, "N",
            "Of jobs that wait for the same device or compiler, higher ones go first.");
  flags.Add("tag", &tags, "KEY=VALUE", kTagHelp);
}

absl::StatusOr<std::vector<Device>> MatchingDevices(Client& client, const std::string& selector) {
  absl::StatusOr<DeviceList> list = client.FindDevices({.selector = selector});
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(list.status()));
  if (list->devices.empty()) {
    return WithExitCode(absl::NotFoundError(list->explanation), ExitCode::kUnreachable);
  }
  return std::move(list->devices);
}

absl::StatusOr<std::string> ChooseTarget(const ModelFlags& flags, bool runs,
                                         absl::Span<const Device> devices) {
  if (!flags.target.empty()) return CanonicalTarget(flags.target);
  const bool is_selected = IsSelector(flags.device);
  if (!flags.device.empty() && !is_selected) {
    std::vector<std::string> ids;
    for (const Device& device : devices) {
      if (device.id == flags.device) return CanonicalTarget(device.target);
      ids.push_back(device.id);
    }
    return WithExitCode(absl::NotFoundError(absl::StrCat(
                            "no device \"", flags.device, "\"; ",
                            ids.empty() ? "there are none"
                                        : absl::StrCat("there are: ", absl::StrJoin(ids, ", ")))),
                        ExitCode::kUnreachable);
  }
  if (!runs && !is_selected) return HostTarget().ToString();
  const Device* chosen = nullptr;
  for (const Device& device : devices) {
    if (device.state == DeviceState::kLost) continue;
    if (chosen != nullptr && chosen->target != device.target) {
      return WrongCall(absl::StrCat(is_selected ? "devices that match" : "devices",
                                    " differ, for example \"", chosen->id, "\" (", chosen->target,
                                    ") and \"", device.id, "\" (", device.target,
                                    "); choose with \"--device\" or \"--target\""));
    }
    chosen = &device;
  }
  if (chosen == nullptr) {
    return WithExitCode(absl::UnavailableError(
                            is_selected ? "every device that matches is lost"
                                        : "the server has no device; start slipway-agent on one"),
                        ExitCode::kUnreachable);
  }
  return CanonicalTarget(chosen->target);
}

absl::StatusOr<DimensionBounds> ParseDimension(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::pair<std::string, std::string> bounds =
      absl::StrSplit(parts.second, absl::MaxSplits("..", 1));
  DimensionBounds dimension{parts.first};
  bool fits = !parts.first.empty() && absl::SimpleAtoi(bounds.first, &dimension.min);
  dimension.max = dimension.min;
  if (fits && absl::StrContains(parts.second, "..")) {
    fits = absl::SimpleAtoi(bounds.second, &dimension.max);
  }
  if (!fits || dimension.min < 1 || dimension.max < dimension.min) {
    return WrongCall(
        absl::StrCat("flag \"--dimension\" takes SYMBOL=N or SYMBOL=MIN..MAX, not \"", text, "\""));
  }
  return dimension;
}

absl::StatusOr<CompileOptions> MakeCompileOptions(Connection& connection, const ModelFlags& flags,
                                                  bool runs) {
  CompileOptions options;
  options.keep = flags.keep;
  for (size_t i = 0; i < kOptimizations; ++i) {
    if (!flags.optimizations[i]) options.without.emplace_back(Optimizations()[i].pass);
  }
  if (!flags.schedules.empty()) {
    const absl::StatusOr<std::string> text = ReadFile(flags.schedules, kMaxSchedulesBytes);
    if (!text.ok()) {
      return WrongCall(absl::StrCat("flag \"--schedules\": ", text.status().message()));
    }
    options.schedules = *text;
  }
  options.priority = static_cast<int>(flags.priority);
  SLIPWAY_ASSIGN_OR_RETURN(options.tags, TagsOf(flags.tags));
  for (const std::string& text : flags.dimensions) {
    SLIPWAY_ASSIGN_OR_RETURN(options.dimensions.emplace_back(), ParseDimension(text));
  }
  std::vector<Device> devices;
  if (flags.target.empty() && (runs || !flags.device.empty())) {
    SLIPWAY_RETURN_IF_ERROR(connection.EnsureDevice());
    if (IsSelector(flags.device)) {
      SLIPWAY_ASSIGN_OR_RETURN(devices, MatchingDevices(connection.client(), flags.device));
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(devices, connection.client().ListDevices());
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(options.target, ChooseTarget(flags, runs, devices));
  return options;
}

absl::StatusOr<Job> CompileModel(Environment& environment, Connection& connection,
                                 const std::string& path, const CompileOptions& options) {
  Client& client = connection.client();
  SLIPWAY_ASSIGN_OR_RETURN(const ModelFiles model, ReadModelFiles(path, client.max_model_bytes()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string id, SubmitJob(environment, model.display_name, [&] {
                             return client.SubmitCompilation(model, options);
                           }));
  SLIPWAY_ASSIGN_OR_RETURN(Job job, FollowJob(environment, client, id, model.display_name));
  if (options.precision != Precision::kFloat32) {
    environment.err << AboutPrecision(job, options.precision);
  }
  if (!options.schedules.empty()) environment.err << AboutRecords(*job.compilation);
  return job;
}

absl::StatusOr<ArtifactSummary> PrepareArtifact(Environment& environment, Connection& connection,
                                                const std::string& path, const ModelFlags& flags) {
  SLIPWAY_RETURN_IF_ERROR(CheckFile(path));
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_slip, IsSlip(path));
  if (is_slip) {
    if (!flags.target.empty() || !flags.dimensions.empty() || !flags.keep.empty() ||
        flags.precision != "f32" || !flags.schedules.empty() ||
        flags.optimizations != AllOptimizations()) {
      return WrongCall(absl::StrCat("\"", path, "\" is compiled already; \"--target\", ",
                                    "\"--dimension\", \"--keep\", \"--precision\", "
                                    "\"--schedules\" and what leaves optimizations out are "
                                    "for models"));
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Artifact artifact, ReadSlip(path),
                                  absl::StrCat("\"", path, "\""));
    SLIPWAY_RETURN_IF_ERROR(connection.client().PutArtifact(artifact));
    return Summarize(artifact.manifest());
  }
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions options,
                           MakeCompileOptions(connection, flags, /*runs=*/true));
  SLIPWAY_RETURN_IF_ERROR(ApplyPrecision(environment, connection, path, flags, options));
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, connection, path, options));
  return connection.client().DescribeArtifact(job.compilation->artifact);
}

absl::Status CheckFile(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return WrongCall(absl::StrCat("no file \"", path, "\""));
  if (S_ISDIR(info.st_mode)) {
    return WrongCall(absl::StrCat("\"", path, "\" is a folder, not a file"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> IsSlip(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const MappedFile file,
                           MappedFile::Open(path, std::numeric_limits<int64_t>::max()));
  // A damaged head is still no model: the reader then says what is wrong.
  return LooksLikeSlip(file.bytes()) || absl::EndsWith(path, ".slip");
}

absl::Status CheckModelAndOutput(const std::string& path, const std::string& output) {
  SLIPWAY_RETURN_IF_ERROR(CheckFile(path));
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_slip, IsSlip(path));
  if (is_slip) return WrongCall(absl::StrCat("\"", path, "\" is compiled already"));
  if (output.empty() || absl::EndsWith(output, ".slip")) return absl::OkStatus();
  return WrongCall(absl::StrCat("flag \"--output\": \"", output, "\" does not end in .slip"));
}

std::string BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == absl::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace slipway::cli
