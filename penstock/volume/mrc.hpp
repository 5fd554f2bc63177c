// MRC2014 (Cheng et al., J. Struct. Biol. 192, 2015): headers read and made. Private to volume.
#pragma once

#include <string>

#include "penstock/volume/bytes.hpp"
#include "penstock/volume/description.hpp"

namespace penstock::volume {

/// Whether a file that begins so, by 1024 bytes or more, is an MRC file.
bool is_mrc(const std::string& begin);

/// Throws Error that names `path` where the header is damaged, and for elements that are no numbers that we read.
Description describe_mrc(const std::string& path, const Bytes& bytes);

/// The bytes before point 0 of a file. `like` is the header of a field whose place in space is kept, or empty. Throws
/// Error that names `path` for double precision, which MRC has not.
std::string mrc_header(const std::string& path, npy::DataType type, const shape::Extents& size,
                       const std::string& like);

}  // namespace penstock::volume
