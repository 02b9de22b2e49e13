/* Freestanding C that sum.cc calls: one object defines what another needs. */
#include "tests/build_rules/sum.h"

int64_t slipway_test_square(int32_t value) { return (int64_t)value * value; }
