// Asserts that a call throws an Error and that its message says what it must.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "penstock/base/error.hpp"

namespace penstock {

/// Whether `call` throws an Error whose message is one line and holds every one of `parts`.
template <class Call>
testing::AssertionResult fails_with(std::initializer_list<std::string_view> parts, Call call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string_view part : parts) {
      if (message.find(part) == std::string::npos) {
        return testing::AssertionFailure() << "the message does not say '" << part << "': " << message;
      }
    }
    if (message.find('\n') != std::string::npos) {
      return testing::AssertionFailure() << "the message is more than one line: " << message;
    }
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

}  // namespace penstock
