#include "core/codegen/tensor_cores/kernel_frame.h"

namespace slipway {

void KernelFrame::FindPlace(int64_t row_tiles, int64_t column_tiles) {
  instance = w.Word("mov.u32", {"%tid.x"});
  const std::string group = w.Word("mov.u32", {"%ctaid.x"});
  const std::string row_tile = w.Word("rem.u32", {group, Number(row_tiles)});
  const std::string rest = w.Word("div.u32", {group, Number(row_tiles)});
  const std::string column_tile = w.Word("rem.u32", {rest, Number(column_tiles)});
  batch = w.Word("div.u32", {rest, Number(column_tiles)});
  if (parts > 1) {
    part = w.Word("div.u32", {batch, Number(product.batch)});
    batch = w.Word("rem.u32", {batch, Number(product.batch)});
    first_step = w.Word("mul.lo.u32", {part, Number(steps_of_part())});
  }
  first_row = w.Word("mul.lo.u32", {row_tile, Number(tile.rows)});
  first_column = w.Word("mul.lo.u32", {column_tile, Number(tile.columns)});
  lane = w.Word("and.b32", {instance, "31"});
  const std::string warp = w.Word("shr.u32", {instance, "5"});
  const std::string of_columns = Number(tile.warps_of_columns);
  warp_row =
      w.Word("mul.lo.u32", {w.Word("div.u32", {warp, of_columns}), Number(tile.warp_rows())});
  warp_column =
      w.Word("mul.lo.u32", {w.Word("rem.u32", {warp, of_columns}), Number(tile.warp_columns())});
}

std::string KernelFrame::PlusFirstDepth(const std::string& depth_register) {
  if (parts == 1) return depth_register;
  return w.Word("mad.lo.u32", {first_step, Number(depth()), depth_register});
}

}  // namespace slipway
