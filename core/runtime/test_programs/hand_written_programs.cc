#include "core/runtime/test_programs/hand_written_programs.h"

namespace slipway {

std::vector<HandWrittenProgram> HandWrittenPrograms(const std::string& host) {
  return {FreeWidth(host),    FoundShape(host), SharedBuffer(host),  Branches(host),
          While(host),        Scan(host),       NestedControl(host), SeveralEntries(host),
          ThereAndBack(host), TwoGpus(host)};
}

}  // namespace slipway
