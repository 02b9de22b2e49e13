#include "core/codegen/tile_registers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codegen/surroundings.h"
#include "core/codegen/tile_instructions.h"
#include "core/codegen/tile_shapes.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;
using Halide::Internal::Stmt;
namespace ir = Halide::Internal;

// Names of loops, by which the pass knows them. What has another one is part of the reduction.
constexpr char kApart[] = "tile_apart";
constexpr char kStep[] = "tile_step";
constexpr char kLine[] = "tile_line";
constexpr char kRow[] = "tile_row";
constexpr char kColumn[] = "tile_column";
constexpr char kTerm[] = "tile_term";

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
  Halide::Type type;
  Expr index;
};

// The loops of an update of one element, without what was moved out of them.
struct Update {
  std::map<std::string, const ir::For*> loops;  // Of a tile, by the names above.
  std::vector<const ir::For*> apart;            // Around all else, outermost first.
  std::vector<const ir::For*> reduction;        // Around the steps of a tile, outermost first.
  Place sums;
  Place left;
  Place right;
  int steps = 0;  // In a row, of which a register takes some at once.
  // Of the right factor what is read next, and whether it is time to fetch that; undefined where nothing moves it.
  Expr ahead;
  Expr begins;

  int Extent(const char* loop) const {
    const auto found = loops.find(loop);
    if (found == loops.end()) return 1;
    const int64_t* extent = ir::as_const_int(found->second->extent);
    return extent == nullptr ? 0 : static_cast<int>(*extent);
  }

  // Where the loops of a tile have come to `at`, those that are not in it nowhere.
  Expr IndexAt(const Place& place, const std::map<std::string, Expr>& at) const {
    Expr index = place.index;
    for (const auto& [name, loop] : loops) {
      const auto found = at.find(name);
      const Expr steps = found == at.end() ? Expr(0) : found->second;
      index = ir::substitute(loop->name, ir::simplify(loop->min + steps), index);
    }
    return ir::simplify(index);
  }

  Expr Stride(const Place& place, const char* loop) const {
    return ir::simplify(IndexAt(place, {{loop, 1}}) - IndexAt(place, {}));
  }

  // The steps that lie together: those of the innermost loop of the reduction too, where they follow on each other.
  int StepsTogether() const {
    if (reduction.empty()) return Extent(kStep);
    const ir::For* const next = reduction.back();
    const int64_t* const extent = ir::as_const_int(next->extent);
    const auto follow = [&](const Place& place) {
      const Expr at = ir::Variable::make(Halide::Int(32), next->name);
      const Expr stride = ir::substitute(next->name, at + 1, place.index) - place.index;
      return ir::is_const_zero(ir::simplify(IndexAt({place.buffer, place.type, stride}, {}) -
                                            Stride(place, kStep) * Extent(kStep)));
    };
    return extent != nullptr && follow(left) && follow(right)
               ? Extent(kStep) * static_cast<int>(*extent)
               : Extent(kStep);
  }
};

bool IsNamed(const ir::For* loop, const char* name) {
  return absl::StrContains(loop->name, absl::StrCat(".", name));
}

void TakeLoop(const ir::For* loop, Update& update) {
  if (IsNamed(loop, kApart)) {
    update.apart.push_back(loop);
    return;
  }
  for (const char* name : {kStep, kLine, kRow, kColumn, kTerm}) {
    if (!IsNamed(loop, name)) continue;
    update.loops[name] = loop;
    return;
  }
  update.reduction.push_back(loop);
}

// Whether a sum is of such products.
bool CanMultiply(const Update& update) {
  const bool is_brain = update.left.type == Halide::BFloat(16) &&
                        update.right.type == Halide::BFloat(16) &&
                        update.sums.type == Halide::Float(32);
  const bool is_bytes = update.left.type == Halide::UInt(8) &&
                        update.right.type == Halide::Int(8) && update.sums.type == Halide::Int(32);
  return (is_brain || is_bytes) &&
         update.Extent(kTerm) * update.left.type.bytes() == kTileStepBytes;
}

