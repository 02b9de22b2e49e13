// MxnetNode: a node of MXNet's as its conversion sees it. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_NNVM_JSON_MXNET_NODE_H_
#define SLIPWAY_CORE_IMPORTERS_NNVM_JSON_MXNET_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/builder.h"

namespace slipway {

// Attributes are texts ("(3, 3)", "True"). What is read is remembered, so that what nobody read can be refused. The
// first error is kept, and later reads give defaults. Not thread-safe.
class MxnetNode {
 public:
  using Input = std::function<absl::StatusOr<ValueId>(int)>;

  // `input` gives the value of an input, made when it is first asked for.
  MxnetNode(std::string name, std::string op, std::map<std::string, std::string> attributes,
            int num_inputs, Input input, GraphBuilder& builder);

  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  GraphBuilder& builder() { return builder_; }
  int num_inputs() const { return num_inputs_; }
  ValueId input(int i);
  std::vector<ValueId> inputs();
  // The type of a value: [] while it has none. An error where its extents are not known.
  Shape shape(ValueId value);
  DataType dtype(ValueId value);

  bool has(absl::string_view name);  // "None" is nothing.
  int64_t Int(absl::string_view name, int64_t otherwise);
  float Float(absl::string_view name, float otherwise);
  bool Bool(absl::string_view name, bool otherwise);
  std::string Text(absl::string_view name, absl::string_view otherwise);
  // A list, one number standing for a list of one. `none` stands for "None" within it.
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise,
                            int64_t none = 0);

  // A constant list.
  ValueId Constant(const std::vector<int64_t>& values);
  // A constant number of the type that `like` has.
  ValueId Scalar(double value, ValueId like);
  // One output, named after this node.
  ValueId Add(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});

  // Keep the first error: INVALID_ARGUMENT, UNIMPLEMENTED.
  void Refuse(absl::string_view why);
  void Lack(absl::string_view what);
  // The first error; UNIMPLEMENTED for an attribute that nobody read and that is none of those without meaning here.
  absl::Status Finish() const;
  bool ok() const { return status_.ok(); }

 private:
  const std::string* Find(absl::string_view name);
  void Keep(const absl::Status& status);

  const std::string name_;
  const std::string op_;
  const std::map<std::string, std::string> attributes_;
  const int num_inputs_;
  const Input input_;
  GraphBuilder& builder_;
  std::set<std::string> read_;
  absl::Status status_;
};

// From a node to the values of its outputs.
using MxnetConversion = std::vector<ValueId> (*)(MxnetNode&);

struct MxnetRow {
  const char* op;
  MxnetConversion convert;
};

// The operators of networks' layers; mxnet_operators.cc has all others.
absl::Span<const MxnetRow> MxnetLayers();

// Null when unknown.
MxnetConversion FindMxnetConversion(absl::string_view op);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_NNVM_JSON_MXNET_NODE_H_
