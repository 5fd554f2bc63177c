// What each program here defines, called by libFuzzer or by replay.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace penstock {

/// The bytes of an input as text.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Aborts, so that the fuzzer keeps the input, where a property does not hold.
inline void require(bool holds, std::string_view what) {
  if (!holds) {
    std::fprintf(stderr, "wrong: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
  }
}

}  // namespace penstock
