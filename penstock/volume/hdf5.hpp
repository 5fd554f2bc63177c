// Datasets of HDF5 files, by the HDF5 library. Private to volume.
//
// The library is asked where a dataset lies and of what it is, and reads what lies in chunks, compressed or in types
// of its own. What lies in one piece is read and written by volume itself, at its bytes, by all ranks at once: neither
// the library's lock nor MPI is needed for that. The functions below are thread-safe, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/volume/description.hpp"
#include "penstock/volume/volume.hpp"

namespace penstock::volume {

/// A dataset, and how it lies in its file.
struct Dataset {
  Description description = {};
  std::string name;           ///< of the dataset, found where none was given
  std::string obstacle = {};  ///< to being read at `description.data_offset`, as the end of a sentence; else empty
};

/// Throws Error where there is no such dataset, or several and none is named, and where it is no field of numbers.
Dataset describe_dataset(const Name& name);

/// Reads what does not lie in one piece; `type` is that of the elements given.
void read_dataset(const std::string& path, const Dataset& dataset, const Box& box, std::span<std::byte> bytes);

/// A dataset to be made. It gets the attributes of the dataset `like`, if that is not null.
struct NewDataset {
  npy::DataType type = npy::DataType::float64;
  Extents size{};
  const Name* like = nullptr;
};

/// The bytes of a new file before and after its one dataset, which `name` names. There are none after it where the
/// dataset has no attributes.
Surroundings hdf5_surroundings(const Name& name, const NewDataset& dataset);

/// Adds a dataset to a file, under the name of `name` + ".part", and returns the byte of its point 0.
std::int64_t add_dataset(const Name& name, const NewDataset& dataset);
/// Gives the dataset that `add_dataset` has added its final name, in place of what has it. Throws Error where that
/// fails: the former dataset then keeps its name, and the new one its own.
void commit_dataset(const Name& name);
/// Removes that dataset. Does nothing where that fails.
void discard_dataset(const Name& name) noexcept;

}  // namespace penstock::volume
