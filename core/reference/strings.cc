#include "core/operators/strings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/number_text.h"
#include "core/kernels/strings.h"
#include "core/reference/families.h"
#include "core/tensor/string_layout.h"
#include "re2/re2.h"

namespace slipway {
namespace {

absl::Status Split(const NodeView& view, KernelParameters& parameters) {
  const std::string& delimiter = view.String("delimiter");
  parameters.Add(view.has("maxsplit") ? view.Int("maxsplit") : -1);
  parameters.Add(std::ssize(delimiter));
  for (const char c : delimiter) parameters.Add(static_cast<unsigned char>(c));
  return absl::OkStatus();
}

absl::Status Case(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("upper") != 0);
  return absl::OkStatus();
}

absl::Status Match(const KernelCall& call) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(call.view.String("pattern"), options);
  if (!pattern.ok()) {
    return call.view.Error(absl::StrCat("\"pattern\" is no expression: ", pattern.error()));
  }
  const absl::string_view contents = call.inputs[1]->bytes();
  bool* y = call.outputs[0].mutable_values<bool>().data();
  for (const int64_t place : call.inputs[0]->values<int64_t>()) {
    const auto string = StringAt(place, contents);
    if (!string.ok()) return call.view.Annotated(string.status());
    *y++ = RE2::FullMatch(re2::StringPiece(string->data(), string->size()), pattern);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterStringsKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"slipway.NumberOfString", {"slipway_NumberOfString", slipway_NumberOfString, nullptr}},
      {"slipway.StringCase", {"slipway_StringCase", slipway_StringCase, Case}},
      {"slipway.StringConcat",
       {"slipway_StringConcat", slipway_StringConcat, nullptr, "slipway_StringConcat_count",
        slipway_StringConcat_count}},
      {"slipway.StringEqual", {"slipway_StringEqual", slipway_StringEqual, nullptr}},
      {"slipway.StringFind", {"slipway_StringFind", slipway_StringFind, nullptr}},
      {"slipway.StringOfNumber",
       {"slipway_StringOfNumber", slipway_StringOfNumber, nullptr, "slipway_StringOfNumber_count",
        slipway_StringOfNumber_count}},
      {"slipway.StringRank", {"slipway_StringRank", slipway_StringRank, nullptr}},
      {"slipway.StringSplit",
       {"slipway_StringSplit", slipway_StringSplit, Split, "slipway_StringSplit_count",
        slipway_StringSplit_count}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return kernels.Add("slipway.StringMatch", Kernel(Match));
}

}  // namespace slipway
