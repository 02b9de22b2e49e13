// A libcudnn that lacks what it should have.
#include "core/runtime/drivers/cuda/cudnn_api.h"

extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() { return 90800; }
