#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/text_elements.h"
#include "core/graph/text_lexer.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

using text_internal::Lexer;
using text_internal::ParseElement;
using text_internal::ParseFloat;
using text_internal::ParseInt;
using text_internal::Token;
using text_internal::TokenKind;

class Parser {
 public:
  Parser(absl::string_view text, const ParseOptions& options) : lexer_(text), options_(options) {}

  absl::StatusOr<Graph> Run() {
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ParseOneGraph(0));
    if (lexer_.current().kind != TokenKind::kEnd) return lexer_.Error("expected the end");
    return graph;
  }

 private:
  // What is known of one graph while it is read; bodies see nothing of the graphs around them.
  struct Scope {
    Graph graph;
    absl::flat_hash_map<std::string, ValueId> ids;
  };

  // Tokens.
  bool At(absl::string_view punctuation) const {
    return lexer_.current().kind == TokenKind::kPunctuation && lexer_.current().text == punctuation;
  }
  bool AtWord(absl::string_view word) const {
    return lexer_.current().kind == TokenKind::kWord && lexer_.current().text == word;
  }
  absl::Status Expect(absl::string_view punctuation) {
    if (!At(punctuation)) return lexer_.Error(absl::StrCat("expected \"", punctuation, "\""));
    return lexer_.Advance();
  }
  absl::Status ExpectWord(absl::string_view word) {
    if (!AtWord(word)) return lexer_.Error(absl::StrCat("expected \"", word, "\""));
    return lexer_.Advance();
  }
  absl::StatusOr<std::string> Take(TokenKind kind, absl::string_view what) {
    if (lexer_.current().kind != kind) return lexer_.Error(absl::StrCat("expected ", what));
    std::string text = lexer_.current().text;
    if (kind != TokenKind::kNumber && kind != TokenKind::kString && text.size() > kMaxNameBytes) {
      return absl::ResourceExhaustedError(
          lexer_.Error(absl::StrCat("longer than ", kMaxNameBytes, " bytes")).message());
    }
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    return text;
  }
  absl::StatusOr<std::string> TakeName(absl::string_view what) {
    const bool quoted = lexer_.current().kind == TokenKind::kString;
    if (quoted && lexer_.current().text.size() > kMaxNameBytes) {
      return absl::ResourceExhaustedError(
          lexer_.Error(absl::StrCat("longer than ", kMaxNameBytes, " bytes")).message());
    }
    return Take(quoted ? TokenKind::kString : TokenKind::kWord, what);
  }
  absl::StatusOr<int64_t> TakeInt(absl::string_view what) {
    const auto value = ParseInt(lexer_.current().text);
    if (lexer_.current().kind != TokenKind::kNumber || !value.ok()) {
      return lexer_.Error(absl::StrCat("expected ", what));
    }
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    return *value;
  }
  // A number, or a word such as "inf", "nan", "true"; "nan(...)" is put together again.
  absl::StatusOr<std::string> TakeElement() {
    if (lexer_.current().kind != TokenKind::kNumber && lexer_.current().kind != TokenKind::kWord) {
      return lexer_.Error("expected a number");
    }
    std::string text = lexer_.current().text;
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    if (text == "nan" && At("(")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      absl::StrAppend(&text, "(", lexer_.current().text, ")");
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_RETURN_IF_ERROR(Expect(")"));
    }
    return text;
  }
  // Calls `item` for each of a comma-separated list up to `close`, which is consumed.
  template <typename Item>
  absl::Status List(absl::string_view close, Item item) {
    while (!At(close)) {
      SLIPWAY_RETURN_IF_ERROR(item());
      if (At(close)) break;
      SLIPWAY_RETURN_IF_ERROR(Expect(","));
    }
    return lexer_.Advance();
  }

  bool AtEndOfExtent() const {
    return At(",") || At("]") || At(")") || At("=") || At("|") ||
           lexer_.current().kind == TokenKind::kString;
  }

  // Its tokens up to what ends it outside of parentheses.
  absl::StatusOr<Dimension> ParseDimension() {
    const Token start = lexer_.current();
    std::string text;
    int open = 0;
    while (open > 0 || !AtEndOfExtent()) {
      const TokenKind kind = lexer_.current().kind;
      if (kind != TokenKind::kWord && kind != TokenKind::kNumber &&
          kind != TokenKind::kPunctuation) {
        return lexer_.Error("expected an extent");
      }
      if (At("(")) ++open;
      if (At(")")) --open;
      absl::StrAppend(&text, text.empty() ? "" : " ", lexer_.current().text);
      if (text.size() > kMaxExpressionTextBytes) {
        return absl::ResourceExhaustedError(
            lexer_.Error(absl::StrCat("longer than ", kMaxExpressionTextBytes, " bytes"))
                .message());
      }
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    }
    if (text == "?") return Dimension();
    if (const auto number = ParseInt(text); number.ok()) return Dimension(*number);
    auto expression = ParseExpression(text);
    if (!expression.ok()) {
      return Annotate(expression.status(),
                      absl::StrCat(start.line, ":", start.column, ": expected an extent"));
    }
    return Dimension(*std::move(expression));
  }

  absl::StatusOr<ValueType> ParseType() {
    const Token start = lexer_.current();
    const auto dtype = ParseDataType(start.text);
    if (start.kind != TokenKind::kWord || !dtype.ok()) {
      return lexer_.Error(dtype.ok() ? "expected a type" : dtype.status().message());
    }
    Dimensions dimensions;
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    SLIPWAY_RETURN_IF_ERROR(Expect("["));
    SLIPWAY_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
      if (dimensions.size() >= kMaxRank) {
        return lexer_.Error(absl::StrCat("more than ", kMaxRank, " dimensions"));
      }
      SLIPWAY_ASSIGN_OR_RETURN(Dimension dimension, ParseDimension());
      dimensions.push_back(std::move(dimension));
      return absl::OkStatus();
    }));
    ValueType type(*dtype, dimensions);
    if (AtWord("quantized")) {
      SLIPWAY_ASSIGN_OR_RETURN(Quantization quantization, ParseQuantization());
      type.set_quantization(std::move(quantization));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckType(type), absl::StrCat(start.line, ":", start.column));
    return type;
  }

  absl::StatusOr<Quantization> ParseQuantization() {
    Quantization quantization;
    SLIPWAY_RETURN_IF_ERROR(ExpectWord("quantized"));
    SLIPWAY_RETURN_IF_ERROR(Expect("{"));
    if (AtWord("axis")) {
      const Token start = lexer_.current();
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_RETURN_IF_ERROR(Expect("="));
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, TakeInt("an axis"));
      if (axis < 0 || axis >= kMaxRank) return ErrorAt(start, "the axis is out of range");
      quantization.axis = static_cast<int>(axis);
      SLIPWAY_RETURN_IF_ERROR(Expect(","));
    }
    SLIPWAY_RETURN_IF_ERROR(ExpectWord("scales"));
    SLIPWAY_RETURN_IF_ERROR(Expect("="));
    SLIPWAY_RETURN_IF_ERROR(Expect("["));
    SLIPWAY_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
      const Token start = lexer_.current();
      SLIPWAY_ASSIGN_OR_RETURN(const std::string text, TakeElement());
      const auto scale = ParseFloat(text);
      if (!scale.ok()) return ErrorAt(start, scale.status().message());
      quantization.scales.push_back(*scale);
      return absl::OkStatus();
    }));
    SLIPWAY_RETURN_IF_ERROR(Expect(","));
    SLIPWAY_RETURN_IF_ERROR(ExpectWord("zeros"));
    SLIPWAY_RETURN_IF_ERROR(Expect("="));
    SLIPWAY_RETURN_IF_ERROR(Expect("["));
    SLIPWAY_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t zero, TakeInt("a zero point"));
      quantization.zero_points.push_back(zero);
      return absl::OkStatus();
    }));
    SLIPWAY_RETURN_IF_ERROR(Expect("}"));
    return quantization;
  }

  // The type of a constant: every extent is a number.
  absl::StatusOr<ValueType> ParseStaticType() {
    const Token start = lexer_.current();
    SLIPWAY_ASSIGN_OR_RETURN(ValueType type, ParseType());
    if (!type.is_static()) return ErrorAt(start, "a constant's extents must be numbers");
    return type;
  }

  absl::StatusOr<std::vector<Symbol>> ParseSymbols() {
    std::vector<Symbol> symbols;
    SLIPWAY_RETURN_IF_ERROR(Expect("["));
    SLIPWAY_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
      const Token start = lexer_.current();
      Symbol symbol;
      SLIPWAY_ASSIGN_OR_RETURN(symbol.name, Take(TokenKind::kWord, "a symbol"));
      SLIPWAY_RETURN_IF_ERROR(ExpectWord("in"));
      // "1..64" is one token.
      const Token range = lexer_.current();
      SLIPWAY_RETURN_IF_ERROR(Take(TokenKind::kNumber, "bounds such as 1..64").status());
      const size_t dots = range.text.find("..");
      const auto min = ParseInt(range.text.substr(0, dots));
      const auto max = ParseInt(dots == std::string::npos ? "" : range.text.substr(dots + 2));
      if (!min.ok() || !max.ok()) return ErrorAt(range, "expected bounds such as 1..64");
      symbol.min = *min;
      symbol.max = *max;
      symbols.push_back(std::move(symbol));
      if (symbols.size() > kMaxSymbols) return ErrorAt(start, "too many symbols");
      return absl::OkStatus();
    }));
    return symbols;
  }

  absl::StatusOr<Expression> ParseSide() {
    const Token start = lexer_.current();
    SLIPWAY_ASSIGN_OR_RETURN(const Dimension side, ParseDimension());
    if (side.is_unknown()) return ErrorAt(start, "expected a number or an expression");
    return side.expression();
  }

  absl::StatusOr<Constraint> ParseConstraint() {
    SLIPWAY_RETURN_IF_ERROR(ExpectWord("require"));
    Constraint constraint;
    while (true) {
      SLIPWAY_ASSIGN_OR_RETURN(Expression left, ParseSide());
      SLIPWAY_RETURN_IF_ERROR(Expect("="));
      SLIPWAY_ASSIGN_OR_RETURN(Expression right, ParseSide());
      constraint.any_of.push_back({std::move(left), std::move(right)});
      if (constraint.any_of.size() > kMaxConstraintEqualities) {
        return lexer_.Error("too many equalities");
      }
      if (!At("|")) break;
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    }
    SLIPWAY_ASSIGN_OR_RETURN(constraint.user, TakeName("who needs it, in quotes"));
    return constraint;
  }

  absl::StatusOr<Tensor> ParseContents(const TensorType& type) {
    if (lexer_.current().kind == TokenKind::kDigest) return ParseDigest(type);
    const Token start = lexer_.current();
    if (type.dtype == DataType::kString) {
      auto strings = ParseStrings(type.shape);
      if (strings.ok()) return strings;
      return Annotate(strings.status(), absl::StrCat(start.line, ":", start.column));
    }
    if (ByteSize(type.dtype) == 0) {
      return lexer_.Error(absl::StrCat("tensors of type ", Name(type.dtype), " hold nothing here"));
    }
    std::string bytes;
    if (AtWord("hex")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_ASSIGN_OR_RETURN(const std::string hex, Take(TokenKind::kString, "a hex string"));
      for (const char c : hex) {
        if (!absl::ascii_isxdigit(c)) return lexer_.Error("the hex string before has other digits");
      }
      bytes = absl::HexStringToBytes(hex);
    } else if (AtWord("splat")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_ASSIGN_OR_RETURN(const std::string element, ParseOneElement(type.dtype));
      splat_bytes_ += type.byte_size();
      if (splat_bytes_ > options_.max_splat_bytes) {
        return absl::ResourceExhaustedError(absl::StrCat(start.line, ":", start.column,
                                                         ": splats make more than the limit of ",
                                                         options_.max_splat_bytes, " bytes"));
      }
      bytes.reserve(type.byte_size());
      for (int64_t i = 0; i < type.num_elements(); ++i) bytes += element;
    } else {
      SLIPWAY_RETURN_IF_ERROR(Expect("{"));
      SLIPWAY_RETURN_IF_ERROR(List("}", [&]() -> absl::Status {
        SLIPWAY_ASSIGN_OR_RETURN(const std::string element, ParseOneElement(type.dtype));
        bytes += element;
        return absl::OkStatus();
      }));
    }
    auto tensor = Tensor::FromBytes(type, bytes);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), absl::StrCat(start.line, ":", start.column));
    }
    return tensor;
  }

  absl::StatusOr<Tensor> ParseStrings(const Shape& shape) {
    std::vector<std::string> strings;
    SLIPWAY_RETURN_IF_ERROR(Expect("{"));
    SLIPWAY_RETURN_IF_ERROR(List("}", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(strings.emplace_back(), Take(TokenKind::kString, "a string"));
      return absl::OkStatus();
    }));
    return StringTensor(shape, std::vector<absl::string_view>(strings.begin(), strings.end()));
  }

  absl::StatusOr<std::string> ParseOneElement(DataType dtype) {
    const Token start = lexer_.current();
    SLIPWAY_ASSIGN_OR_RETURN(const std::string text, TakeElement());
    auto bytes = ParseElement(dtype, text);
    if (!bytes.ok()) {
      return Annotate(bytes.status(), absl::StrCat(start.line, ":", start.column));
    }
    return bytes;
  }

  absl::StatusOr<Tensor> ZerosLater(const TensorType& type) {
    if (type.dtype == DataType::kString) {
      return lexer_.Error("no constant of this digest was supplied, and strings have no zeros");
    }
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    return Tensor::Deferred(type, [type] { return Tensor::Create(type); });
  }

  absl::StatusOr<Tensor> ParseDigest(const TensorType& type) {
    const auto digest = Digest::Parse(lexer_.current().text);
    if (!digest.ok()) return lexer_.Error(digest.status().message());
    if (options_.constants == nullptr || options_.constants->count(digest->hex()) == 0) {
      if (options_.zeros_for_unknown) return ZerosLater(type);
      return lexer_.Error("no constant of this digest was supplied");
    }
    const Tensor& known = options_.constants->at(digest->hex());
    auto tensor = Tensor::Borrow(type, known.bytes(), std::make_shared<Tensor>(known));
    if (!tensor.ok()) return lexer_.Error(tensor.status().message());
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    return tensor;
  }

  absl::StatusOr<Attribute> ParseList(absl::string_view word) {
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    SLIPWAY_RETURN_IF_ERROR(Expect("["));
    SLIPWAY_RETURN_IF_ERROR(List("]", [&]() -> absl::Status {
      if (lexer_.current().kind == TokenKind::kString) {
        strings.push_back(lexer_.current().text);
        return lexer_.Advance();
      }
      const Token start = lexer_.current();
      SLIPWAY_ASSIGN_OR_RETURN(const std::string text, TakeElement());
      if (IsFloat(text)) {
        const auto value = ParseFloat(text);
        if (!value.ok()) return ErrorAt(start, value.status().message());
        floats.push_back(*value);
      } else {
        const auto value = ParseInt(text);
        if (!value.ok()) return ErrorAt(start, value.status().message());
        ints.push_back(*value);
      }
      return absl::OkStatus();
    }));
    const int kinds = !ints.empty() + !floats.empty() + !strings.empty();
    if (kinds > 1) return lexer_.Error("the list before mixes ints, floats and strings");
    if (kinds == 0 && word.empty()) {
      return lexer_.Error("the empty list before needs its kind: ints[], floats[] or strings[]");
    }
    if (!floats.empty() || (kinds == 0 && word == "floats")) return Attribute(floats);
    if (!strings.empty() || (kinds == 0 && word == "strings")) return Attribute(strings);
    return Attribute(ints);
  }

  static bool IsFloat(absl::string_view text) {
    return text.find_first_of(".einf") != absl::string_view::npos;
  }
  static absl::Status ErrorAt(const Token& token, absl::string_view message) {
    return absl::InvalidArgumentError(absl::StrCat(token.line, ":", token.column, ": ", message));
  }

  absl::StatusOr<Attribute> ParseAttribute(int depth) {
    const Token start = lexer_.current();
    if (start.kind == TokenKind::kString) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      return Attribute(start.text);
    }
    if (At("[")) return ParseList("");
    if (AtWord("ints") || AtWord("floats") || AtWord("strings")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      return ParseList(start.text);
    }
    if (AtWord("graph")) {
      SLIPWAY_ASSIGN_OR_RETURN(Graph body, ParseOneGraph(depth + 1));
      return Attribute(std::make_shared<const Graph>(std::move(body)));
    }
    if (start.kind == TokenKind::kWord && start.text != "inf" && start.text != "nan") {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueType type, ParseStaticType());
      if (type.quantization().has_value()) {
        return ErrorAt(start, "a tensor in an attribute has no quantization");
      }
      SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ParseContents(type.tensor()));
      return Attribute(std::move(tensor));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::string text, TakeElement());
    if (IsFloat(text)) {
      const auto value = ParseFloat(text);
      if (!value.ok()) return ErrorAt(start, value.status().message());
      return Attribute(*value);
    }
    const auto value = ParseInt(text);
    if (!value.ok()) return ErrorAt(start, value.status().message());
    return Attribute(*value);
  }

  absl::StatusOr<ValueId> Define(Scope& scope, const Token& at) {
    if (at.text.empty()) return ErrorAt(at, "a value needs a name");
    const ValueId id = static_cast<ValueId>(scope.graph.values.size());
    if (id >= kMaxValues) {
      return absl::ResourceExhaustedError(
          absl::StrCat(at.line, ":", at.column, ": more than ", kMaxValues, " values"));
    }
    if (!scope.ids.emplace(at.text, id).second) {
      return ErrorAt(at, absl::StrCat("\"", at.text, "\" is defined twice"));
    }
    return scope.graph.AddValue(at.text);
  }
  static absl::StatusOr<ValueId> Look(const Scope& scope, const Token& at) {
    const auto found = scope.ids.find(at.text);
    if (found == scope.ids.end()) {
      return ErrorAt(at, absl::StrCat("\"", at.text, "\" is not defined before this"));
    }
    return found->second;
  }
  absl::StatusOr<Token> TakeValue() {
    Token token = lexer_.current();
    SLIPWAY_RETURN_IF_ERROR(Take(TokenKind::kValue, "a value such as %x").status());
    return token;
  }
  // A value, or "_": then the token's kind is kWord.
  absl::StatusOr<Token> TakeOperand() {
    Token token = lexer_.current();
    if (!AtWord("_")) return TakeValue();
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    return token;
  }

  absl::Status ParseConstant(Scope& scope) {
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    SLIPWAY_ASSIGN_OR_RETURN(const Token name, TakeValue());
    SLIPWAY_RETURN_IF_ERROR(Expect(":"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueType type, ParseStaticType());
    SLIPWAY_RETURN_IF_ERROR(Expect("="));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ParseContents(type.tensor()));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, Define(scope, name));
    scope.graph.values[id].type = type;
    scope.graph.values[id].constant = std::move(tensor);
    return absl::OkStatus();
  }

  absl::Status ParseNode(Scope& scope, int depth) {
    if (scope.graph.nodes.size() >= kMaxNodes) {
      return absl::ResourceExhaustedError(
          lexer_.Error(absl::StrCat("more than ", kMaxNodes, " nodes")).message());
    }
    std::vector<Token> outputs;
    SLIPWAY_RETURN_IF_ERROR(List("=", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(Token token, TakeOperand());
      outputs.push_back(std::move(token));
      return absl::OkStatus();
    }));
    Node node;
    SLIPWAY_ASSIGN_OR_RETURN(node.op, TakeName("an operator"));
    if (lexer_.current().kind == TokenKind::kString) {
      SLIPWAY_ASSIGN_OR_RETURN(node.name, TakeName("a node name"));
    }
    SLIPWAY_RETURN_IF_ERROR(Expect("("));
    SLIPWAY_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(const Token token, TakeOperand());
      ValueId id = kNoValue;
      if (token.kind == TokenKind::kValue) {
        SLIPWAY_ASSIGN_OR_RETURN(id, Look(scope, token));
      }
      node.inputs.push_back(id);
      return absl::OkStatus();
    }));
    if (At("{")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_RETURN_IF_ERROR(List("}", [&]() -> absl::Status {
        const Token start = lexer_.current();
        SLIPWAY_ASSIGN_OR_RETURN(const std::string name, TakeName("an attribute's name"));
        if (node.attributes.Find(name) != nullptr) {
          return ErrorAt(start, absl::StrCat("attribute \"", name, "\" is there twice"));
        }
        SLIPWAY_RETURN_IF_ERROR(Expect("="));
        SLIPWAY_ASSIGN_OR_RETURN(Attribute value, ParseAttribute(depth));
        node.attributes.Set(name, std::move(value));
        return absl::OkStatus();
      }));
    }
    std::vector<std::optional<ValueType>> types(outputs.size());
    if (At(":")) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        SLIPWAY_RETURN_IF_ERROR(Expect(i == 0 ? ":" : ","));
        if (At("?")) {
          SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
        } else {
          SLIPWAY_ASSIGN_OR_RETURN(types[i], ParseType());
        }
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      ValueId id = kNoValue;
      if (outputs[i].kind == TokenKind::kValue) {
        SLIPWAY_ASSIGN_OR_RETURN(id, Define(scope, outputs[i]));
        scope.graph.values[id].type = types[i];
      }
      node.outputs.push_back(id);
    }
    scope.graph.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  absl::StatusOr<Graph> ParseOneGraph(int depth) {
    if (depth > kMaxGraphNesting) {
      return absl::ResourceExhaustedError(
          lexer_.Error(absl::StrCat("graphs nested deeper than ", kMaxGraphNesting)).message());
    }
    Scope scope;
    SLIPWAY_RETURN_IF_ERROR(ExpectWord("graph"));
    if (lexer_.current().kind != TokenKind::kString) {
      return lexer_.Error("expected the graph's name in quotes");
    }
    SLIPWAY_ASSIGN_OR_RETURN(scope.graph.name, TakeName("a name"));
    if (AtWord("opset")) {
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      const Token opset_at = lexer_.current();
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t opset, TakeInt("an opset"));
      if (opset < 1 || opset > 1'000'000) return ErrorAt(opset_at, "this is no opset");
      scope.graph.opset = static_cast<int>(opset);
    }
    if (At("[")) {
      SLIPWAY_ASSIGN_OR_RETURN(scope.graph.symbols, ParseSymbols());
    }
    SLIPWAY_RETURN_IF_ERROR(Expect("("));
    SLIPWAY_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(const Token name, TakeValue());
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, Define(scope, name));
      scope.graph.inputs.push_back(id);
      if (!At(":")) return absl::OkStatus();
      SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
      SLIPWAY_ASSIGN_OR_RETURN(scope.graph.values[id].type, ParseType());
      return absl::OkStatus();
    }));
    SLIPWAY_RETURN_IF_ERROR(Expect("->"));
    SLIPWAY_RETURN_IF_ERROR(Expect("("));
    std::vector<Token> outputs;
    SLIPWAY_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
      SLIPWAY_ASSIGN_OR_RETURN(Token token, TakeValue());
      outputs.push_back(std::move(token));
      return absl::OkStatus();
    }));
    SLIPWAY_RETURN_IF_ERROR(Expect("{"));
    while (AtWord("require")) {
      const Token start = lexer_.current();
      if (scope.graph.constraints.size() == kMaxConstraints) {
        return ErrorAt(start, "too many constraints");
      }
      SLIPWAY_ASSIGN_OR_RETURN(Constraint constraint, ParseConstraint());
      scope.graph.constraints.push_back(std::move(constraint));
    }
    while (!At("}")) {
      SLIPWAY_RETURN_IF_ERROR(AtWord("const") ? ParseConstant(scope) : ParseNode(scope, depth));
    }
    SLIPWAY_RETURN_IF_ERROR(lexer_.Advance());
    for (const Token& output : outputs) {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, Look(scope, output));
      scope.graph.outputs.push_back(id);
    }
    return std::move(scope.graph);
  }

  Lexer lexer_;
  const ParseOptions& options_;
  int64_t splat_bytes_ = 0;
};

}  // namespace

absl::StatusOr<Graph> ParseGraph(absl::string_view text, const ParseOptions& options) {
  if (static_cast<int64_t>(text.size()) > kMaxGraphTextBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the text has ", text.size(), " bytes, more than the limit of ", kMaxGraphTextBytes));
  }
  return Parser(text, options).Run();
}

}  // namespace slipway
