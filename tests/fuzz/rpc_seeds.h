// Inputs of rpc_fuzz_test: a byte that chooses a row of kAccess, the method, and after it the bytes of the request;
// for a method that takes a stream, of each of its messages, after four that say its size, the lowest first.
//
// rpc_corpus holds a valid call of each method, which is made here: `bazel run //tests/fuzz:write_rpc_corpus --
// $PWD/tests/fuzz/rpc_corpus` writes them.
#ifndef SLIPWAY_TESTS_FUZZ_RPC_SEEDS_H_
#define SLIPWAY_TESTS_FUZZ_RPC_SEEDS_H_

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/services/access.h"

namespace slipway::testing {

// What a server chooses, and a request names. Inputs have these in its place, of the same form and length; FuzzedServer
// puts in what its server chose.
inline constexpr absl::string_view kSomeRun = "01RVNJXB000000000000000000";
inline constexpr absl::string_view kSomeSession = "01SESSNJXB0000000000000000";
inline constexpr absl::string_view kSomeTicket = "71c4e70071c4e70071c4e70071c4e700";
inline constexpr absl::string_view kSomeReservation = "01RSRVNJXB0000000000000000";
inline constexpr absl::string_view kSomeRunAttempt = "01RVNATTEMPT00000000000000";
inline constexpr absl::string_view kSomeCompileAttempt = "01CMPATTEMPT00000000000000";

// What FuzzedServer has at first.
inline constexpr char kAgent[] = "agent";
inline constexpr char kSessionAgent[] = "session-agent";
inline constexpr char kWorker[] = "worker";
inline constexpr char kInstance[] = "i";
inline constexpr char kModelBytes[] = "a model";
inline constexpr char kSomebody[] = "somebody";  // Whom it has invited.

// nullptr when the protocol has no such method.
const google::protobuf::MethodDescriptor* MethodOf(const server::AccessRow& row);

// The messages of an input without its first byte, and back.
std::vector<std::string> SplitMessages(const server::AccessRow& row, absl::string_view bytes);
std::string JoinMessages(const server::AccessRow& row, const std::vector<std::string>& messages);

// The name of a row's file in rpc_corpus, "JobService.GetJob".
std::string SeedName(const server::AccessRow& row);
// A valid call of the method; nothing when none was thought of yet.
std::optional<std::string> SeedOf(const server::AccessRow& row);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_FUZZ_RPC_SEEDS_H_
