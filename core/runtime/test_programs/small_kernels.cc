#include "core/runtime/test_programs/small_kernels.h"

#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "core/runtime/test_programs/small_kernel_files.h"
#include "core/wire/digest_proto.h"

namespace slipway {

absl::string_view SmallKernelBytes() { return SmallKernelFiles().front().contents; }

v1::Code SmallKernelCode() {
  v1::Code code;
  code.set_kind(v1::Code::KIND_ELF);
  *code.mutable_blob() = ToProto(Digest::Of(SmallKernelBytes()));
  code.set_kernel_count(kSmallKernelCount);
  return code;
}

}  // namespace slipway
