// Options of the C interface as the library has them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/c/penstock.h"
#include "penstock/fft/fft.hpp"

namespace penstock::c {

/// Fills a structure of the user's, of any version, with the defaults.
template <class Options>
void init_options(Options* options, std::size_t struct_size, const Options& defaults) {
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(static_cast<void*>(options), &defaults, std::min(struct_size, sizeof(defaults)));
  options->struct_size = struct_size;
}

/// The members of a structure of the user's that both versions know, over the defaults of the others.
template <class Options, class Init>
Options known_options(const Options* given, const Init& init) {
  Options options;
  init(&options, sizeof(options));
  if (given == nullptr) {
    return options;
  }
  if (given->struct_size < sizeof(given->struct_size) || given->struct_size > sizeof(options) + 4096) {
    throw Error("the options have no size: fill them by their init function first");
  }
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(options)));
  options.struct_size = sizeof(options);
  return options;
}

/// The value as one of so many; Error where there is no such one.
template <class Enum>
Enum checked(int value, int count, const char* what) {
  if (value < 0 || value >= count) {
    throw Error(std::string(what) + " " + std::to_string(value) + ": there is no such one");
  }
  return static_cast<Enum>(value);
}

inline fft::Type type_of(int type) {
  return checked<fft::Type>(type, 3, "a type of transforms");
}

inline fft::Scaling scaling_of(int scaling) {
  switch (checked<penstock_scaling>(scaling, 3, "a scaling")) {
    case PENSTOCK_SYMMETRIC:
      return fft::Scaling::symmetric;
    case PENSTOCK_FULL:
      return fft::Scaling::full;
    default:
      return fft::Scaling::none;
  }
}

}  // namespace penstock::c
