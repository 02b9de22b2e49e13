// What the CPU backend does to a graph before it compiles kernels.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_CPU_PIPELINE_H_
#define SLIPWAY_CORE_BACKENDS_CPU_CPU_PIPELINE_H_

#include "core/passes/call_kernels_pass.h"
#include "core/passes/pipeline.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// ExpandOps, with the constants that follow from it, and CallKernels for nodes of which `is_lowered` is false (empty: for
// none), around FuseAttention, PadChannels, AlterLayout, ChooseConvolution (winograd_choice.h), MergeTransposes, PackGemm,
// ChooseProduct (strassen_choice.h), NarrowProducts and TabulateCodes; FuseOps and RoundInGroups; PlanMemory in one arena. Products are of bytes where x86-64
// has instructions for such (vnni, avxvnni), and of bf16 where it has and `precision` is that. Blocks of channels are
// one vector register of f32 and the smaller powers of two down to 4 (x86-64-v4: 16, 8, 4; v3: 8, 4; everything else: 4); panels of
// matrices have 16 columns where vectors have at least 8 elements, else 8.
BackendPipeline CpuPipeline(const DeviceTarget& device, IsLowered is_lowered = {},
                            Precision precision = Precision::kFloat32);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_CPU_PIPELINE_H_
