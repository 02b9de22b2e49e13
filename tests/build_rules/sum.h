#ifndef SLIPWAY_TESTS_BUILD_RULES_SUM_H_
#define SLIPWAY_TESTS_BUILD_RULES_SUM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t slipway_test_sum_of_squares(const int32_t* values, size_t count);
int64_t slipway_test_square(int32_t value);

/* Whoever links the archive defines it. */
void slipway_test_import(int64_t value);

#ifdef __cplusplus
}
#endif

#endif  // SLIPWAY_TESTS_BUILD_RULES_SUM_H_
