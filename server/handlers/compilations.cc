#include "server/handlers/compilations.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/artifact/compile_key.h"
#include "core/artifact/library_name.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"
#include "core/wire/precision_proto.h"
#include "core/wire/tensor_proto.h"
#include "server/handlers/new_job.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

// Names of files that the main one refers to become paths on the worker.
absl::Status CheckFileName(absl::string_view name) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("file name '", absl::CHexEscape(name.substr(0, kMaxFileNameBytes)),
                   "' of the model is refused: a relative path of at most ", kMaxFileNameBytes,
                   " bytes without '..' is wanted"));
  if (name.empty() || name.size() > kMaxFileNameBytes ||
      name.find('\0') != absl::string_view::npos) {
    return bad;
  }
  for (absl::string_view part : absl::StrSplit(name, '/')) {
    if (part.empty() || part == "." || part == "..") return bad;
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const HandlerLimits& limits, const v1::Model& model) {
  if (model.format() == v1::MODEL_FORMAT_UNSPECIFIED || !v1::ModelFormat_IsValid(model.format())) {
    return absl::InvalidArgumentError(absl::StrCat("model format ", model.format(), " is unknown"));
  }
  if (model.files_size() < 1 || model.files_size() > kMaxModelFiles) {
    return absl::InvalidArgumentError(absl::StrCat("the model has ", model.files_size(),
                                                   " files; 1 to ", kMaxModelFiles, " wanted"));
  }
  if (model.display_name().size() > kMaxDisplayNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model's display_name has more than ", kMaxDisplayNameBytes, " bytes"));
  }
  absl::flat_hash_set<std::string> names;
  int64_t total = 0;
  for (int i = 0; i < model.files_size(); ++i) {
    const v1::ModelFile& file = model.files(i);
    // Nothing refers to the main file by its name.
    if (i > 0) SLIPWAY_RETURN_IF_ERROR(CheckFileName(file.name()));
    if (!names.insert(file.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("file '", file.name(), "' comes twice in the model"));
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(file.digest()),
                                  absl::StrCat("file '", file.name(), "' of the model"));
    if (digest.size_bytes() > limits.max_model_bytes - total) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the model's files have more than ", limits.max_model_bytes,
                       " bytes, which this server allows; "
                       "--max-model-size of the server allows more"));
    }
    total += digest.size_bytes();
  }
  return absl::OkStatus();
}

// Sorted and unique, so that equal questions have one answer in the cache.
absl::Status CheckNames(absl::string_view what,
                        const google::protobuf::RepeatedPtrField<std::string>& names, int max_names,
                        size_t max_bytes) {
  if (names.size() > max_names) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.size(), " names of ", what, " are given; at most ", max_names));
  }
  for (int i = 0; i < names.size(); ++i) {
    if (names[i].size() > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat("a name of ", what, " has ", names[i].size(),
                                                     " bytes; at most ", max_bytes));
    }
    if (i > 0 && names[i] <= names[i - 1]) {
      return absl::InvalidArgumentError(absl::StrCat("'", names[i], "' among the names of ", what,
                                                     " is out of order or given twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRanges(const v1::CompileOptions& options) {
  google::protobuf::RepeatedPtrField<std::string> names;
  for (const v1::ValueRange& range : options.ranges()) {
    *names.Add() = range.name();
    if (!std::isfinite(range.least()) || !std::isfinite(range.greatest()) ||
        range.least() > range.greatest()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the range of '", absl::Utf8SafeCEscape(range.name()), "' is ", range.least(), " to ",
          range.greatest(), "; two finite numbers in order are wanted"));
    }
  }
  if (options.observe() && !names.empty()) {
    return absl::InvalidArgumentError(
        "what ranges are given for cannot be observed as well; leave one out");
  }
  return CheckNames("values with ranges", names, kMaxRanges, kMaxKeptNameBytes);
}

absl::Status CheckOptions(const v1::CompileOptions& options) {
  if (options.dimensions_size() > kMaxDimensionBindings) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.dimensions_size(), " dimensions are bound; at most ", kMaxDimensionBindings));
  }
  absl::string_view last;
  for (int i = 0; i < options.dimensions_size(); ++i) {
    const v1::DimensionBinding& binding = options.dimensions(i);
    if (binding.symbol().empty() || binding.symbol().size() > kMaxSymbolBytes) {
      return absl::InvalidArgumentError(absl::StrCat("the name of a bound dimension has ",
                                                     binding.symbol().size(), " bytes; 1 to ",
                                                     kMaxSymbolBytes, " wanted"));
    }
    if (i > 0 && binding.symbol() <= last) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension '", binding.symbol(), "' is out of order or bound twice"));
    }
    if (binding.value() < 1 || binding.value() > kMaxDimensionValue) {
      return absl::InvalidArgumentError(absl::StrCat("dimension '", binding.symbol(),
                                                     "' is bound to ", binding.value(), "; 1 to ",
                                                     kMaxDimensionValue, " wanted"));
    }
    if (binding.max() != 0 &&
        (binding.max() < binding.value() || binding.max() > kMaxDimensionValue)) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension '", binding.symbol(), "' is at most ", binding.max(), "; ",
                       binding.value(), " to ", kMaxDimensionValue, " wanted"));
    }
    last = binding.symbol();
  }
  SLIPWAY_RETURN_IF_ERROR(FromProto(options.precision()).status());
  if (options.print_after().size() > kMaxSymbolBytes) {
    return absl::InvalidArgumentError("print_after is no name of a pass: it is too long");
  }
  if (options.schedules().size() > kMaxSchedulesBytes) {
    return absl::InvalidArgumentError(absl::StrCat("schedules of ", options.schedules().size(),
                                                   " bytes are given; at most ",
                                                   kMaxSchedulesBytes));
  }
  if (!options.library_name().empty()) {
    SLIPWAY_RETURN_IF_ERROR(CheckLibraryName(options.library_name()));
  }
  SLIPWAY_RETURN_IF_ERROR(
      CheckNames("values to keep", options.keep(), kMaxKeptNames, kMaxKeptNameBytes));
  SLIPWAY_RETURN_IF_ERROR(
      CheckNames("passes to leave out", options.without(), kMaxPassesWithout, kMaxSymbolBytes));
  return CheckRanges(options);
}

