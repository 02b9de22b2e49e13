// GoogleMock matchers and macros for absl::Status and absl::StatusOr.
// Test code only. Debian's Abseil has none of its own.

#ifndef SLIPWAY_TESTS_COMMON_STATUS_MATCHERS_H_
#define SLIPWAY_TESTS_COMMON_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::testing {

namespace internal {

inline const absl::Status& GetStatus(const absl::Status& status) { return status; }

template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// Matches a StatusOr that is OK and whose value `inner_` matches.
template <typename Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename StatusOr>
  operator ::testing::Matcher<StatusOr>() const {  // NOLINT(google-explicit-constructor)
    return ::testing::Matcher<StatusOr>(new Impl<StatusOr>(inner_));
  }

 private:
  template <typename StatusOr>
  class Impl : public ::testing::MatcherInterface<StatusOr> {
   public:
    using Value = typename std::decay_t<StatusOr>::value_type;

    explicit Impl(const Inner& inner) : matcher_(::testing::SafeMatcherCast<const Value&>(inner)) {}

    bool MatchAndExplain(StatusOr actual, ::testing::MatchResultListener* listener) const override {
      if (!actual.ok()) {
        *listener << "which is " << actual.status();
        return false;
      }
      *listener << "whose value " << ::testing::PrintToString(*actual) << " ";
      return matcher_.MatchAndExplain(*actual, listener);
    }

    void DescribeTo(std::ostream* os) const override {
      *os << "is OK and its value ";
      matcher_.DescribeTo(os);
    }

    void DescribeNegationTo(std::ostream* os) const override {
      *os << "is not OK or its value ";
      matcher_.DescribeNegationTo(os);
    }

   private:
    const ::testing::Matcher<const Value&> matcher_;
  };

  const Inner inner_;
};

// Used by EXPECT_OK: prints the expression along with the status.
template <typename T>
::testing::AssertionResult CheckOk(const char* expression, const T& actual) {
  if (actual.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << expression << " is not OK: " << GetStatus(actual);
}

}  // namespace internal

// Matches an OK Status or StatusOr.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  if (arg.ok()) return true;
  *result_listener << "which is " << internal::GetStatus(arg);
  return false;
}

// Matches an OK StatusOr whose value matches `inner` (a value or a matcher).
template <typename Inner>
internal::IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(Inner&& inner) {
  return internal::IsOkAndHoldsMatcher<std::decay_t<Inner>>(std::forward<Inner>(inner));
}

// Matches a Status or StatusOr with this code.
MATCHER_P(StatusIs, code, (negation ? "is not " : "is ") + absl::StatusCodeToString(code)) {
  *result_listener << "which is " << internal::GetStatus(arg);
  return internal::GetStatus(arg).code() == code;
}

// Matches a Status or StatusOr with this code, and with a message that matches
// `message` (a string for an exact match, or a matcher such as HasSubstr).
MATCHER_P2(StatusIs, code, message,
           (negation ? "is not " : "is ") + absl::StatusCodeToString(code) +
               " with a message that " + ::testing::DescribeMatcher<std::string>(message)) {
  const absl::Status& status = internal::GetStatus(arg);
  *result_listener << "which is " << status;
  return status.code() == code && ::testing::Matches(::testing::SafeMatcherCast<std::string>(
                                      message))(std::string(status.message()));
}

}  // namespace slipway::testing

#define EXPECT_OK(expression) EXPECT_PRED_FORMAT1(::slipway::testing::internal::CheckOk, expression)

#define ASSERT_OK(expression) ASSERT_PRED_FORMAT1(::slipway::testing::internal::CheckOk, expression)

// ASSERT_OK_AND_ASSIGN(auto value, Compute()): assigns the value of a StatusOr,
// or fails the test and returns.
#define ASSERT_OK_AND_ASSIGN(lhs, expression)                                                     \
  SLIPWAY_ASSERT_OK_AND_ASSIGN_(SLIPWAY_STATUS_MATCHERS_CONCAT_(status_or_value_, __LINE__), lhs, \
                                expression)

#define SLIPWAY_ASSERT_OK_AND_ASSIGN_(status_or, lhs, expression)                     \
  auto status_or = (expression);                                                      \
  ASSERT_TRUE(status_or.ok()) << #expression << " is not OK: " << status_or.status(); \
  lhs = *std::move(status_or)

#define SLIPWAY_STATUS_MATCHERS_CONCAT_(a, b) SLIPWAY_STATUS_MATCHERS_CONCAT_INNER_(a, b)
#define SLIPWAY_STATUS_MATCHERS_CONCAT_INNER_(a, b) a##b

#endif  // SLIPWAY_TESTS_COMMON_STATUS_MATCHERS_H_
