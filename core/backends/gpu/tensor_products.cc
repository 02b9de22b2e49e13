#include "core/backends/gpu/tensor_products.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/backends/program/program_manifest.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"
#include "core/operators/fused.h"
#include "core/operators/products.h"

namespace slipway {
namespace {

constexpr int64_t kDevice = 1;
// More would fill a report.
constexpr size_t kMaxNotes = 32;

bool IsProductOfDevice(const Node& node) {
  if (node.op != kFusedOperator || DeviceNumberOf(node) != kDevice || IsDeviceCopy(node)) {
    return false;
  }
  return absl::c_any_of(ComputedBy(node)->nodes,
                        [](const Node& inner) { return MakesProducts(inner.op); });
}

}  // namespace

absl::StatusOr<Graph> UseTensorCores(Graph graph, const PassContext& context,
                                     const DeviceTarget& device, Precision precision) {
  std::vector<std::string> stay;
  size_t products = 0;
  const absl::Status has = CheckHasProductsOf(device, precision);
  for (Node& node : graph.nodes) {
    if (!IsProductOfDevice(node)) continue;
    ++products;
    if (ProductsOfNode(node) != Precision::kFloat32) continue;  // Attention.
    absl::Status status = has;
    if (status.ok()) status = DecodeProduct(*ComputedBy(node), context.registry).status();
    if (status.ok()) {
      node.attributes.Set(kFusedProducts, static_cast<int64_t>(precision));
    } else {
      stay.push_back(
          absl::StrCat("\"", DisplayName(graph, node), "\" multiplies in f32: ", status.message()));
    }
  }
  if (context.ledger == nullptr) return graph;
  std::vector<std::string>& notes = context.ledger->notes;
  notes.push_back(absl::StrCat(products - stay.size(), " of the device's ", products,
                               " products are of ", Name(precision)));
  for (size_t i = 0; i < stay.size(); ++i) {
    if (i == kMaxNotes) {
      notes.push_back(absl::StrCat("and ", stay.size() - i, " more multiply in f32"));
      break;
    }
    notes.push_back(std::move(stay[i]));
  }
  return graph;
}

}  // namespace slipway
