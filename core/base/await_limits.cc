#include "core/base/await_limits.h"

#include <errno.h>
#include <unistd.h>

namespace slipway {

void AwaitLimits() {
  char byte;
  ssize_t size;
  do {
    size = read(STDIN_FILENO, &byte, 1);
  } while (size > 0 || (size < 0 && errno == EINTR));
}

}  // namespace slipway
