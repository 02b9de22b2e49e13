// slipway-compile-worker: the compiler behind a server.
#include "server/compile_worker/model_compiler.h"
#include "server/compile_worker/worker_main.h"

int main(int argc, char** argv) {
  return slipway::worker::WorkerMain(argc, argv, slipway::worker::ModelCompiler());
}
