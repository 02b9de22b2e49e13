#include "core/codegen/kernel_compiler.h"

#include <halide14/Halide.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/codegen/bfloat16.h"
#include "core/codegen/compile_child.h"
#include "core/codegen/depthwise/depthwise_kernel.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/device_lowering.h"
#include "core/codegen/device_module.h"
#include "core/codegen/fetch_ahead.h"
#include "core/codegen/generator.h"
#include "core/codegen/group.h"
#include "core/codegen/group_pipeline.h"
#include "core/codegen/halide_target.h"
#include "core/codegen/limits.h"
#include "core/codegen/machine_code.h"
#include "core/codegen/opencl_text.h"
#include "core/codegen/ptx_text.h"
#include "core/codegen/rows/row_kernel.h"
#include "core/codegen/schedules/schedule_list.h"
#include "core/codegen/scratch_bytes.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"
#include "core/codegen/tile_registers.h"
#include "core/operators/products.h"
#include "core/target/machine_description.h"

namespace slipway {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLIPWAY_HAS_SHADOW_MEMORY 1  // Which maps terabytes.
#endif
#endif
#ifdef SLIPWAY_HAS_SHADOW_MEMORY
constexpr bool kMemoryCanBeLimited = false;
#else
constexpr bool kMemoryCanBeLimited = true;
#endif

absl::Status WriteFile(const std::string& bytes, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  return file.good() ? absl::OkStatus() : absl::InternalError("cannot write a kernel");
}

// Writes the text of a device that is no host; null for one that is.
using TextWriter = std::function<absl::StatusOr<DeviceKernel>(const DeviceModule& module)>;

TextWriter TextWriterFor(const DeviceTarget& device) {
  switch (device.arch) {
    case Arch::kCuda:
      return [device](const DeviceModule& module) { return PtxTextOf(module, device); };
    case Arch::kOpenCl:
      return OpenClTextOf;
    default:
      return nullptr;
  }
}

// Compiles `pipeline` to an object file, or what stands for one on a device that is no host, at `path`.
absl::Status WriteObject(GroupPipeline& group, const std::string& function,
                         const DeviceTarget& device, DotProducts dot_products,
                         const std::string& path, KernelScratch& scratch) {
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Target target, HalideTargetFor(device, dot_products));
  const TextWriter write_text = TextWriterFor(device);
  const auto stores = std::make_shared<DeviceStores>();
  if (write_text != nullptr) group.pipeline.add_custom_lowering_pass(new LowerForDevice(stores));
  group.pipeline.add_custom_lowering_pass(
      new WriteOutRounding(target.has_feature(Halide::Target::AVX512_SapphireRapids)));
  const auto tiles = std::make_shared<absl::Status>();
  const MachineDescription machine = DescribeMachine(device);
  if (machine.has_bf16_tiles || machine.has_int8_tiles) {
    group.pipeline.add_custom_lowering_pass(new UseTileRegisters(tiles));
  }
  if (device.arch == Arch::kX86_64) {  // Nowhere else was it measured.
    group.pipeline.add_custom_lowering_pass(new FetchAhead());
  }
  const Halide::Module module = group.pipeline.compile_to_module(group.arguments, function, target);
  SLIPWAY_RETURN_IF_ERROR(*tiles);
  if (write_text != nullptr) {
    scratch = {};  // DeviceKernel has it.
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceModule read, ReadDeviceModule(module, *stores, function));
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceKernel kernel, write_text(read));
    return WriteFile(FormatDeviceKernel(kernel), path);
  }
  scratch = ScratchBytes(module);
  return WriteMachineCode(module, device, path);
}

// Of the products in a group, and of what is rounded for others.
DotProducts DotProductsOf(const Graph& body) {
  for (const Node& node : body.nodes) {
    if (node.op == "slipway.RoundToBfloat16") return DotProducts::kBfloat16;
    if (!MakesProducts(node.op)) continue;
    const DataType dtype = body.value(node.inputs[0]).type->dtype();
    if (dtype == DataType::kBfloat16) return DotProducts::kBfloat16;
    if (dtype == DataType::kUint8) return DotProducts::kBytes;
  }
  return DotProducts::kNone;
}

// Initializes LLVM's code generators by compiling something small, so that no child has to. Once a
// process: Halide's counters, which it moves on, are the process's.
absl::Status WarmUp() {
  static std::once_flag once;
  absl::Status status;
  std::call_once(once, [&status] {
    try {
      Halide::Var x("x");
      Halide::Func warm("warm");
      warm(x) = Halide::cast<float>(x);
      GroupPipeline group;
      group.pipeline = Halide::Pipeline(warm);
      KernelScratch scratch;
      status = WriteObject(group, "slipway_warm_up",
                           DeviceTarget{Arch::kX86_64, Os::kLinux, /*level=*/3, {}},
                           DotProducts::kNone, "/dev/null", scratch);
    } catch (const std::exception& error) {
      status = absl::InternalError(absl::StrCat("the kernel generator fails: ", error.what()));
    }
  });
  return status;
}

