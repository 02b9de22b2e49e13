// Models whose steps decide, while they run, what runs next.
#ifndef SLIPWAY_TESTS_LIBRARY_CONTROL_MODELS_H_
#define SLIPWAY_TESTS_LIBRARY_CONTROL_MODELS_H_

namespace slipway::testing {

struct ControlModel {
  const char* name;
  const char* text;
};

inline constexpr ControlModel kControlModels[] = {
    // Either way, with a branch that hands on what it is given, and one within one.
    {"branches", R"(
  graph "branches" (%x: f32[2, 7], %c: bool[]) -> (%y, %z, %w) {
    const %low: f32[] = {-5.0}
    %most = ReduceMax(%x) {keepdims = 0}
    %yes = Greater(%most, %low)
    %no = Not(%yes)
    %y = If "holds" (%yes, %x) {captures = 1, then_branch = graph "t" (%a) -> (%b) {
      %b = Relu(%a)
    }, else_branch = graph "e" (%a) -> (%b) {
      %b = Neg(%a)
    }}
    %z = If "fails" (%no, %x) {captures = 1, then_branch = graph "t" (%a) -> (%b) {
      %b = Relu(%a)
    }, else_branch = graph "e" (%a) -> (%a) {}}
    %w = If "either" (%c, %x, %yes) {captures = 2, then_branch = graph "t" (%a, %i) -> (%b) {
      %r = Exp(%a)
      %b = If "within" (%i, %r) {captures = 1, then_branch = graph "t" (%p) -> (%q) {
        %q = Sigmoid(%p)
      }, else_branch = graph "e" (%p) -> (%q) {
        %q = Neg(%p)
      }}
    }, else_branch = graph "e" (%a, %i) -> (%b) {
      %r = Neg(%a)
      %b = If "within" (%i, %r) {captures = 1, then_branch = graph "t" (%p) -> (%q) {
        %q = Sigmoid(%p)
      }, else_branch = graph "e" (%p) -> (%q) {
        %q = Exp(%p)
      }}
    }}
  })"},
    // Ends by its condition before its turns do; what one value was another becomes.
    {"early", R"(
  graph "early" (%x: f32[5]) -> (%a, %b, %n) {
    const %m: i64[] = {50}
    const %t: bool[] = {true}
    const %one: f32[5] = splat 1.0
    const %zero: i64[] = {0}
    const %limit: f32[] = {40.0}
    %s = Abs(%x)
    %f = Add(%s, %one)
    %a, %b, %n = Loop "fibonacci" (%m, %t, %f, %f, %zero, %limit) {captures = 1,
      body = graph "body" (%turn, %true, %u, %v, %k, %most) -> (%on, %v, %w, %next) {
        const %step: i64[] = {1}
        %w = Add(%u, %v)
        %largest = ReduceMax(%w) {keepdims = 0}
        %on = Less(%largest, %most)
        %next = Add(%k, %step)
      }}
  })"},
    // What decides is a value that is carried itself, of the turn that ends; two others change places.
    {"carried", R"(
  graph "carried" (%x: f32[3], %y: f32[3]) -> (%a, %b, %n) {
    const %m: i64[] = {9223372036854775807}
    const %t: bool[] = {true}
    const %zero: f32[] = {0.0}
    %p, %a, %b, %n = Loop "swap" (%m, %t, %t, %x, %y, %zero) {
      body = graph "body" (%turn, %true, %go, %u, %v, %k) -> (%go, %on, %v, %u, %next) {
        const %step: f32[] = {1.0}
        const %limit: f32[] = {4.5}
        %next = Add(%k, %step)
        %on = Less(%next, %limit)
      }}
  })"},
    // Slices of a known number of turns, which begin at any byte.
    {"collects", R"(
  graph "collects" (%x: f32[3]) -> (%last, %all, %turns) {
    const %m: i64[1] = {7}
    const %t: bool[] = {true}
    %last, %all, %turns = Loop "seven" (%m, %t, %x, %x) {captures = 1,
      body = graph "body" (%turn, %true, %v, %add) -> (%true, %w, %p, %turn) {
        %w = Add(%v, %add)
        %p = Mul(%w, %w)
      }}
  })"},
    // As many turns as it computes, none among them; and none for its first condition.
    {"computed", R"(
  graph "computed" (%x: f32[4, 4]) -> (%four, %none, %never) {
    const %k: f32[] = {4.0}
    const %t: bool[] = {true}
    const %m: i64[] = {3}
    %size = Abs(%x)
    %most = ReduceMax(%size) {keepdims = 0}
    %up = Ceil(%most)
    %f = Mul(%up, %k)
    %n = Cast(%f) {to = 7}
    %minus = Neg(%n)
    %four = Loop(%n, %t, %x) {body = graph "b" (%i, %true, %v) -> (%true, %w) {
      %w = MatMul(%v, %v)
    }}
    %none = Loop(%minus, %t, %x) {body = graph "b" (%i, %true, %v) -> (%true, %w) {
      %w = MatMul(%v, %v)
    }}
    %no = Less(%up, %most)
    %never = Loop(%m, %no, %x) {body = graph "b" (%i, %true, %v) -> (%on, %w) {
      %w = MatMul(%v, %v)
      %sum = ReduceSum(%w) {keepdims = 0}
      %on = Less(%sum, %sum)
    }}
  })"},
    // A slice a turn of two values.
    {"scans", R"(
  graph "scans" (%h: f32[6], %u: f32[5, 6], %v: f32[5, 6]) -> (%last, %all, %other) {
    const %w: f32[6] = {0.5, 1.0, -1.0, 0.25, 2.0, 0.0}
    %last, %all, %other = Scan "steps" (%h, %u, %v, %w) {num_scan_inputs = 2, captures = 1,
      body = graph "body" (%state, %a, %b, %k) -> (%next, %next, %a) {
        %m = Mul(%state, %k)
        %s = Add(%m, %a)
        %r = Sub(%s, %b)
        %next = Tanh(%r)
      }}
  })"},
    // Loops, a scan and a branch, each within another.
    {"nested", R"(
  graph "nested" (%h: f32[16], %u: f32[4, 16]) -> (%y, %all) {
    const %m: i64[] = {3}
    const %t: bool[] = {true}
    %y, %all = Loop "outer" (%m, %t, %h, %u) {captures = 1,
      body = graph "outer" (%turn, %true, %v, %rows) -> (%true, %w, %seen) {
        %w, %seen = Scan "rows" (%v, %rows, %turn) {num_scan_inputs = 1, captures = 1,
          body = graph "rows" (%state, %row, %n) -> (%next, %made) {
            const %one: i64[] = {1}
            const %go: bool[] = {true}
            const %two: i64[] = {2}
            %odd = Equal(%n, %one)
            %made = If "odd" (%odd, %state, %row) {captures = 2,
              then_branch = graph "t" (%s, %r) -> (%o) { %o = Add(%s, %r) },
              else_branch = graph "e" (%s, %r) -> (%o) { %o = Sub(%s, %r) }
            }
            %next = Loop "twice" (%two, %go, %made) {
              body = graph "twice" (%i, %on, %x) -> (%on, %z) { %z = Sigmoid(%x) }
            }
          }}
      }}
  })"},
};

// One step of each sort.
inline constexpr char kDecides[] = R"(
  graph "decides" (%x: f32[5, 3]) -> (%y, %all) {
    const %m: i64[] = {4}
    const %t: bool[] = {true}
    const %w: f32[3] = {0.5, 1.0, -1.0}
    %h, %all = Scan(%w, %x) {num_scan_inputs = 1, body = graph "b" (%state, %row) -> (%next, %next) {
      %next = Add(%state, %row)
    }}
    %y = Loop(%m, %t, %h) {body = graph "b" (%i, %true, %v) -> (%on, %s) {
      const %limit: f32[] = {3.0}
      %s = Add(%v, %v)
      %most = ReduceMax(%s) {keepdims = 0}
      %on = Less(%most, %limit)
    }}
  })";

// What exports do not have of them: slices that a condition ends, and as many as are computed.
inline constexpr char kEndedSlices[] = R"(
  graph "g" (%x: f32[2]) -> (%y, %z) {
    const %m: i64[] = {9}
    const %t: bool[] = {true}
    %y, %z = Loop "until" (%m, %t, %x) {body = graph "b" (%i, %true, %v) -> (%on, %w, %w) {
      const %limit: f32[] = {10.0}
      %w = Add(%v, %v)
      %most = ReduceMax(%w) {keepdims = 0}
      %on = Less(%most, %limit)
    }}
  })";
inline constexpr char kComputedSlices[] = R"(
  graph "g" (%x: f32[2], %n: i64[]) -> (%y, %z) {
    const %t: bool[] = {true}
    %y, %z = Loop "times" (%n, %t, %x) {body = graph "b" (%i, %true, %v) -> (%true, %w, %w) {
      %w = Add(%v, %v)
    }}
  })";

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LIBRARY_CONTROL_MODELS_H_
