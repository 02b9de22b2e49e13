// The text form of graphs. Every graph prints, and what was printed parses to an equal graph.
//
//   graph "mnist" opset 28 (%x: f32[1, 1, 28, 28]) -> (%y) {
//     const %w: f32[8, 1, 5, 5] = #0f3c.../800
//     const %b: f32[2] = {0.5, -1}
//     %c = Conv "conv1" (%x, %w, _) {pads = [2, 2, 2, 2], strides = [1, 1]} : f32[1, 8, 28, 28]
//     %y = Relu(%c) : f32[1, 8, 28, 28]
//   }
//
//   graph "any" [batch in 1..64, w in 8..4096] (%x: f32[batch, 3, w], %q: f32[?]) -> (%y) {
//     %y = MaxPool(%x) {kernel_shape = [2], strides = [2]} : f32[batch, 3, floordiv(w, 2)]
//   }
//
// Grammar (blanks and `# comment` to the end of line, where no digest can stand, separate tokens):
//   graph     = "graph" string [ "opset" int ] [ symbols ] "(" [ input *( "," input ) ] ")"
//               "->" "(" [ value *( "," value ) ] ")" "{" *constraint *( const / node ) "}"
//   symbols   = "[" symbol *( "," symbol ) "]"     ; what types may mention, with bounds
//   symbol    = name "in" int ".." int
//   constraint = "require" equality *( "|" equality ) string    ; one holds, and who needs it
//   equality  = extent "=" extent
//   input     = value [ ":" type ]
//   const     = "const" value ":" type "=" contents
//   contents  = "{" [ element *( "," element ) ] "}" / "splat" element / "hex" string / digest
//   digest    = "#" 64HEX "/" int                  ; in the table of ParseOptions
//   node      = operand *( "," operand ) "=" op [ string ] "(" [ operand *( "," operand ) ] ")"
//               [ "{" attribute *( "," attribute ) "}" ] [ ":" otype *( "," otype ) ]
//   operand   = value / "_"                        ; "_" is omitted
//   otype     = type / "?"                         ; one an output; "?" is not known
//   type      = tensor [ "quantized" "{" [ "axis" "=" int "," ] "scales" "=" list ","
//               "zeros" "=" list "}" ]
//   tensor    = dtype "[" [ dimension *( "," dimension ) ] "]"
//   dimension = expression / "?"                   ; of core/symbolic; "?" is not known
//   attribute = name "=" ( int / float / string / list / tensor contents / graph )
//   list      = [ "ints" / "floats" / "strings" ] "[" ... "]" ; the word where the list is empty
//   value     = "%" name / "%" string              ; quoted where a name has other characters
//   float     = always with ".", "e", "inf" or "nan"; "nan(7fc00001)" gives a NaN's bits
#ifndef SLIPWAY_CORE_GRAPH_TEXT_H_
#define SLIPWAY_CORE_GRAPH_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"

namespace slipway {

// Tensors by the hex form of their bytes' digest.
using ConstantTable = std::map<std::string, Tensor>;

struct PrintOptions {
  // A tensor with more elements is written as a digest; by default none is.
  int64_t max_elements = INT64_MAX;
  // Filled, when given, with the tensors written as digests, so that the text parses again.
  ConstantTable* elided = nullptr;
};

// Deterministic.
std::string Print(const Graph& graph, const PrintOptions& options = {});

struct ParseOptions {
  const ConstantTable* constants = nullptr;  // Where digests are looked up.
  // A digest that is not there stands for zeros, which are made when somebody asks for them: for who wants to know
  // what a graph is like, not to compile it. Not for strings.
  bool zeros_for_unknown = false;
  // How many bytes "splat" may make in all, since a few characters ask for any number.
  int64_t max_splat_bytes = int64_t{2} << 30;
};

// INVALID_ARGUMENT says "line:column: what was expected"; RESOURCE_EXHAUSTED names the limit that the
// text exceeds. The graph is well-formed (ids in range, names unique, every value defined before
// use) but not verified.
absl::StatusOr<Graph> ParseGraph(absl::string_view text, const ParseOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_TEXT_H_
