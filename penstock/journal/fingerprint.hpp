// Whether a file has changed since an earlier run. Included by journal.hpp.
#pragma once

#include <string>

#include "penstock/base/file.hpp"

#pragma GCC visibility push(default)

namespace penstock::journal {

/// A fingerprint of a file, as text: its length, its time of modification and a checksum over samples of it. Throws
/// Error where the file cannot be read.
std::string fingerprint(const File& file);

/// A checksum over the whole file, as text; reads the file once. Throws Error where the file cannot be read.
std::string whole_checksum(const File& file);

}  // namespace penstock::journal

#pragma GCC visibility pop
