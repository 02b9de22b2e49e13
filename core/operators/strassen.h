// Strassen's product of two matrices: seven products of half their extents in place of eight.
//
// Strassen, "Gaussian elimination is not optimal" (Numerische Mathematik 13, 1969): each matrix is four quarters, numbered row by row;
// quarter q of the result is the sum of result[q][p] times product p, and product p is the sum of left[p][q] times the left matrix's
// quarters by the sum of right[p][q] times the right one's. Sums of half the length make up for errors
// of sums of quarters: results are as far from exact ones as those of sums of all (tests/codegen/strassen_error_test.cc).
//
// Which rows and columns are a quarter's is free, as long as they are the same ones in a factor and in the result: here neighbouring
// rows are of different quarters, and neighbouring blocks of columns, so that a band of the result is a band of each. Steps of the depth are halves.
#ifndef SLIPWAY_CORE_OPERATORS_STRASSEN_H_
#define SLIPWAY_CORE_OPERATORS_STRASSEN_H_

namespace slipway {

inline constexpr int kStrassenProducts = 7;
inline constexpr int kStrassenQuarters = 4;

struct StrassenMatrices {
  double left[kStrassenProducts][kStrassenQuarters];
  double right[kStrassenProducts][kStrassenQuarters];
  double result[kStrassenQuarters][kStrassenProducts];
};

inline constexpr StrassenMatrices kStrassen = {
    {{1, 0, 0, 1},
     {0, 0, 1, 1},
     {1, 0, 0, 0},
     {0, 0, 0, 1},
     {1, 1, 0, 0},
     {-1, 0, 1, 0},
     {0, 1, 0, -1}},
    {{1, 0, 0, 1},
     {1, 0, 0, 0},
     {0, 1, 0, -1},
     {-1, 0, 1, 0},
     {0, 0, 0, 1},
     {1, 1, 0, 0},
     {0, 0, 1, 1}},
    {{1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}},
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_STRASSEN_H_
