// Graphs on the wire and in files of their own: exact, in both directions.
#ifndef SLIPWAY_CORE_WIRE_GRAPH_GRAPH_PROTO_H_
#define SLIPWAY_CORE_WIRE_GRAPH_GRAPH_PROTO_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/graph/graph.h"
#include "proto/slipway/v1/graph.pb.h"

namespace slipway {

// `add_blob` is given the bytes of every tensor that is too large to be sent inline, with their digest,
// as often as the graph has it. REQUIRES: names are UTF-8, as the verifier has them.
v1::Graph ToProto(const Graph& graph,
                  absl::FunctionRef<void(const Digest&, absl::string_view bytes)> add_blob);

// The graph; `get_blob` is asked for tensors that are not inline. It is well-formed (ids in range) but not
// verified. INVALID_ARGUMENT and RESOURCE_EXHAUSTED name the value or node that is wrong or too much; errors of
// `get_blob`.
absl::StatusOr<Graph> FromProto(const v1::Graph& proto,
                                absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)> get_blob);

// The bytes of a v1.GraphFile, deterministic. RESOURCE_EXHAUSTED when they would be 2 GiB or more, which
// protocol buffers cannot say. REQUIRES: as ToProto.
absl::StatusOr<std::string> FormatGraphFile(const Graph& graph);

// The inverse. Errors as those of FromProto; INVALID_ARGUMENT for bytes that are no GraphFile and for a
// blob that the file lacks. The bytes must outlive the call only.
absl::StatusOr<Graph> ParseGraphFile(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_GRAPH_GRAPH_PROTO_H_
