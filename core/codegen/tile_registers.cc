#include "core/codegen/tile_registers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;
using Halide::Internal::Stmt;
namespace ir = Halide::Internal;

// Names of loops, by which the pass knows them.
constexpr char kStep[] = "tile_step";
constexpr char kRow[] = "tile_row";
constexpr char kColumn[] = "tile_column";
constexpr char kTerm[] = "tile_term";

constexpr int kSumBytes = 4;
constexpr int kFactorBytes = 2;

class FindLoads : public ir::IRVisitor {
 public:
  std::vector<const ir::Load*> loads;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    loads.push_back(op);
    ir::IRVisitor::visit(op);
  }
};

// Where an element lies by the loops' variables.
struct Place {
  std::string buffer;
  Expr index;
};

// The loops of an update of one element, without what was moved out of them.
struct Update {
  std::map<std::string, const ir::For*> loops;  // By the names above.
  Place sums;
  Place left;
  Place right;

  int Extent(const char* loop) const {
    const auto found = loops.find(loop);
    if (found == loops.end()) return 1;
    const int64_t* extent = ir::as_const_int(found->second->extent);
    return extent == nullptr ? 0 : static_cast<int>(*extent);
  }

  // Where the loops have come to `at`, those that are not in it nowhere.
  Expr IndexAt(const Place& place, const std::map<std::string, int>& at) const {
    Expr index = place.index;
    for (const auto& [name, loop] : loops) {
      const auto found = at.find(name);
      const int steps = found == at.end() ? 0 : found->second;
      index = ir::substitute(loop->name, ir::simplify(loop->min + steps), index);
    }
    return ir::simplify(index);
  }

  Expr Stride(const Place& place, const char* loop) const {
    return ir::simplify(IndexAt(place, {{loop, 1}}) - IndexAt(place, {}));
  }
};

// Nothing where `stmt` is no update as MarkForTileRegisters wants it.
std::optional<Update> ReadUpdate(Stmt stmt, const std::string& sums) {
  Update update;
  std::vector<const ir::LetStmt*> lets;
  while (true) {
    if (const auto* let = stmt.as<ir::LetStmt>()) {
      lets.push_back(let);
      stmt = let->body;
    } else if (const auto* loop = stmt.as<ir::For>()) {
      for (const char* name : {kStep, kRow, kColumn, kTerm}) {
        if (absl::StrContains(loop->name, absl::StrCat(".", name))) update.loops[name] = loop;
      }
      stmt = loop->body;
    } else {
      break;
    }
  }
  const auto* store = stmt.as<ir::Store>();
  if (store == nullptr || store->name != sums) return std::nullopt;
  const auto without_lets = [&lets](Expr value) {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
      value = ir::substitute((*let)->name, (*let)->value, value);
    }
    return value;
  };
  update.sums = {sums, without_lets(store->index)};
  FindLoads found;
  store->value.accept(&found);
  std::vector<Place> factors;
  for (const ir::Load* load : found.loads) {
    if (load->name == sums) continue;
    if (load->type != Halide::BFloat(16)) return std::nullopt;
    factors.push_back({load->name, without_lets(load->index)});
  }
  if (factors.size() != 2) return std::nullopt;
  if (!ir::is_const_zero(update.Stride(factors[0], kColumn))) std::swap(factors[0], factors[1]);
  update.left = factors[0];
  update.right = factors[1];
  const bool lies_together = ir::is_const(update.Stride(update.left, kStep), 2) &&
                             ir::is_const(update.Stride(update.left, kTerm), 1) &&
                             ir::is_const_zero(update.Stride(update.left, kColumn)) &&
                             ir::is_const(update.Stride(update.right, kColumn), 2) &&
                             ir::is_const(update.Stride(update.right, kTerm), 1) &&
                             ir::is_const_zero(update.Stride(update.right, kRow)) &&
                             ir::is_const(update.Stride(update.sums, kColumn), 1);
  const bool fits = update.Extent(kStep) > 0 && update.Extent(kStep) % (kTileDepth / 2) == 0 &&
                    update.Extent(kTerm) == 2 && update.Extent(kRow) > 0 &&
                    update.Extent(kColumn) > 0 && update.Extent(kColumn) % kTileColumns == 0;
  if (!lies_together || !fits) return std::nullopt;
  return update;
}

Stmt Call(const char* name, const std::vector<Expr>& arguments) {
  return ir::Evaluate::make(ir::Call::make(Halide::Int(32), name, arguments, ir::Call::Extern));
}

// Writes what an update does for tiles of so many rows.
class TileWriter {
 public:
  TileWriter(const Update& update, int rows) : update_(update), rows_(rows) {}