// What a child writes and a cache keeps: the object file, behind it the schedule and the candidates beside it as lines, and this.
struct KernelFileEnd {
  KernelScratch scratch;
  int64_t schedules_bytes = 0;
};

absl::Status AppendFacts(const KernelScheduler& scheduler, const KernelScratch& scratch,
                         const std::string& path) {
  std::string schedules = ToString(scheduler.used());
  for (const KernelSchedule& candidate : scheduler.Candidates()) {
    absl::StrAppend(&schedules, "\n", ToString(candidate));
  }
  const KernelFileEnd end{scratch, static_cast<int64_t>(schedules.size())};
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << schedules;
  file.write(reinterpret_cast<const char*>(&end), sizeof(end));
  file.close();
  return file.good() ? absl::OkStatus() : absl::InternalError("cannot write a kernel's schedule");
}

struct KernelFile {
  std::string object;
  std::string schedule;
  std::vector<std::string> candidates;
  KernelScratch scratch;
};

// Nothing where the file is none.
std::optional<KernelFile> ReadKernelFile(std::string file) {
  KernelFileEnd end;
  if (file.size() < sizeof(end)) return std::nullopt;
  std::memcpy(&end, file.data() + file.size() - sizeof(end), sizeof(end));
  file.resize(file.size() - sizeof(end));
  const auto bytes = static_cast<uint64_t>(end.schedules_bytes);
  if (bytes >= file.size() || end.scratch.call < -1 || end.scratch.task < -1) return std::nullopt;
  KernelFile kernel;
  kernel.scratch = end.scratch;
  kernel.candidates = absl::StrSplit(file.substr(file.size() - bytes), '\n');
  kernel.schedule = std::move(kernel.candidates.front());
  kernel.candidates.erase(kernel.candidates.begin());
  file.resize(file.size() - bytes);
  kernel.object = std::move(file);
  return kernel;
}

struct Job {
  std::string name;  // "group "res2a" (Conv+Relu)"
  Digest key;
  Graph body;
  std::string kernel_name;
  const ScheduleRecord* record = nullptr;
  KernelFile kernel = {};
};

// Of a product on tensor cores, or of another group that a template is for: that is filled in sooner than a cache is asked. Nothing where Halide makes the
// kernel.
absl::StatusOr<std::optional<KernelFile>> FileOfTemplate(const Job& job,
                                                         const OperatorRegistry& registry,
                                                         const DeviceTarget& target,
                                                         Precision precision) {
  const std::string function = KernelFunction(job.key);
  const auto file = [](const ScheduledKernel& made) {
    KernelFile file{FormatDeviceKernel(made.kernel), ToString(made.schedule), {}, {}};
    for (const KernelSchedule& candidate : made.candidates) {
      file.candidates.push_back(ToString(candidate));
    }
    return file;
  };
  if (precision != Precision::kFloat32) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const ScheduledKernel made,
        MakeTensorCoreKernel(job.body, registry, target, precision, function, job.record));
    return file(made);
  }
  for (const auto make : {MakeDepthwiseKernel, MakeRowKernel}) {
    const absl::StatusOr<ScheduledKernel> made =
        make(job.body, registry, target, function, job.record);
    if (made.ok()) return file(*made);
    if (!absl::IsUnimplemented(made.status())) return made.status();
  }
  return std::nullopt;
}

struct Running {
  size_t job;
  absl::Duration deadline;  // On the monotonic clock.
  CompileChild child;
};

// Waits until a child is done or `deadline` is reached.
void WaitForAny(const std::vector<Running>& running, absl::Duration left) {
  std::vector<struct pollfd> fds;
  for (const Running& one : running) fds.push_back({one.child.done_fd(), POLLIN, 0});
  const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(left) + 1, 0, 60'000);
  poll(fds.data(), fds.size(), static_cast<int>(ms));
}

bool IsDone(const Running& running) {
  struct pollfd fd = {running.child.done_fd(), POLLIN, 0};
  return poll(&fd, 1, 0) == 1;
}

}  // namespace

absl::Status CheckCanGenerate(const DeviceTarget& target) {
  return HalideTargetFor(target).status();
}

KernelCompiler::KernelCompiler(const OperatorRegistry& registry, const Lowerings& lowerings,
                               const Clock& clock, KernelCache* cache, Options options)
    : registry_(registry),
      lowerings_(lowerings),
      clock_(clock),
      cache_(cache),
      options_(std::move(options)) {}

