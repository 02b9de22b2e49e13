#include "core/runtime/drivers/opencl/opencl_code.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/opencl/binary_cache.h"
#include "core/runtime/drivers/opencl/opencl_device.h"
#include "core/runtime/drivers/vendor_log.h"

namespace slipway {
namespace {

// Entries shall say what their parameters are, also when they come from a binary.
constexpr char kBuildOptions[] = "-cl-std=CL1.2 -cl-kernel-arg-info";

// Owns a cl_program until it is given away.
class OwnProgram {
 public:
  OwnProgram(const OpenClLibrary& cl, cl_program program) : cl_(cl), program_(program) {}
  OwnProgram(OwnProgram&& other) noexcept
      : cl_(other.cl_), program_(std::exchange(other.program_, nullptr)) {}
  ~OwnProgram() {
    if (program_ != nullptr) cl_.ReleaseProgram(program_);
  }
  cl_program get() const { return program_; }
  cl_program Release() { return std::exchange(program_, nullptr); }

 private:
  const OpenClLibrary& cl_;
  cl_program program_;
};

BinaryKey KeyOf(const OpenClFacts& facts, absl::string_view source) {
  return {facts.platform, absl::StrCat(facts.name, "\n", facts.vendor), facts.driver, kBuildOptions,
          Digest::Of(source)};
}

std::string BuildLog(const OpenClDevice& device, cl_program program) {
  const OpenClLibrary& cl = device.cl();
  size_t bytes = 0;
  if (cl.GetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
          CL_SUCCESS ||
      bytes == 0 || bytes > OpenClCode::kMaxSourceBytes) {
    return "the compiler says nothing";
  }
  std::string log(bytes, '\0');
  cl.GetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  return BoundedLog(log.c_str(), OpenClCode::kMaxLogBytes);
}

// Nothing where the device does not take it: it may be of a driver whose version says less than it should.
std::optional<OwnProgram> FromBinary(const OpenClDevice& device, const std::string& binary) {
  const OpenClLibrary& cl = device.cl();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  const cl_device_id id = device.id();
  cl_int taken = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  OwnProgram program(
      cl, cl.CreateProgramWithBinary(device.context(), 1, &id, &size, &bytes, &taken, &error));
  if (error != CL_SUCCESS || taken != CL_SUCCESS ||
      cl.BuildProgram(program.get(), 1, &id, kBuildOptions, nullptr, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return program;
}

absl::StatusOr<OwnProgram> FromSource(const OpenClDevice& device, absl::string_view source) {
  const OpenClLibrary& cl = device.cl();
  const char* text = source.data();
  const size_t bytes = source.size();
  const cl_device_id id = device.id();
  cl_int error = CL_SUCCESS;
  OwnProgram program(cl, cl.CreateProgramWithSource(device.context(), 1, &text, &bytes, &error));
  SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat(device.name(), ": a program")));
  error = cl.BuildProgram(program.get(), 1, &id, kBuildOptions, nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE || error == CL_INVALID_BUILD_OPTIONS) {
    return absl::InvalidArgumentError(absl::StrCat(
        device.name(), " does not build the program: ", BuildLog(device, program.get())));
  }
  SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat(device.name(), ": building")));
  return program;
}

// Kept as well as can be: without it the program is built again next time.
void Keep(const OpenClDevice& device, const BinaryCache& cache, const BinaryKey& key,
          cl_program program) {
  const OpenClLibrary& cl = device.cl();
  size_t bytes = 0;
  if (cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, nullptr) !=
          CL_SUCCESS ||
      bytes == 0 || bytes > static_cast<size_t>(BinaryCache::kMaxBinaryBytes)) {
    return;
  }
  std::string binary(bytes, '\0');
  char* data = binary.data();
  if (cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr) == CL_SUCCESS) {
    cache.Put(key, binary).IgnoreError();
  }
}

