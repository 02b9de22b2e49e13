#include "core/selector/device_attributes.h"

namespace slipway {
namespace {

using Kind = AttributeRow::Kind;

constexpr AttributeRow kRows[] = {
    {DeviceAttribute::kId, "id", Kind::kText, "its name in the fleet"},
    {DeviceAttribute::kTarget, "target", Kind::kText, "what is compiled for it, with all features"},
    {DeviceAttribute::kArch, "arch", Kind::kText, "x86-64, arm-64, ..."},
    {DeviceAttribute::kFeature, "feature", Kind::kText,
     "avx2, vnni, ...: each that its processors have"},
    {DeviceAttribute::kAccelerator, "accelerator", Kind::kText, "each that it has"},
    {DeviceAttribute::kModel, "model", Kind::kText, "what its processor is called"},
    {DeviceAttribute::kOs, "os", Kind::kText, "its operating system"},
    {DeviceAttribute::kKernel, "kernel", Kind::kText, "the version of its kernel"},
    {DeviceAttribute::kMachine, "machine", Kind::kText, "physical or virtual"},
    {DeviceAttribute::kPower, "power", Kind::kText, "mains or battery"},
    {DeviceAttribute::kCores, "cores", Kind::kNumber, "processors that its agent may use"},
    {DeviceAttribute::kPerformanceCores, "performance-cores", Kind::kNumber,
     "all but those of the slowest kind, where there are several kinds"},
    {DeviceAttribute::kEfficiencyCores, "efficiency-cores", Kind::kNumber,
     "those of the slowest kind, where there are several kinds"},
    {DeviceAttribute::kMemory, "memory", Kind::kBytes, "what its machine has"},
    {DeviceAttribute::kStorage, "storage", Kind::kBytes,
     "all of the disk where its agent keeps programs"},
    {DeviceAttribute::kStorageFree, "storage-free", Kind::kBytes,
     "what is free there, to a sixteenth of all"},
    {DeviceAttribute::kCharge, "charge", Kind::kNumber, "of its battery, percent, in tens"},
};

}  // namespace

absl::Span<const AttributeRow> AttributeRows() { return kRows; }

}  // namespace slipway
