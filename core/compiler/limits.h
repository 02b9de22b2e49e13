// The limits of a compilation as a whole; those of its parts are in their folders.
#ifndef SLIPWAY_CORE_COMPILER_LIMITS_H_
#define SLIPWAY_CORE_COMPILER_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace slipway {

// CompileReport.printed_graph.
inline constexpr int64_t kMaxPrintedGraphBytes = int64_t{16} << 20;
// CompileReport.float_products, and each text in them.
inline constexpr int kMaxFloatProducts = 256;
inline constexpr size_t kMaxFloatProductBytes = 200;

// Work (core/reference/work.h) that evaluating a model for given inputs may take: some minutes.
inline constexpr int64_t kMaxEvaluationWork = int64_t{1} << 36;

// StageTime.notes of each pass, and each text in them.
inline constexpr int kMaxNotes = 16;
inline constexpr size_t kMaxNoteBytes = 400;
// CompileReport.candidates: all of them, a schedule among them, and the name of a step.
inline constexpr int64_t kMaxCandidatesBytes = 1 << 20;
inline constexpr size_t kMaxCandidateBytes = 4 << 10;
inline constexpr size_t kMaxStepNameBytes = 1024;

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_LIMITS_H_