// What is around an update, outermost first.
struct Surroundings {
  const LoopsAround& loops;
  const LetsAround& lets;
};

void LookAhead(const Surroundings& around, Update& update) {
  const Expr index = WithoutLets(around.lets, update.right.index);
  Expr begins = ir::const_true();
  for (auto loop = around.loops.rbegin(); loop != around.loops.rend(); ++loop) {
    const Expr at = PlaceOf(*loop);
    if (ir::expr_uses_var(index, (*loop)->name)) {
      update.ahead = ir::substitute((*loop)->name, at + 1, index);
      update.begins = begins;
      return;
    }
    if (!(*loop)->is_parallel()) begins = ir::simplify(begins && at == (*loop)->min);
  }
}

// Nothing where `stmt` is no update as MarkForTileRegisters wants it.
std::optional<Update> ReadUpdate(Stmt stmt, const std::string& sums, const Surroundings& around) {
  Update update;
  std::vector<const ir::LetStmt*> lets;
  while (true) {
    if (const auto* let = stmt.as<ir::LetStmt>()) {
      lets.push_back(let);
      stmt = let->body;
    } else if (const auto* loop = stmt.as<ir::For>()) {
      TakeLoop(loop, update);
      stmt = loop->body;
    } else {
      break;
    }
  }
  const auto* store = stmt.as<ir::Store>();
  if (store == nullptr || store->name != sums) return std::nullopt;
  update.sums = {sums, store->value.type(), WithoutLets(lets, store->index)};
  FindLoads found;
  store->value.accept(&found);
  std::vector<Place> factors;
  for (const ir::Load* load : found.loads) {
    if (load->name == sums) continue;
    factors.push_back({load->name, load->type, WithoutLets(lets, load->index)});
  }
  if (factors.size() != 2) return std::nullopt;
  if (!ir::is_const_zero(update.Stride(factors[0], kColumn))) std::swap(factors[0], factors[1]);
  update.left = factors[0];
  update.right = factors[1];
  const int terms = update.Extent(kTerm);
  const bool lies_together = ir::is_const(update.Stride(update.left, kStep), terms) &&
                             ir::is_const(update.Stride(update.left, kTerm), 1) &&
                             ir::is_const_zero(update.Stride(update.left, kColumn)) &&
                             ir::is_const(update.Stride(update.right, kColumn), terms) &&
                             ir::is_const(update.Stride(update.right, kTerm), 1) &&
                             ir::is_const_zero(update.Stride(update.right, kRow)) &&
                             ir::is_const_zero(update.Stride(update.right, kLine)) &&
                             ir::is_const(update.Stride(update.sums, kColumn), 1);
  const bool fits = update.Extent(kStep) > 0 && update.Extent(kLine) > 0 &&
                    update.Extent(kRow) > 0 && update.Extent(kColumn) > 0 &&
                    update.Extent(kColumn) % kTileColumns == 0;
  if (!lies_together || !fits || !CanMultiply(update)) return std::nullopt;
  LookAhead(around, update);
  update.steps = update.StepsTogether();
  if (update.steps > update.Extent(kStep)) {
    const ir::For* const together = update.reduction.back();
    update.reduction.pop_back();
    for (Expr* index : {&update.left.index, &update.right.index, &update.ahead}) {
      if (index->defined()) *index = ir::substitute(together->name, together->min, *index);
    }
  }
  return update;
}

Stmt Call(const char* name, const std::vector<Expr>& arguments) {
  return ir::Evaluate::make(ir::Call::make(Halide::Int(32), name, arguments, ir::Call::Extern));
}

Stmt Loop(const std::string& name, const Expr& min, const Expr& extent, const Stmt& body) {
  return ir::For::make(name, min, extent, ir::ForType::Serial, Halide::DeviceAPI::None, body);
}

// The first of a register's rows.
struct TileStart {
  int row = 0;
  int line = 0;
};

