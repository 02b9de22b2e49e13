// If, Loop and Scan: a body's way back goes through the body again, and then back. Nothing of what it computed is kept but,
// of loops, what each turn began with.
#include "core/operators/control.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/operators/checks.h"
#include "core/passes/gradients/families.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

std::shared_ptr<const Graph> Shared(Graph graph) {
  return std::make_shared<const Graph>(std::move(graph));
}

// The same branch is taken on the way back.
void IfGradient(GradientNode& n) {
  const int inputs = n.view().num_inputs();
  const int outputs = n.view().num_outputs();
  std::vector<ValueId> given = {n.x(0)};
  std::vector<bool> flows(outputs, false);
  std::vector<bool> wanted;
  for (int i = 1; i < inputs; ++i) {
    given.push_back(n.x(i));
    wanted.push_back(n.wants(i));
  }
  for (int o = 0; o < outputs; ++o) {
    flows[o] = n.flows(o);
    if (flows[o]) given.push_back(n.dy(o));
  }
  Attributes attributes = {{kCapturesAttribute, static_cast<int64_t>(given.size()) - 1}};
  for (const char* branch : {kThenBody, kElseBody}) {
    const Graph& body = n.view().Body(branch);
    std::vector<bool> made = flows;
    made.resize(body.outputs.size(), false);
    attributes.Set(branch, Shared(n.Back(body, made, wanted)));
  }
  const int count = static_cast<int>(std::count(wanted.begin(), wanted.end(), true));
  const std::vector<ValueId> gradients =
      n.OpWith(count, kIfOperator, std::move(given), std::move(attributes));
  for (int i = 1, next = 0; i < inputs; ++i) {
    if (wanted[i - 1]) n.Give(i, gradients[next++]);
  }
}

// A Scan that is being written: inputs and outputs of node and body at once. What it collects has its outermost axis made of
// turns, the last turn's slice last.
class ScanWriter {
 public:
  explicit ScanWriter(Graph body) : body_(std::move(body)) { body_.inputs = {}; }

  Graph& body() { return body_; }
  void Carry(ValueId first, ValueId inside, ValueId after) {
    carried_.push_back(first);
    carried_inside_.push_back(inside);
    after_.push_back(after);
  }
  void ScanBackwards(ValueId whole, ValueId slice, const Slices& slices) {
    scanned_.push_back(whole);
    scanned_inside_.push_back(slice);
    in_axes_.push_back(slices.axis);
    in_directions_.push_back(slices.reverse ? 0 : 1);
  }
  void CollectBackwards(ValueId slice, const Slices& slices) {
    collected_.push_back(slice);
    out_axes_.push_back(slices.axis);
    out_directions_.push_back(slices.reverse ? 0 : 1);
  }
  void Capture(ValueId outside, ValueId inside) {
    captured_.push_back(outside);
    captured_inside_.push_back(inside);
  }

