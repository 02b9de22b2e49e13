// MakeTableObject for wasm-32.
#ifndef SLIPWAY_CORE_CODEGEN_WASM_TABLE_OBJECT_H_
#define SLIPWAY_CORE_CODEGEN_WASM_TABLE_OBJECT_H_

#include <string>
#include <vector>

#include "core/codegen/table_object.h"

namespace slipway {

// A WebAssembly object file after the tool conventions' Linking.md, as clang makes one of a constant table.
std::string MakeWasmTableObject(const std::vector<TableRow>& rows);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_WASM_TABLE_OBJECT_H_