absl::StatusOr<OwnProgram> FromCacheOrSource(const OpenClDevice& device, absl::string_view source) {
  if (!device.cache().has_value()) return FromSource(device, source);
  const BinaryCache& cache = *device.cache();
  const BinaryKey key = KeyOf(device.facts(), source);
  if (const std::optional<std::string> binary = cache.Get(key); binary.has_value()) {
    std::optional<OwnProgram> program = FromBinary(device, *binary);
    if (program.has_value()) return *std::move(program);
    cache.Drop(key);
  }
  SLIPWAY_ASSIGN_OR_RETURN(OwnProgram program, FromSource(device, source));
  Keep(device, cache, key, program.get());
  return program;
}

// The leading parameters that are pointers to the device's memory. Nothing where the device does not tell.
std::optional<uint32_t> CountTensors(const OpenClLibrary& cl, cl_kernel kernel,
                                     uint32_t parameters) {
  uint32_t tensors = 0;
  while (tensors < parameters) {
    cl_kernel_arg_address_qualifier where = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    if (cl.GetKernelArgInfo(kernel, tensors, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where), &where,
                            nullptr) != CL_SUCCESS) {
      return std::nullopt;
    }
    if (where == CL_KERNEL_ARG_ADDRESS_PRIVATE) break;
    ++tensors;
  }
  return tensors;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceCode>> OpenClCode::Build(const OpenClDevice& device,
                                                              const v1::Code& code,
                                                              absl::string_view source) {
  if (code.kind() != v1::Code::KIND_OPENCL_SOURCE) {
    return absl::UnimplementedError(absl::StrCat(device.name(),
                                                 " builds code of KIND_OPENCL_SOURCE, not ",
                                                 v1::Code::Kind_Name(code.kind())));
  }
  if (source.empty() || source.size() > kMaxSourceBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a text of OpenCL C has 1 to ", kMaxSourceBytes,
                                                   " bytes, not ", source.size()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(OwnProgram program, FromCacheOrSource(device, source));
  std::unique_ptr<OpenClCode> built(new OpenClCode(device, program.Release()));
  SLIPWAY_RETURN_IF_ERROR(built->ReadEntries(code));
  return std::unique_ptr<DeviceCode>(std::move(built));
}

OpenClCode::~OpenClCode() { device_.cl().ReleaseProgram(program_); }

absl::Status OpenClCode::ReadEntries(const v1::Code& code) {
  const OpenClLibrary& cl = device_.cl();
  for (const std::string& name : code.entries()) {
    DeviceEntry entry;
    entry.name = name;
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = cl.CreateKernel(program_, name.c_str(), &error);
    if (error == CL_INVALID_KERNEL_NAME) {
      return absl::InvalidArgumentError(
          absl::StrCat("the program has no entry '", absl::Utf8SafeCEscape(name), "'"));
    }
    SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat("entry '", name, "'")));
    cl_uint parameters = 0;
    size_t max_group = 1;
    cl_ulong local_bytes = 0;
    error = cl.GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(parameters), &parameters, nullptr);
    if (error == CL_SUCCESS) {
      error = cl.GetKernelWorkGroupInfo(kernel, device_.id(), CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof(max_group), &max_group, nullptr);
    }
    if (error == CL_SUCCESS) {
      error = cl.GetKernelWorkGroupInfo(kernel, device_.id(), CL_KERNEL_LOCAL_MEM_SIZE,
                                        sizeof(local_bytes), &local_bytes, nullptr);
    }
    entry.parameters = parameters;
    entry.max_group = static_cast<int64_t>(max_group);
    entry.shared_bytes = static_cast<int64_t>(local_bytes);
    entry.tensors = CountTensors(cl, kernel, parameters);
    cl.ReleaseKernel(kernel);
    SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat("entry '", name, "'")));
    entries_.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status OpenClCode::CheckArguments(uint32_t kernel, int inputs, int outputs) const {
  return slipway::CheckArguments(entries_[kernel], inputs, outputs);
}

absl::StatusOr<cl_kernel> OpenClCode::NewKernel(uint32_t kernel) const {
  cl_int error = CL_SUCCESS;
  cl_kernel made = device_.cl().CreateKernel(program_, entries_[kernel].name.c_str(), &error);
  SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat("entry '", entries_[kernel].name, "'")));
  return made;
}

}  // namespace slipway
