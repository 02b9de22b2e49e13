// CodeFacts: what a piece of code of kind ELF says of itself when it is loaded, found out in a child process.
#ifndef SLIPWAY_CLIENT_PACK_CODE_FACTS_H_
#define SLIPWAY_CLIENT_PACK_CODE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace slipway {

struct CodeFacts {
  // By kernel of its table: how many tensors it takes.
  std::vector<int32_t> argument_counts;
};

// Loads the shared object `path` in a child of the command `executable` and asks it for its table. It is native code, and
// whoever asks trusts it; what goes wrong in it ends the child alone.
//
// INVALID_ARGUMENT says why no runtime would take it: no shared object for this machine, undefined symbols, which it
// names, needed libraries, no SLIPWAY_QUERY_SYMBOL, another kernel ABI, a table without kernels. INTERNAL when loading it
// crashes, DEADLINE_EXCEEDED when it does not end.
absl::StatusOr<CodeFacts> ReadCodeFacts(const std::string& executable, const std::string& path,
                                        absl::Duration deadline);

// argv[1] by which the command knows that it is this child.
inline constexpr char kReadCodeFactsArgument[] = "--read-code-facts";
// The child; returns its exit code. REQUIRES: argv[1] is kReadCodeFactsArgument.
int ReadCodeFactsMain(int argc, char** argv);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_PACK_CODE_FACTS_H_
