// From a fused graph and its memory plan to a function of a manifest. Private to this folder.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_FUNCTION_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_FUNCTION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/backends/program/program_manifest.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/graph/operator_registry.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// What all functions of a manifest share.
struct FunctionContext {
  const OperatorRegistry& registry;
  const ProgramCode& code;
  v1::Manifest& manifest;
  v1::ProgramNotes& notes;
  uint32_t next_constant = 0;
};

// Names are for people; the format bounds them.
std::string Shortened(absl::string_view name, int max_bytes);

// Adds the graph as a function, behind those of the bodies in it, and returns its index. Its part of the arena begins at
// `arena_base`. INTERNAL for a graph that is not as the pipeline leaves it.
absl::StatusOr<uint32_t> AddFunction(const Graph& graph, const MemoryPlan& memory,
                                     absl::string_view name, int64_t arena_base,
                                     FunctionContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_FUNCTION_H_
