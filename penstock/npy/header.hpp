// The header of a .npy file: a magic string, a version, a length, and a Python dictionary in text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "penstock/base/file.hpp"
#include "penstock/npy/npy.hpp"

namespace penstock::npy {

/// Reads and checks the header of an open file; the errors of the public `read_header`.
Header read_header(const File& file, Orders orders = Orders::c);

/// The header's bytes for such an array, as NumPy writes them: version 1, padded so that the data is aligned to 64
/// bytes.
std::string format_header(DataType type, std::span<const std::int64_t> shape, bool is_fortran_order = false);

/// Throws Error, in the name of the file `path`, when an extent is negative or the data's end overflows 63 bits.
void check_shape(const std::string& path, const Header& header);

}  // namespace penstock::npy
