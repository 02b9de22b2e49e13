#include "core/runtime/test_programs/small_kernels.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "core/runtime/test_programs/small_kernel_files.h"
#include "core/wire/digest_proto.h"

namespace slipway {

absl::string_view SmallKernelBytes(absl::string_view host) {
  const std::string name = absl::StrCat("small_kernels.", host, ".so");
  for (const EmbeddedFile& file : SmallKernelFiles()) {
    if (file.name == name) return file.contents;
  }
  SLIPWAY_CHECK(false, absl::StrCat("no embedded file ", name));
}

v1::Code SmallKernelCode(absl::string_view host) {
  v1::Code code;
  code.set_kind(v1::Code::KIND_ELF);
  *code.mutable_blob() = ToProto(Digest::Of(SmallKernelBytes(host)));
  code.set_kernel_count(kSmallKernelCount);
  return code;
}

}  // namespace slipway
