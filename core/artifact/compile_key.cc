#include "core/artifact/compile_key.h"

#include <cstdint>
#include <map>

#include "absl/base/casts.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr int kRevision = 1;

// Appends a field so that no two lists of fields give the same text.
void AddField(absl::string_view name, absl::string_view value, std::string& text) {
  absl::StrAppend(&text, name, " ", value.size(), ":", value, "\n");
}

std::string FloatBits(float value) {
  return absl::StrCat(absl::Hex(absl::bit_cast<uint32_t>(value), absl::kZeroPad8));
}

}  // namespace

absl::StatusOr<std::string> CompileKey(const v1::CompilationSpec& spec,
                                       absl::string_view fingerprint) {
  const v1::Model& model = spec.model();
  if (model.files().empty()) {
    return absl::InvalidArgumentError("the model has no files");
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(Digest::FromHex(fingerprint, 0).status(), "compiler fingerprint");
  std::string text;
  AddField("slipway-compile-key", absl::StrCat(kRevision), text);
  AddField("format", absl::StrCat(static_cast<int>(model.format())), text);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest main_file, FromProto(model.files(0).digest()),
                                "main file");
  AddField("main-file", main_file.ToString(), text);
  std::map<std::string, Digest> files;
  for (int i = 1; i < model.files_size(); ++i) {
    const v1::ModelFile& file = model.files(i);
    const std::string subject = absl::StrCat("file '", absl::Utf8SafeCEscape(file.name()), "'");
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(file.digest()), subject);
    if (!files.emplace(file.name(), digest).second) {
      return absl::InvalidArgumentError(absl::StrCat(subject, " is in the model twice"));
    }
  }
  for (const auto& [name, digest] : files) {
    AddField("file-name", name, text);
    AddField("file-digest", digest.ToString(), text);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(spec.target().name()));
  AddField("target", target.ToString(), text);
  std::map<std::string, const v1::DimensionBinding*> dimensions;
  for (const v1::DimensionBinding& binding : spec.options().dimensions()) {
    if (!dimensions.emplace(binding.symbol(), &binding).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension '", absl::Utf8SafeCEscape(binding.symbol()), "' is bound twice"));
    }
  }
  for (const auto& [symbol, binding] : dimensions) {
    AddField("dimension", symbol, text);
    AddField("value", absl::StrCat(binding->value()), text);
    if (binding->max() != 0) AddField("max", absl::StrCat(binding->max()), text);
  }
  for (const std::string& name : spec.options().keep()) AddField("keep", name, text);
  for (const std::string& name : spec.options().without()) AddField("without", name, text);
  for (const v1::ValueRange& range : spec.options().ranges()) {
    AddField("range", range.name(), text);
    AddField("least", FloatBits(range.least()), text);
    AddField("greatest", FloatBits(range.greatest()), text);
  }
  if (spec.options().observe()) AddField("observe", "", text);
  if (spec.options().precision() != v1::PRECISION_UNSPECIFIED) {
    AddField("precision", absl::StrCat(static_cast<int>(spec.options().precision())), text);
  }
  if (!spec.options().schedules().empty()) {
    AddField("schedules", spec.options().schedules(), text);
  }
  if (!spec.options().library_name().empty()) {
    AddField("library", spec.options().library_name(), text);
  }
  if (spec.options().has_evaluation()) {
    AddField("evaluation", "", text);
    for (const v1::Tensor& input : spec.options().evaluation().inputs()) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(input.blob()), "input");
      AddField("input", input.name(), text);
      AddField("type",
               absl::StrCat(static_cast<int>(input.type().dtype()), " ",
                            absl::StrJoin(input.type().shape(), " ")),
               text);
      AddField("content", digest.ToString(), text);
    }
  }
  AddField("compiler", fingerprint, text);
  return Digest::Of(text).hex();
}

}  // namespace slipway
