// Writes the description of /api/v1 to the file that is named.
#include <cstdio>

#include "core/base/files.h"
#include "server/web/openapi.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_openapi FILE\n");
    return 2;
  }
  const absl::Status written =
      slipway::WriteFileAtomically(argv[1], slipway::web::OpenApiText(), /*durable=*/false);
  if (written.ok()) return 0;
  fprintf(stderr, "write_openapi: %s\n", std::string(written.message()).c_str());
  return 1;
}
