// Parts that several renderings have in common.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_PARTS_H_
#define SLIPWAY_CLIENT_CLI_RENDER_PARTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/types.h"
#include "core/base/json_writer.h"
#include "core/base/tag.h"
#include "core/statistics/estimate.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// What a device does at most: "peaks", an entry for each number of threads.
void PeaksJson(JsonWriter& json, const std::vector<MachinePeaks>& peaks);
// "accelerator_peaks"; nothing where there are none.
void AcceleratorPeaksJson(JsonWriter& json, const std::vector<AcceleratorPeaks>& peaks);

// How many products are computed in 8 bits, and how many are not.
std::string ProductsText(const Compilation& compilation);
// The same, and which are not: "integer_products", "float_products".
void ProductsJson(JsonWriter& json, const Compilation& compilation);

// [low, high], or null.
void IntervalJson(JsonWriter& json, absl::string_view name,
                  const std::optional<ConfidenceInterval>& interval);

// "branch=main commit=1f0c9ad"; empty when there are none.
std::string TagsText(const std::vector<Tag>& tags);
// "tags": an object of them.
void TagsJson(JsonWriter& json, const std::vector<Tag>& tags);

// Who holds a device: "lease".
void LeaseJson(JsonWriter& json, const DeviceLease& lease);
void ReservationFields(JsonWriter& json, const Reservation& reservation);
void ReservationJson(JsonWriter& json, absl::string_view name, const Reservation& reservation);
// Why a job waits.
void WaitJson(JsonWriter& json, absl::string_view name, const WaitReason& reason);

// "NVIDIA H100, 1980 MHz, memory 2619 MHz, 412.3 W, 61 C, slowed down", of what is known.
std::string AcceleratorText(const AcceleratorState& state);
// "accelerators" is there where the machine has some.
// "accelerators"; nothing where there are none.
void AcceleratorsJson(JsonWriter& json, const std::vector<AcceleratorState>& accelerators);
void MachineJson(JsonWriter& json, absl::string_view name, const MachineState& machine);

// What is to be said of a tensor, and the file it was written to; an empty one: none.
void TensorJson(JsonWriter& json, const NamedTensor& tensor, const std::string& file);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_PARTS_H_
