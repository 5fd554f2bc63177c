// Names of fields in files, and the formats that they mean. Private to volume.
#pragma once

#include <string>

namespace penstock::volume {

enum class Format { npy, nifti, mrc, hdf5 };

/// What a name says. `dataset` is empty or begins with a slash.
struct Name {
  std::string path;
  std::string dataset;
};

/// The whole of `name` is a path where it has no ":/", or where that belongs to a folder that is there.
Name parse_name(const std::string& name);

/// Whether a file that begins so is an HDF5 file. One with a user block begins otherwise.
bool is_hdf5(const std::string& begin);

/// The format of a new file, by the end of its path.
struct NewFormat {
  Format format = Format::npy;
  bool is_compressed = false;
};
NewFormat new_format(const Name& name);

}  // namespace penstock::volume