  // Carried values after the last turn, then what is collected.
  std::vector<ValueId> Write(GradientNode& n) {
    const auto append = [](std::vector<ValueId>& to, const std::vector<ValueId>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    std::vector<ValueId> inputs = carried_;
    append(inputs, scanned_);
    append(inputs, captured_);
    body_.inputs = carried_inside_;
    append(body_.inputs, scanned_inside_);
    append(body_.inputs, captured_inside_);
    body_.outputs = after_;
    append(body_.outputs, collected_);
    const int count = static_cast<int>(body_.outputs.size());
    return n.OpWith(count, kScanOperator, std::move(inputs),
                    {{kLoopBody, Shared(std::move(body_))},
                     {kCapturesAttribute, static_cast<int64_t>(captured_.size())},
                     {"num_scan_inputs", static_cast<int64_t>(scanned_.size())},
                     {"scan_input_axes", in_axes_},
                     {"scan_input_directions", in_directions_},
                     {"scan_output_axes", out_axes_},
                     {"scan_output_directions", out_directions_}});
  }

 private:
  Graph body_;
  std::vector<ValueId> carried_, carried_inside_, after_;
  std::vector<ValueId> scanned_, scanned_inside_;
  std::vector<ValueId> captured_, captured_inside_;
  std::vector<ValueId> collected_;
  std::vector<int64_t> in_axes_, in_directions_, out_axes_, out_directions_;
};

// What each carried value is at the beginning of each turn, collected by the node itself.
std::vector<ValueId> CollectBeginnings(GradientNode& n, const LoopView& loop) {
  Graph body = *loop.body;
  Attributes attributes = n.view().node().attributes;
  for (int k = 0; k < loop.carried; ++k) {
    body.outputs.push_back(body.inputs[loop.first_carried + k]);
  }
  for (const char* list : {"scan_output_axes", "scan_output_directions"}) {
    const auto* old = attributes.FindAs<std::vector<int64_t>>(list);
    if (old == nullptr) continue;
    std::vector<int64_t> longer = *old;
    longer.resize(longer.size() + static_cast<size_t>(loop.carried), 0);
    attributes.Set(list, longer);
  }
  attributes.Set(kLoopBody, Shared(std::move(body)));
  n.ChangeAttributes(std::move(attributes));
  const int before = loop.carried + static_cast<int>(loop.collected.size());
  std::vector<ValueId> beginnings;
  for (int i = 0; i < before + loop.carried; ++i) {
    const ValueId made = n.y(i);
    if (i >= before) beginnings.push_back(made);
  }
  return beginnings;
}

// The body's outputs, and of which the gradients flow: a float that is carried may get one from the next turn.
std::vector<bool> FlowsIn(const GradientNode& n, const LoopView& loop,
                          const std::vector<bool>& is_float) {
  std::vector<bool> flows(loop.first_made, false);
  flows.insert(flows.end(), is_float.begin(), is_float.end());
  for (size_t j = 0; j < loop.collected.size(); ++j) {
    flows.push_back(n.flows(loop.carried + static_cast<int>(j)));
  }
  return flows;
}

// A Scan from the last turn to the first. It carries the gradients of what is carried, and the sums of those of what is
// captured.
void LoopGradient(GradientNode& n) {
  const auto decoded = DecodeLoop(n.view());
  if (!decoded.ok()) return n.Lack(decoded.status().message());
  const LoopView& loop = *decoded;
  const std::optional<int64_t> turns = KnownTurns(n.view(), loop);
  if (!loop.is_scan && !turns.has_value()) {
    return n.Lack("how many turns there are is not known");
  }
  if (turns.value_or(0) > kMaxDerivedTurns) {
    return n.Lack(
        absl::StrCat("its ", *turns, " turns, more than the limit of ", kMaxDerivedTurns));
  }
  const Graph& body = *loop.body;
  std::vector<bool> is_float;
  std::vector<bool> wanted(body.inputs.size(), false);
  for (int i = 0; i < n.view().num_inputs(); ++i) {
    wanted[i] = n.view().has_input(i) && n.wants(i);
  }
  for (int k = 0; k < loop.carried; ++k) {
    const int input = loop.first_carried + k;
    is_float.push_back(Contains(TypeSet::kAnyFloat, n.view().input_type(input).dtype()));
    wanted[input] = is_float.back();
  }
  const std::vector<bool> flows = FlowsIn(n, loop, is_float);
  const std::vector<ValueId> beginnings = CollectBeginnings(n, loop);
  Graph back = n.Back(body, flows, wanted);
  if (!n.status().ok()) return;

  const std::vector<ValueId> inside = back.inputs;  // The body's inputs, then gradients.
  const std::vector<ValueId> made = back.outputs;   // By wanted input.
  ScanWriter scan(std::move(back));
  UniqueNames names(scan.body());
  std::vector<int> result(wanted.size(),
                          -1);  // By input: which output of the Scan is its gradient.
  int next_made = 0;
  size_t next_flow = body.inputs.size();
  std::vector<std::pair<int, ValueId>> collected;
  int carried = 0;
  for (int k = 0; k < loop.carried; ++k) {
    if (!is_float[k]) continue;
    const int input = loop.first_carried + k;
    const DataType dtype = n.view().input_type(input).dtype();
    const ValueId last = n.flows(k) ? n.dy(k) : n.Filled(dtype, n.shape(n.x(input)), 0);
    scan.Carry(last, inside[next_flow++], made[next_made++]);
    result[input] = carried++;
  }
  for (size_t j = 0; j < loop.scanned.size(); ++j) {
    const int input = loop.first_scanned() + static_cast<int>(j);
    if (wanted[input]) collected.emplace_back(input, made[next_made++]);
  }
  for (int m = loop.first_captured(); m < n.view().num_inputs(); ++m) {
    if (!wanted[m]) continue;
    const ValueType type = n.view().input_type(m);
    Graph& graph = scan.body();
    const ValueId sum = graph.AddValue(names.Make("sum"), type);
    const ValueId more = graph.AddValue(names.Make("sum"), type);
    graph.nodes.push_back({"", "Add", {sum, made[next_made++]}, {more}, {}});
    scan.Carry(n.Filled(type.dtype(), n.shape(n.x(m)), 0), sum, more);
    result[m] = carried++;
  }
  for (int k = 0; k < loop.carried; ++k) {
    scan.ScanBackwards(beginnings[k], inside[loop.first_carried + k], {});
  }
  for (size_t j = 0; j < loop.scanned.size(); ++j) {
    const int input = loop.first_scanned() + static_cast<int>(j);
    scan.ScanBackwards(n.x(input), inside[input], loop.scanned[j]);
  }
  for (size_t j = 0; j < loop.collected.size(); ++j) {
    const int output = loop.carried + static_cast<int>(j);
    if (!n.flows(output)) continue;
    Slices slices = loop.collected[j];
    if (slices.axis < 0) slices.axis += n.rank(n.dy(output));
    scan.ScanBackwards(n.dy(output), inside[next_flow++], slices);
  }
  if (!loop.is_scan) {
    std::vector<int64_t> numbers(*turns);
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    scan.ScanBackwards(n.Ints(numbers), inside[0], {});
    scan.body().values[inside[1]].constant = Tensor::Scalar<bool>(true);
  }
  for (int m = loop.first_captured(); m < n.view().num_inputs(); ++m) {
    scan.Capture(n.x(m), inside[m]);
  }
  for (const auto& [input, slice] : collected) {
    result[input] = carried++;
    scan.CollectBackwards(slice, loop.scanned[input - loop.first_scanned()]);
  }
  const std::vector<ValueId> gradients = scan.Write(n);
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] >= 0) n.Give(static_cast<int>(i), gradients[result[i]]);
  }
}

constexpr GradientRow kRows[] = {
    {kIfOperator, IfGradient}, {kLoopOperator, LoopGradient}, {kScanOperator, LoopGradient}};

}  // namespace

absl::Status RegisterControlGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
