#include "core/rpc/proof_files.h"

#include <sys/stat.h>

#include <utility>

namespace slipway {

ProofFiles::ProofFiles(const CallerProof& proof)
    : identity_file_(proof.identity_file), authority_file_(proof.authority_file), seen_(Look()) {}

bool ProofFiles::HaveChanged() {
  const auto before = std::exchange(seen_, Look());
  return before != seen_;
}

std::array<ProofFiles::Facts, 2> ProofFiles::Look() const {
  const auto look = [](const std::string& path) -> Facts {
    struct stat facts;
    if (path.empty() || stat(path.c_str(), &facts) != 0) return {};
    return {static_cast<int64_t>(facts.st_ino), facts.st_size, facts.st_mtim.tv_sec,
            facts.st_mtim.tv_nsec};
  };
  return {look(identity_file_), look(authority_file_)};
}

}  // namespace slipway
