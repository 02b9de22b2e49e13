// ModelCompiler: core/compiler as a CompileFunction.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_MODEL_COMPILER_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_MODEL_COMPILER_H_

#include "server/compile_worker/compile_function.h"

namespace slipway::worker {

// For a process with one thread; see core/compiler/compiler.h.
Compiler ModelCompiler();

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_MODEL_COMPILER_H_