  // Sums tiles below each other from `row` on, beside each other from `column` on.
  Stmt Block(int row, int row_tiles, int column, int column_tiles) const {
    const std::string step = absl::StrCat(update_.sums.buffer, ".tile_step.", row, ".", column);
    const Expr at_step = ir::Variable::make(Halide::Int(32), step);
    std::vector<Stmt> zeros, products, stores;
    for (int i = 0; i < row_tiles; ++i) {
      products.push_back(
          Load(LeftRegister(i), update_.left, {{kRow, row + i * kTileRows}}, kRow, at_step));
    }
    for (int j = 0; j < column_tiles; ++j) {
      const int from = column + j * kTileColumns;
      products.push_back(Load(RightRegister(j), update_.right, {{kColumn, from}}, kStep, at_step));
      for (int i = 0; i < row_tiles; ++i) {
        const int sum = SumRegister(i, j);
        zeros.push_back(Call(kTileZero, {sum}));
        products.push_back(Call(kTileMultiply, {sum, LeftRegister(i), RightRegister(j)}));
        stores.push_back(Call(
            kTileStore,
            {sum, Pointer(update_.sums),
             Bytes(update_.IndexAt(update_.sums, {{kRow, row + i * kTileRows}, {kColumn, from}}),
                   kSumBytes),
             Bytes(update_.Stride(update_.sums, kRow), kSumBytes)}));
      }
      // What comes from memory is on its way a column of tiles before it is needed.
      const Expr next = TileAt(update_.right, {{kColumn, from + update_.Extent(kColumn)}}, at_step);
      for (int pairs = 0; pairs < kTileRows; ++pairs) {
        const Expr line = next + pairs * update_.Stride(update_.right, kStep);
        products.push_back(
            Call(kTilePrefetch, {Pointer(update_.right), Bytes(line, kFactorBytes)}));
      }
    }
    std::vector<Stmt> all = std::move(zeros);
    all.push_back(ir::For::make(step, 0, update_.Extent(kStep) / (kTileDepth / 2),
                                ir::ForType::Serial, Halide::DeviceAPI::None,
                                ir::Block::make(products)));
    all.insert(all.end(), stores.begin(), stores.end());
    return ir::Block::make(all);
  }

  Stmt Configure() const { return Call(kTileConfigure, {rows_}); }

 private:
  static Expr Bytes(const Expr& elements, int size) {
    return ir::simplify(Halide::cast<int64_t>(elements) * size);
  }
  static Expr Pointer(const Place& place) {
    return ir::Variable::make(Halide::Handle(), place.buffer);
  }

  // The first element of a tile, `step` tiles of steps behind the first.
  Expr TileAt(const Place& place, const std::map<std::string, int>& at, const Expr& step) const {
    return update_.IndexAt(place, at) + step * (update_.Stride(place, kStep) * (kTileDepth / 2));
  }

  // The tile's rows lie along the loop `down`.
  Stmt Load(int tile, const Place& place, const std::map<std::string, int>& at, const char* down,
            const Expr& step) const {
    return Call(kTileLoad, {tile, Pointer(place), Bytes(TileAt(place, at, step), kFactorBytes),
                            Bytes(update_.Stride(place, down), kFactorBytes)});
  }

  const Update& update_;
  const int rows_;
};

Stmt WriteTiles(const Update& update) {
  const int rows = update.Extent(kRow);
  const int column_tiles = update.Extent(kColumn) / kTileColumns;
  std::vector<Stmt> all;
  // Whole tiles, and those of the rows that are left.
  for (int row = 0; row < rows;) {
    const int of_tile = std::min(rows - row, kTileRows);
    const TileWriter writer(update, of_tile);
    const int tiles = (rows - row) / of_tile;
    all.push_back(writer.Configure());
    for (int j = 0; j < column_tiles; j += kBlockTiles) {
      for (int i = 0; i < tiles; i += kBlockTiles) {
        all.push_back(writer.Block(row + i * kTileRows, std::min(kBlockTiles, tiles - i),
                                   j * kTileColumns, std::min(kBlockTiles, column_tiles - j)));
      }
    }
    row += tiles * of_tile;
  }
  all.push_back(Call(kTileRelease, {}));
  return ir::Block::make(all);
}

// Whether a loop of a Func's update is marked.
class FindMark : public ir::IRVisitor {
 public:
  explicit FindMark(const std::string& func) : update_(absl::StrCat(func, ".s1.")) {}
  bool found = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    found = found || (absl::StartsWith(op->name, update_) &&
                      absl::StrContains(op->name, absl::StrCat(".", kColumn)));
    ir::IRVisitor::visit(op);
  }

  const std::string update_;
};

}  // namespace

void MarkForTileRegisters(Func sums, const Halide::RVar& term, const Halide::RVar& step) {
  const std::vector<Var> vars = sums.args();
  Halide::Stage update = sums.update();
  const Halide::RVar tile_term(kTerm), tile_step(kStep);
  const Var tile_column(kColumn), tile_row(kRow);
  update.rename(vars[0], tile_column)
      .rename(vars[1], tile_row)
      .rename(term, tile_term)
      .rename(step, tile_step)
      .reorder({tile_term, tile_column, tile_row, tile_step});
}

Stmt UseTileRegisters::visit(const ir::ProducerConsumer* op) {
  FindMark mark(op->name);
  if (op->is_producer) op->body.accept(&mark);
  if (!mark.found) return ir::IRMutator::visit(op);
  std::vector<const ir::LetStmt*> lets;
  Stmt body = op->body;
  while (const auto* let = body.as<ir::LetStmt>()) {
    lets.push_back(let);
    body = let->body;
  }
  // Behind the zeros, which the registers begin with.
  while (const auto* block = body.as<ir::Block>()) body = block->rest;
  const std::optional<Update> update = ReadUpdate(body, op->name);
  if (!update.has_value()) {
    *status_ = absl::InternalError(
        absl::StrCat("the sums of \"", op->name, "\" cannot be made in tile registers"));
    return op;
  }
  Stmt tiles = WriteTiles(*update);
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
    tiles = ir::LetStmt::make((*let)->name, (*let)->value, tiles);
  }
  return ir::ProducerConsumer::make_produce(op->name, tiles);
}

}  // namespace slipway
