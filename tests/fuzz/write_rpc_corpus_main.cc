// Writes the seeds of rpc_fuzz_test: write_rpc_corpus FOLDER.
#include <stdio.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/base/files.h"
#include "server/services/access.h"
#include "tests/fuzz/rpc_seeds.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_rpc_corpus FOLDER\n");
    return 2;
  }
  for (const slipway::server::AccessRow& row : slipway::server::kAccess) {
    const std::optional<std::string> seed = slipway::testing::SeedOf(row);
    const std::string name = slipway::testing::SeedName(row);
    const absl::Status status =
        seed.has_value() ? slipway::WriteFileAtomically(slipway::JoinPath(argv[1], name), *seed,
                                                        /*durable=*/false)
                         : absl::NotFoundError("no seed is made in tests/fuzz/rpc_seeds.cc");
    if (status.ok()) continue;
    fprintf(stderr, "%s: %s\n", name.c_str(), status.ToString().c_str());
    return 1;
  }
  return 0;
}
