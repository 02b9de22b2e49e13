#include "core/operators/contraction.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// A term's letters in order. The dimensions that "..." stands for are the numbers from -1 down, counted from the last.
using Term = std::vector<int>;

// `rank` tells how many dimensions "..." stands for; -1 where the term says it all (the output's, whose ellipsis has the
// dimensions `ellipsis`).
absl::StatusOr<Term> ParseTerm(const NodeView& view, absl::string_view text, int rank,
                               int ellipsis) {
  const auto invalid = [&](absl::string_view why) {
    return view.Error(absl::StrCat("the term \"", text, "\" of the equation ", why));
  };
  const auto letters =
      std::count_if(text.begin(), text.end(), [](char c) { return absl::ascii_isalpha(c); });
  Term term;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_isalpha(text[i])) {
      term.push_back(text[i]);
      continue;
    }
    if (has_ellipsis || text.substr(i, 3) != "...") return invalid("is no list of letters");
    has_ellipsis = true;
    i += 2;
    if (rank >= 0) ellipsis = rank - static_cast<int>(letters);
    for (int d = ellipsis; d > 0; --d) term.push_back(-d);
  }
  if (rank >= 0 && static_cast<int>(term.size()) != rank) {
    return invalid(absl::StrCat("does not fit an input of rank ", rank));
  }
  return term;
}

// What an equation without "->" makes: the dimensions of "...", then the letters that are there once, by alphabet.
Term ImplicitOutput(const std::vector<Term>& inputs, int ellipsis) {
  std::map<int, int> counts;
  for (const Term& term : inputs) {
    for (const int label : term) ++counts[label];
  }
  Term output;
  for (int d = ellipsis; d > 0; --d) output.push_back(-d);
  for (const auto& [label, count] : counts) {
    if (label > 0 && count == 1) output.push_back(label);
  }
  return output;
}

// The extent of a label that two dimensions share; those of "..." broadcast, and so do extents of 1.
absl::Status Meet(const NodeView& view, const Dimension& dimension, Dimension& extent) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions both, BroadcastInputs(view, {dimension}, {extent}));
  extent = both[0];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueType>> EinsumType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(const EinsumView einsum, DecodeEinsum(view));
  const Dimensions y(einsum.extents.begin(), einsum.extents.begin() + einsum.output_rank);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

absl::StatusOr<std::vector<ValueType>> DetType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  Dimensions x = DimensionsOf(view, 0);
  if (view.Differ(x[x.size() - 1], x[x.size() - 2])) {
    return view.Error(absl::StrCat("matrices of shape ", ToString(x), " are not square"));
  }
  x.resize(x.size() - 2);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), x)};
}

}  // namespace

absl::StatusOr<EinsumView> DecodeEinsum(const NodeView& view) {
  std::string equation = view.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 || static_cast<int>(terms.size()) != view.num_inputs()) {
    return view.Error(absl::StrCat("the equation \"", equation, "\" does not fit ",
                                   view.num_inputs(), " inputs"));
  }
  std::vector<Term> inputs;
  int ellipsis = 0;
  for (int i = 0; i < view.num_inputs(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(Term term, ParseTerm(view, terms[i], view.input_type(i).rank(), 0));
    for (const int label : term) ellipsis = std::max(ellipsis, -label);
    inputs.push_back(std::move(term));
  }
  Term output = ImplicitOutput(inputs, ellipsis);
  if (sides.size() == 2) {
    SLIPWAY_ASSIGN_OR_RETURN(output, ParseTerm(view, sides[1], -1, ellipsis));
  }
  EinsumView einsum;
  std::map<int, int64_t> numbers;
  for (const int label : output) {
    if (!numbers.emplace(label, static_cast<int64_t>(numbers.size())).second) {
      return view.Error(
          absl::StrCat("the equation \"", equation, "\" has a letter twice in its output"));
    }
  }
  einsum.output_rank = static_cast<int64_t>(output.size());
  einsum.extents.assign(numbers.size(), 1);
  std::vector<bool> seen(numbers.size(), false);
  for (int i = 0; i < view.num_inputs(); ++i) {
    std::vector<int64_t>& labels = einsum.inputs.emplace_back();
    for (size_t d = 0; d < inputs[i].size(); ++d) {
      const auto [at, fresh] = numbers.emplace(inputs[i][d], static_cast<int64_t>(numbers.size()));
      if (fresh) {
        einsum.extents.push_back(1);
        seen.push_back(false);
      }
      seen[at->second] = true;
      labels.push_back(at->second);
      SLIPWAY_RETURN_IF_ERROR(Meet(view, view.input_type(i).dimension(static_cast<int>(d)),
                                   einsum.extents[at->second]));
    }
  }
  if (std::count(seen.begin(), seen.end(), false) > 0) {
    return view.Error(absl::StrCat("the equation \"", equation,
                                   "\" has a letter in its output that no input has"));
  }
  if (einsum.extents.size() > kMaxRank) {
    return view.Unimplemented(absl::StrCat("equations of ", einsum.extents.size(),
                                           " letters are not supported, at most ", kMaxRank));
  }
  if (KnownShape(einsum.extents).has_value() && !NumElements(einsum.extents).is_known()) {
    return view.Error(absl::StrCat("the equation \"", equation, "\" has more than 2^63 products"));
  }
  return einsum;
}

absl::Status RegisterContractionOperators(OperatorRegistry& registry) {
  OperatorSchema einsum;
  einsum.name = "Einsum";
  einsum.max_inputs = kVariadic;
  einsum.type_rule = EinsumType;
  einsum.attributes = {Required(StringAttribute("equation", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(einsum));

  OperatorSchema det;
  det.name = "Det";
  det.type_rule = DetType;
  return registry.Add(det);
}

}  // namespace slipway