// Writes what an update does for registers of so many rows.
class TileWriter {
 public:
  // `zero`: sums begin with that, and not with what they are in memory.
  TileWriter(const Update& update, int rows, bool zero)
      : update_(update),
        rows_(rows),
        zero_(zero),
        multiply_(update.left.type.is_float() ? kTileMultiplyBfloat16 : kTileMultiplyBytes) {}

  // All sums of the rows that begin there.
  Stmt Rows(const std::vector<TileStart>& starts) const {
    const int column_tiles = update_.Extent(kColumn) / kTileColumns;
    std::vector<Stmt> blocks;
    for (int j = 0; j < column_tiles; j += kBlockTiles) {
      for (size_t i = 0; i < starts.size(); i += kBlockTiles) {
        const size_t end = std::min(i + kBlockTiles, starts.size());
        blocks.push_back(Block({starts.begin() + i, starts.begin() + end}, j * kTileColumns,
                               std::min(kBlockTiles, column_tiles - j)));
      }
    }
    Stmt all = ir::Block::make(blocks);
    for (auto loop = update_.apart.rbegin(); loop != update_.apart.rend(); ++loop) {
      all = Loop((*loop)->name, (*loop)->min, (*loop)->extent, all);
    }
    return ir::Block::make(Call(kTileConfigure, {rows_, StepsAtOnce()}), all);
  }

 private:
  // Sums of rows below each other, tiles of columns beside each other from `column` on.
  Stmt Block(const std::vector<TileStart>& starts, int column, int column_tiles) const {
    const std::string step = absl::StrCat(update_.sums.buffer, ".steps.", starts[0].row, ".",
                                          starts[0].line, ".", column);
    const Expr from = ir::Variable::make(Halide::Int(32), step) * StepsAtOnce();
    std::vector<Stmt> begins, products, fetches, stores;
    const int row_tiles = static_cast<int>(starts.size());
    for (int i = 0; i < row_tiles; ++i) {
      products.push_back(Load(LeftRegister(i), update_.left,
                              {{kRow, starts[i].row}, {kLine, starts[i].line}, {kStep, from}},
                              kRow));
    }
    for (int j = 0; j < column_tiles; ++j) {
      const int at = column + j * kTileColumns;
      products.push_back(
          Load(RightRegister(j), update_.right, {{kColumn, at}, {kStep, from}}, kStep));
      for (int i = 0; i < row_tiles; ++i) {
        const int sum = SumRegister(i, j);
        const std::map<std::string, Expr> place = {
            {kRow, starts[i].row}, {kLine, starts[i].line}, {kColumn, at}};
        begins.push_back(zero_ ? Call(kTileZero, {sum}) : Load(sum, update_.sums, place, kRow));
        products.push_back(Call(multiply_, {sum, LeftRegister(i), RightRegister(j)}));
        stores.push_back(Move(kTileStore, sum, update_.sums, place, kRow));
      }
      if (update_.ahead.defined()) FetchAhead(at, from, fetches);
    }
    Stmt sums = Reduction(step, products);
    if (!fetches.empty()) {
      products.insert(products.end(), fetches.begin(), fetches.end());
      sums = ir::is_const_one(update_.begins)
                 ? Reduction(step, products)
                 : ir::IfThenElse::make(update_.begins, Reduction(step, products), sums);
    }
    std::vector<Stmt> all = std::move(begins);
    all.push_back(sums);
    all.insert(all.end(), stores.begin(), stores.end());
    return ir::Block::make(all);
  }

  // Does `products` for all that is summed.
  Stmt Reduction(const std::string& step, const std::vector<Stmt>& products) const {
    Stmt sums = ir::Block::make(products);
    const int steps = update_.steps / StepsAtOnce();
    sums = steps > 1 ? Loop(step, 0, steps, sums) : ir::substitute(step, 0, sums);
    for (auto loop = update_.reduction.rbegin(); loop != update_.reduction.rend(); ++loop) {
      sums = Loop((*loop)->name, (*loop)->min, (*loop)->extent, sums);
    }
    return sums;
  }