// As blobs, so that a specification stays small; sorted, so that equal questions have one answer in the cache.
absl::Status CheckEvaluation(const HandlerLimits& limits, const v1::Evaluation& evaluation) {
  if (evaluation.inputs_size() > kMaxInputs) {
    return absl::InvalidArgumentError(absl::StrCat(
        evaluation.inputs_size(), " inputs to evaluate for are given; at most ", kMaxInputs));
  }
  google::protobuf::RepeatedPtrField<std::string> names;
  int64_t total = 0;
  for (const v1::Tensor& input : evaluation.inputs()) {
    *names.Add() = input.name();
    if (!input.has_blob()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", absl::Utf8SafeCEscape(input.name()), "' is no blob"));
    }
    SLIPWAY_RETURN_IF_ERROR(CheckTensorProto(input));
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(input.blob()));
    if (digest.size_bytes() > limits.max_input_bytes - total) {
      return absl::ResourceExhaustedError(absl::StrCat("the inputs have more than ",
                                                       limits.max_input_bytes,
                                                       " bytes, which this server allows"));
    }
    total += digest.size_bytes();
  }
  return CheckNames("inputs to evaluate for", names, kMaxInputs, kMaxKeptNameBytes);
}

// Files of the model, and inputs that it is evaluated for.
std::vector<Digest> BlobsOf(const v1::CompilationSpec& spec) {
  std::vector<Digest> digests;
  for (const v1::ModelFile& file : spec.model().files()) {
    digests.push_back(*FromProto(file.digest()));
  }
  for (const v1::Tensor& input : spec.options().evaluation().inputs()) {
    digests.push_back(*FromProto(input.blob()));
  }
  return digests;
}

}  // namespace

absl::Status CheckCompilationSpec(const HandlerLimits& limits, v1::CompilationSpec* spec) {
  SLIPWAY_RETURN_IF_ERROR(CheckModel(limits, spec->model()));
  if (spec->target().name().empty()) {
    return absl::InvalidArgumentError("the target is missing: name one, such as 'x86-64-v3-linux'");
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(spec->target().name()));
  spec->mutable_target()->set_name(target.ToString());
  SLIPWAY_RETURN_IF_ERROR(CheckOptions(spec->options()));
  return CheckEvaluation(limits, spec->options().evaluation());
}

absl::Status CreateCompilation(const Caller& caller, const Environment& env,
                               const v1::CreateCompilationRequest& request,
                               v1::CreateCompilationResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const JobRequest job_request, ReadJobRequest(caller, env, request));
  v1::CompilationSpec spec = request.spec();
  SLIPWAY_RETURN_IF_ERROR(CheckCompilationSpec(env.limits, &spec));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::optional<std::string> earlier,
                           FindEarlier(caller, env, job_request));
  if (earlier.has_value()) {
    response->set_job_id(*earlier);
    return absl::OkStatus();
  }
  const std::vector<Digest> blobs = BlobsOf(spec);
  SLIPWAY_RETURN_IF_ERROR(CheckPresent(*env.blobs, blobs, "the model"));
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(spec.target().name()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string fingerprint, env.fingerprint(target));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string key, CompileKey(spec, fingerprint));

  JobRecord record = NewRecord(caller, env, job_request, spec.model().display_name(), blobs);
  CompilationFacts& facts = *record.mutable_compilation();
  facts.set_compile_key(key);
  facts.set_fingerprint(fingerprint);
  // Who asks for a graph's text, or how kernels are cut, wants it compiled before his eyes.
  const v1::CompileOptions& options = spec.options();
  const bool is_shared =
      options.print_after().empty() && !options.print_schedules() && !options.tell_candidates();
  if (is_shared) facts.set_group(key);
  *record.mutable_job()->mutable_compilation() = std::move(spec);
  if (is_shared) {
    if (absl::optional<v1::CompilationResult> found = env.artifacts->FindCompiled(key)) {
      SLIPWAY_ASSIGN_OR_RETURN(record,
                               Apply(record, FoundInCache{*std::move(found)}, env.clock->Now()));
      env.dispatcher->CountCacheHit();
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const JobRecord accepted,
                           env.dispatcher->Accept(caller, std::move(record)));
  response->set_job_id(accepted.job().id());
  return absl::OkStatus();
}

}  // namespace slipway::server
