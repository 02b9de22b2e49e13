// The compile child: compiles once and ends. It never initialises gRPC.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_CHILD_MAIN_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_CHILD_MAIN_H_

#include <string>
#include <vector>

#include "server/compile_worker/compile_function.h"

namespace slipway::worker {

// How a child is called: the worker's own executable, this subcommand, and the folder with its request.
inline constexpr char kCompileSubcommand[] = "compile";
inline constexpr char kRequestFile[] = "request";
inline constexpr char kResponseFile[] = "response";
// Descriptor to which it writes its progress, a line "STAGE\tDONE\tTOTAL" each.
inline constexpr int kProgressFd = 3;

// Where programs are looked for ($PATH), the linker among them.
std::vector<std::string> ProgramFolders();

// Reads the request in `folder`, is confined (core/confinement), compiles, writes the response beside it. Returns the exit code: 0 whenever
// there is a response, also one that says why there is no artifact.
int RunCompileChild(const std::string& folder, const CompileFunction& compile);

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_CHILD_MAIN_H_
