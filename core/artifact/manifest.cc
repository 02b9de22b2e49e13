#include "core/artifact/manifest.h"

#include "core/base/check.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace slipway {

std::string SerializeManifest(const v1::Manifest& manifest) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    SLIPWAY_CHECK(manifest.SerializeToCodedStream(&coded), "a manifest over 2 GiB");
  }
  return bytes;
}

}  // namespace slipway
