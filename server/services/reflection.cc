#include "server/services/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/services/access.h"

namespace slipway::server {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

// Who asks for nonsense gets no more of it back.
constexpr size_t kMaxNameBytes = 1'024;

std::string ServiceOf(const AccessRow& row) {
  return std::string(row.method.substr(0, row.method.rfind('.')));
}

std::set<std::string> Services() {
  std::set<std::string> services;
  for (const AccessRow& row : kAccess) services.insert(ServiceOf(row));
  return services;
}

// A file, and all that it imports, which come first.
void AddWithImports(const FileDescriptor& file, std::set<const FileDescriptor*>& known,
                    std::vector<const FileDescriptor*>& files) {
  if (!known.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddWithImports(*file.dependency(i), known, files);
  }
  files.push_back(&file);
}

std::vector<const FileDescriptor*> WithImports(const FileDescriptor& file) {
  std::set<const FileDescriptor*> known;
  std::vector<const FileDescriptor*> files;
  AddWithImports(file, known, files);
  return files;
}

// All that a service of the table uses.
std::set<const FileDescriptor*> Shown() {
  std::set<const FileDescriptor*> shown;
  std::vector<const FileDescriptor*> files;
  for (const std::string& service : Services()) {
    const auto* const found = DescriptorPool::generated_pool()->FindServiceByName(service);
    if (found != nullptr) AddWithImports(*found->file(), shown, files);
  }
  return shown;
}

void NotFound(absl::string_view what, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(static_cast<int>(absl::StatusCode::kNotFound));
  response.mutable_error_response()->set_error_message(absl::StrCat(what, " is not known here"));
}

void AddFile(const FileDescriptor* file, ServerReflectionResponse& response) {
  if (file == nullptr || !Shown().contains(file)) return NotFound("that file", response);
  for (const FileDescriptor* each : WithImports(*file)) {
    google::protobuf::FileDescriptorProto proto;
    each->CopyTo(&proto);
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(
        proto.SerializeAsString());
  }
}

bool IsTooLong(const ServerReflectionRequest& request) {
  return request.ByteSizeLong() > kMaxNameBytes;
}

}  // namespace

ServerReflectionResponse Reflect(const ServerReflectionRequest& request) {
  ServerReflectionResponse response;
  if (IsTooLong(request)) {
    response.mutable_error_response()->set_error_code(
        static_cast<int>(absl::StatusCode::kInvalidArgument));
    response.mutable_error_response()->set_error_message(
        absl::StrCat("a request has at most ", kMaxNameBytes, " bytes"));
    return response;
  }
  *response.mutable_original_request() = request;
  response.set_valid_host(request.host());
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const std::string& service : Services()) {
        response.mutable_list_services_response()->add_service()->set_name(service);
      }
      break;
    case ServerReflectionRequest::kFileByFilename:
      AddFile(pool.FindFileByName(request.file_by_filename()), response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      AddFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), response);
      break;
    // Nothing here is extended.
    case ServerReflectionRequest::kFileContainingExtension:
      NotFound("that extension", response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType: {
      const auto* const type = pool.FindMessageTypeByName(request.all_extension_numbers_of_type());
      if (type == nullptr || !Shown().contains(type->file())) {
        NotFound("that type", response);
      } else {
        response.mutable_all_extension_numbers_response()->set_base_type_name(type->full_name());
      }
      break;
    }
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(
          static_cast<int>(absl::StatusCode::kInvalidArgument));
      response.mutable_error_response()->set_error_message("nothing is asked for");
      break;
  }
  return response;
}

}  // namespace slipway::server
