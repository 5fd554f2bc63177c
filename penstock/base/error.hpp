// The one exception type of Penstock, and the assertion for what cannot happen.
#pragma once

#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)

namespace penstock {

/// Thrown for misuse and bad input: its message is one sentence that names the value, the limit and the remedy.
///
/// The comment of gas::Team says what collective calls promise where one rank throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws an Error made of `what` and the text of the system's error number `code` (an errno value).
[[noreturn]] void throw_system_error(const std::string& what, int code);

/// Reports a broken internal invariant on standard error and aborts; reached only through PENSTOCK_ASSERT.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace penstock

#pragma GCC visibility pop

/// Aborts unless `condition` holds, which the code itself guarantees. Release builds do not evaluate the condition.
#ifdef NDEBUG
#define PENSTOCK_ASSERT(condition) static_cast<void>(0)
#else
#define PENSTOCK_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::penstock::assertion_failed(#condition, __FILE__, __LINE__))
#endif
