// NIfTI-1 and NIfTI-2 (nifti.nimh.nih.gov): headers read and made. Private to volume.
#pragma once

#include <string>

#include "penstock/volume/bytes.hpp"
#include "penstock/volume/description.hpp"

namespace penstock::volume {

/// Whether a file that begins so, by 352 bytes or more, is one of NIfTI's.
bool is_nifti(const std::string& begin);

/// Throws Error that names `path` where the header is damaged, of another kind than one file, not of three dimensions,
/// or of elements that are no numbers.
Description describe_nifti(const std::string& path, const Bytes& bytes);

/// The bytes before point 0 of a file. `like` is the header of a field whose place in space is kept, or empty.
std::string nifti_header(npy::DataType type, const shape::Extents& size, const std::string& like);

}  // namespace penstock::volume
