#include "core/selector/device_attributes.h"

namespace slipway {
namespace {

using Kind = AttributeRow::Kind;

constexpr AttributeRow kRows[] = {
    {Attribute::kId, "id", Kind::kText, "its name in the fleet"},
    {Attribute::kTarget, "target", Kind::kText, "what is compiled for it, with all features"},
    {Attribute::kArch, "arch", Kind::kText, "x86-64, arm-64, ..."},
    {Attribute::kFeature, "feature", Kind::kText, "avx2, vnni, ...: each that its processors have"},
    {Attribute::kAccelerator, "accelerator", Kind::kText, "each that it has"},
    {Attribute::kModel, "model", Kind::kText, "what its processor is called"},
    {Attribute::kOs, "os", Kind::kText, "its operating system"},
    {Attribute::kKernel, "kernel", Kind::kText, "the version of its kernel"},
    {Attribute::kMachine, "machine", Kind::kText, "physical or virtual"},
    {Attribute::kPower, "power", Kind::kText, "mains or battery"},
    {Attribute::kCores, "cores", Kind::kNumber, "processors that its agent may use"},
    {Attribute::kPerformanceCores, "performance-cores", Kind::kNumber,
     "all but those of the slowest kind, where there are several kinds"},
    {Attribute::kEfficiencyCores, "efficiency-cores", Kind::kNumber,
     "those of the slowest kind, where there are several kinds"},
    {Attribute::kMemory, "memory", Kind::kBytes, "what its machine has"},
    {Attribute::kStorage, "storage", Kind::kBytes,
     "all of the disk where its agent keeps programs"},
    {Attribute::kStorageFree, "storage-free", Kind::kBytes,
     "what is free there, to a sixteenth of all"},
    {Attribute::kCharge, "charge", Kind::kNumber, "of its battery, percent, in tens"},
};

}  // namespace

absl::Span<const AttributeRow> AttributeRows() { return kRows; }

}  // namespace slipway