  void FetchAhead(int column, const Expr& from, std::vector<Stmt>& fetches) const {
    const Place next = {update_.right.buffer, update_.right.type, update_.ahead};
    for (int step = 0; step < StepsAtOnce(); ++step) {
      const Expr line = update_.IndexAt(next, {{kColumn, column}, {kStep, from + step}});
      fetches.push_back(ir::Evaluate::make(ir::Call::make(
          next.type, ir::Call::prefetch, {Pointer(next), line, 1, 1}, ir::Call::Intrinsic)));
    }
  }

  int StepsAtOnce() const { return StepsOfTile(update_.steps); }

  static Expr Bytes(const Expr& elements, int size) {
    return ir::simplify(Halide::cast<int64_t>(elements) * size);
  }
  static Expr Pointer(const Place& place) {
    return ir::Variable::make(Halide::Handle(), place.buffer);
  }

  // The tile's rows lie along the loop `down`.
  Stmt Move(const char* call, int tile, const Place& place, const std::map<std::string, Expr>& at,
            const char* down) const {
    const int size = place.type.bytes();
    return Call(call, {tile, Pointer(place), Bytes(update_.IndexAt(place, at), size),
                       Bytes(update_.Stride(place, down), size)});
  }
  Stmt Load(int tile, const Place& place, const std::map<std::string, Expr>& at,
            const char* down) const {
    return Move(kTileLoad, tile, place, at, down);
  }

  const Update& update_;
  const int rows_;
  const bool zero_;
  const char* const multiply_;
};

Stmt WriteTiles(const Update& update, bool zero) {
  const TileRows tiles = TileRowsOf(update.Extent(kRow));
  std::vector<TileStart> whole, rest;
  for (int line = 0; line < update.Extent(kLine); ++line) {
    for (int i = 0; i < tiles.whole; ++i) whole.push_back({i * tiles.rows, line});
    if (tiles.rest > 0) rest.push_back({tiles.whole * tiles.rows, line});
  }
  std::vector<Stmt> all = {TileWriter(update, tiles.rows, zero).Rows(whole)};
  if (!rest.empty()) all.push_back(TileWriter(update, tiles.rest, zero).Rows(rest));
  all.push_back(Call(kTileRelease, {}));
  return ir::Block::make(all);
}

// Whether all that is stored is zero.
class FindNumbers : public ir::IRVisitor {
 public:
  bool found = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Store* op) override { found = found || !ir::is_const_zero(op->value); }
};

bool StoresZeros(const Stmt& stmt) {
  FindNumbers numbers;
  stmt.accept(&numbers);
  return !numbers.found;
}

// Calls that give registers their shapes, and what comes with them.
bool IsConfiguring(const Stmt& stmt, const char* name) {
  const auto* evaluate = stmt.as<ir::Evaluate>();
  const auto* call = evaluate == nullptr ? nullptr : evaluate->value.as<ir::Call>();
  return call != nullptr && call->name == name;
}

// The shapes that registers have in a statement.
class FindConfigurations : public ir::IRVisitor {
 public:
  std::vector<Stmt> found;  // No two alike.

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Evaluate* op) override {
    if (!IsConfiguring(op, kTileConfigure)) return;
    for (const Stmt& other : found) {
      if (ir::equal(other, op)) return;
    }
    found.emplace_back(op);
  }
};

class DropConfigurations : public ir::IRMutator {
  using IRMutator::visit;
  Stmt visit(const ir::Evaluate* op) override {
    const bool is_one = IsConfiguring(op, kTileConfigure) || IsConfiguring(op, kTileRelease);
    return is_one ? ir::Evaluate::make(0) : Stmt(op);
  }
};

// Registers get their shapes around a loop, and not in it, where all are alike in it: that takes as long as three steps.
Stmt ConfiguredAround(const Stmt& loop) {
  FindConfigurations configurations;
  loop.accept(&configurations);
  if (configurations.found.size() != 1) return loop;
  return ir::Block::make(
      {configurations.found[0], DropConfigurations().mutate(loop), Call(kTileRelease, {})});
}