absl::StatusOr<std::vector<CompiledKernel>> KernelCompiler::Compile(
    absl::Span<const KernelRequest> requests, const DeviceTarget& target,
    const ScheduleRecords& records) {
  SLIPWAY_RETURN_IF_ERROR(CheckCanGenerate(target));
  const MachineDescription machine = DescribeMachine(target);
  const int lanes = std::max(1, machine.vector_bytes / 4);
  SLIPWAY_ASSIGN_OR_RETURN(const std::string generator, GeneratorFingerprint());
  std::vector<Job> jobs;
  std::map<Digest, size_t> job_of_key;
  std::vector<size_t> job_of_request;
  for (const KernelRequest& request : requests) {
    const std::string name =
        absl::StrCat("kernel for \"", request.name, "\" (", DescribeGroup(*request.body), ")");
    // What a template is filled in for is not lowered; the template says itself what it does not know.
    if (request.products == Precision::kFloat32) {
      SLIPWAY_RETURN_IF_ERROR_WITH(CheckGroup(*request.body, registry_, lowerings_), name);
    }
    Graph body = NormalizeGroup(*request.body, registry_);
    const std::string kernel_name = KernelName(body, target, request.products);
    const auto found = records.find(kernel_name);
    const ScheduleRecord* const record = found == records.end() ? nullptr : &found->second;
    const Digest key =
        KernelKey(body, target, lowerings_, generator,
                  record == nullptr ? "" : ToString(record->schedule), request.products);
    const auto [entry, added] = job_of_key.emplace(key, jobs.size());
    if (added) {
      jobs.push_back({name, key, std::move(body), kernel_name, record});
      if (record != nullptr) ++counters_.recorded;
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          std::optional<KernelFile> file,
          FileOfTemplate(jobs.back(), registry_, target, request.products), name);
      if (file.has_value()) {
        jobs.back().kernel = *std::move(file);
        ++counters_.compiled;
      }
    } else {
      ++counters_.shared;
    }
    job_of_request.push_back(entry->second);
  }

  std::vector<size_t> pending;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].kernel.object.empty()) continue;
    std::optional<std::string> file;
    if (cache_ != nullptr) file = cache_->Get(jobs[i].key);
    std::optional<KernelFile> kernel;
    if (file.has_value()) kernel = ReadKernelFile(*std::move(file));
    if (kernel.has_value()) {
      jobs[i].kernel = *std::move(kernel);
      ++counters_.cached;
    } else {
      pending.push_back(i);
    }
  }
  if (!pending.empty()) SLIPWAY_RETURN_IF_ERROR(WarmUp());

  std::vector<Running> running;  // Children that are still there are killed on any return.
  size_t next = 0;
  int64_t done = static_cast<int64_t>(jobs.size() - pending.size());
  while (next < pending.size() || !running.empty()) {
    while (next < pending.size() &&
           running.size() < static_cast<size_t>(std::max(1, options_.max_processes))) {
      const size_t index = pending[next++];
      const Job& job = jobs[index];
      const ChildBody body = [&](const std::string& path) -> absl::Status {
        KernelScheduler scheduler(machine, job.record);
        SLIPWAY_ASSIGN_OR_RETURN(
            GroupPipeline group,
            BuildGroupPipeline(job.body, registry_, lowerings_, lanes, std::ref(scheduler)));
        SLIPWAY_RETURN_IF_ERROR(scheduler.CheckAllUsed());
        KernelScratch scratch;
        SLIPWAY_RETURN_IF_ERROR(WriteObject(group, KernelFunction(job.key), target,
                                            DotProductsOf(job.body), path, scratch));
        return AppendFacts(scheduler, scratch, path);
      };
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          CompileChild child,
          CompileChild::Start(body, kMemoryCanBeLimited ? options_.memory_limit_bytes : 0),
          job.name);
      running.push_back({index, clock_.Monotonic() + options_.deadline, std::move(child)});
    }
    absl::Duration first = running[0].deadline;
    for (const Running& one : running) first = std::min(first, one.deadline);
    WaitForAny(running, first - clock_.Monotonic());
    for (size_t i = 0; i < running.size();) {
      Running& one = running[i];
      Job& job = jobs[one.job];
      if (IsDone(one)) {
        SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::string file, one.child.Finish(), job.name);
        std::optional<KernelFile> kernel = ReadKernelFile(file);
        if (!kernel.has_value()) {
          return absl::InternalError(
              absl::StrCat(job.name, ": the kernel generator wrote nothing"));
        }
        job.kernel = *std::move(kernel);
        ++counters_.compiled;
        ++done;
        if (options_.progress) {
          options_.progress(done, static_cast<int64_t>(jobs.size()));
        }
        // A kernel that cannot be kept is compiled again next time; that is not worth failing for.
        if (cache_ != nullptr) (void)cache_->Put(job.key, file);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (clock_.Monotonic() >= one.deadline) {
        return absl::DeadlineExceededError(absl::StrCat(job.name, ": not compiled within ",
                                                        absl::FormatDuration(options_.deadline)));
      } else {
        ++i;
      }
    }
  }

  std::vector<CompiledKernel> kernels;
  kernels.reserve(requests.size());
  for (const size_t index : job_of_request) {
    const Job& job = jobs[index];
    kernels.push_back({job.key, KernelSymbol(job.key), job.kernel.object, job.kernel_name,
                       job.kernel.schedule, job.kernel.candidates, job.kernel.scratch});
  }
  return kernels;
}

}  // namespace slipway
