// Whether a file is the one that it was. Included by journal.hpp.
#pragma once

#include <string>

#include "penstock/base/file.hpp"

namespace penstock::journal {

/// What tells whether a file is the one it was: its length, its time of change, and a checksum over samples of it, as
/// text. Throws Error where it cannot be read.
std::string fingerprint(const File& file);

/// A checksum over all of the file, as text: one pass over it. Throws Error where it cannot be read.
std::string whole_checksum(const File& file);

}  // namespace penstock::journal
