// Results of runs that can be told from each other: each has a number in it.
#ifndef SLIPWAY_TESTS_LOAD_MARKED_RESULT_H_
#define SLIPWAY_TESTS_LOAD_MARKED_RESULT_H_

#include <cstdint>
#include <string>

#include "proto/slipway/v1/run.pb.h"

namespace slipway::testing {

// Of a run of TestProgram (core/runtime/test_programs) on the device.
v1::RunResult MarkedResult(const std::string& device, int64_t mark);

// 0 for what is no such result.
int64_t MarkOf(const v1::RunResult& result);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_MARKED_RESULT_H_
