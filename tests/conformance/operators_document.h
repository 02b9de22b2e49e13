// The document of all operators, core/operators/OPERATORS.md.
#ifndef SLIPWAY_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_
#define SLIPWAY_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// Made from what the lists and rules say. Element types are found by asking type rules and lowerings about nodes of the
// corpus, a folder of graphs as text that has every operator.
absl::StatusOr<std::string> OperatorsDocument(const std::string& corpus);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_