// Whether a loop of a Func's update is marked.
class FindMark : public ir::IRVisitor {
 public:
  explicit FindMark(const std::string& func) : update_(absl::StrCat(func, ".s1.")) {}
  bool found = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    found = found || (absl::StartsWith(op->name, update_) && IsNamed(op, kColumn));
    ir::IRVisitor::visit(op);
  }

  const std::string update_;
};

bool IsMarked(const Stmt& stmt, const std::string& sums) {
  FindMark mark(sums);
  stmt.accept(&mark);
  return mark.found;
}

// What makes the sums, of which the marked update is a part: what they begin with, that, and what is free behind it. `zero`: nothing
// before has stored anything else. Undefined where the update cannot be read.
Stmt InTileRegisters(const Stmt& body, const std::string& sums, const Surroundings& around,
                     bool zero) {
  if (const auto* let = body.as<ir::LetStmt>()) {
    const Stmt tiles = InTileRegisters(let->body, sums, around, zero);
    return tiles.defined() ? ir::LetStmt::make(let->name, let->value, tiles) : tiles;
  }
  if (const auto* block = body.as<ir::Block>()) {
    if (IsMarked(block->first, sums)) {
      const Stmt tiles = InTileRegisters(block->first, sums, around, zero);
      return tiles.defined() ? ir::Block::make(tiles, block->rest) : tiles;
    }
    // Registers begin with zeros by themselves.
    const bool is_zero = StoresZeros(block->first);
    const Stmt tiles = InTileRegisters(block->rest, sums, around, zero && is_zero);
    return is_zero || !tiles.defined() ? tiles : ir::Block::make(block->first, tiles);
  }
  const std::optional<Update> update = ReadUpdate(body, sums, around);
  return update.has_value() ? WriteTiles(*update, zero) : Stmt();
}

}  // namespace

void MarkForTileRegisters(Func sums, const TileLoops& loops) {
  const std::vector<Var> vars = sums.args();
  Halide::Stage update = sums.update();
  const Halide::RVar term(kTerm), step(kStep);
  const Var column(kColumn), row(kRow), line(kLine);
  update.rename(vars[0], column)
      .rename(vars[1], row)
      .rename(Halide::RVar(loops.reduction[0]), term)
      .rename(loops.step, step);
  std::vector<Halide::VarOrRVar> order = {term, column, row};
  if (loops.has_lines) {
    update.rename(vars[2], line);
    order.emplace_back(line);
  }
  order.emplace_back(step);
  for (int i = 1; i < loops.reduction.dimensions(); ++i) {
    const Halide::RVar other(loops.reduction[i]);
    if (other.name() != loops.step.name()) order.emplace_back(other);
  }
  for (size_t i = loops.has_lines ? 3 : 2; i < vars.size(); ++i) {
    const Var apart(absl::StrCat(kApart, i));
    update.rename(vars[i], apart);
    order.emplace_back(apart);
  }
  update.reorder(order);
}

Stmt UseTileRegisters::visit(const ir::ProducerConsumer* op) {
  if (!op->is_producer || !IsMarked(op->body, op->name)) return ir::IRMutator::visit(op);
  const Stmt tiles = InTileRegisters(op->body, op->name, {loops_, lets_}, /*zero=*/true);
  if (!tiles.defined()) {
    *status_ = absl::InternalError(
        absl::StrCat("the sums of \"", op->name, "\" cannot be made in tile registers"));
    return op;
  }
  return ir::ProducerConsumer::make_produce(op->name, tiles);
}

Stmt UseTileRegisters::visit(const ir::For* op) {
  // Tasks run on threads of which each has its registers.
  const bool is_outermost =
      !op->is_parallel() && std::all_of(loops_.begin(), loops_.end(),
                                        [](const auto* loop) { return loop->is_parallel(); });
  loops_.push_back(op);
  Stmt visited = ir::IRMutator::visit(op);
  loops_.pop_back();
  return is_outermost ? ConfiguredAround(visited) : visited;
}

}  // namespace slipway
