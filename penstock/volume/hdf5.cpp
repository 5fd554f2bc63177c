#include "penstock/volume/hdf5.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/volume/hdf5_api.hpp"

namespace penstock::volume {
namespace {

/// The library is used by one thread at a time, and prints nothing, while one of these lives.
class Library {
 public:
  Library() : lock_(mutex()) {
    hdf5().H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    hdf5().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Library() { hdf5().H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::scoped_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// An identifier of the library, of whatever it names; negative where that could not be opened or made.
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) noexcept : id_(id) {}
  ~Id() {
    if (id_ >= 0) {
      hdf5().H5Idec_ref(id_);
    }
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

/// What the library says of its last failure: the innermost sentence.
std::string last_failure() {
  std::string text;
  hdf5().H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
        auto& first = *static_cast<std::string*>(to);
        if (first.empty() && error->desc != nullptr) {
          first = error->desc;
        }
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : text;
}

void check_written(bool is_good, const std::string& path) {
  if (!is_good) {
    throw Error(fmt::format("cannot write '{}': HDF5 says: {}", path, last_failure()));
  }
}

Id open_file(const std::string& path, unsigned access) {
  Id file(hdf5().H5Fopen(path.c_str(), access, H5P_DEFAULT));
  if (!file) {
    const char* action = access == H5F_ACC_RDONLY ? "read" : "write";
    throw Error(fmt::format("cannot {} '{}': HDF5 says: {}", action, path, last_failure()));
  }
  return file;
}

struct Named {
  Stored stored;
  bool is_big_endian;
  hid_t type;
};

/// The types whose bytes we know.
std::vector<Named> named_types() {
  return {{Stored::int8, false, hdf5().H5T_STD_I8LE_g},      {Stored::int8, false, hdf5().H5T_STD_I8BE_g},
          {Stored::uint8, false, hdf5().H5T_STD_U8LE_g},     {Stored::uint8, false, hdf5().H5T_STD_U8BE_g},
          {Stored::int16, false, hdf5().H5T_STD_I16LE_g},    {Stored::int16, true, hdf5().H5T_STD_I16BE_g},
          {Stored::uint16, false, hdf5().H5T_STD_U16LE_g},   {Stored::uint16, true, hdf5().H5T_STD_U16BE_g},
          {Stored::int32, false, hdf5().H5T_STD_I32LE_g},    {Stored::int32, true, hdf5().H5T_STD_I32BE_g},
          {Stored::uint32, false, hdf5().H5T_STD_U32LE_g},   {Stored::uint32, true, hdf5().H5T_STD_U32BE_g},
          {Stored::int64, false, hdf5().H5T_STD_I64LE_g},    {Stored::int64, true, hdf5().H5T_STD_I64BE_g},
          {Stored::uint64, false, hdf5().H5T_STD_U64LE_g},   {Stored::uint64, true, hdf5().H5T_STD_U64BE_g},
          {Stored::float32, false, hdf5().H5T_IEEE_F32LE_g}, {Stored::float32, true, hdf5().H5T_IEEE_F32BE_g},
          {Stored::float64, false, hdf5().H5T_IEEE_F64LE_g}, {Stored::float64, true, hdf5().H5T_IEEE_F64BE_g}};
}

/// The library's type of elements, as they lie in memory here or as we write them into files. A complex one has members
/// of these names, which are h5py's.
Id type_of(npy::DataType elements, bool is_in_memory, const std::string& real = "r",
           const std::string& imaginary = "i") {
  const hid_t number = npy::is_single(elements) ? (is_in_memory ? hdf5().H5T_NATIVE_FLOAT_g : hdf5().H5T_IEEE_F32LE_g)
                                                : (is_in_memory ? hdf5().H5T_NATIVE_DOUBLE_g : hdf5().H5T_IEEE_F64LE_g);
  if (!npy::is_complex(elements)) {
    return Id(hdf5().H5Tcopy(number));
  }
  const std::size_t bytes = hdf5().H5Tget_size(number);
  Id type(hdf5().H5Tcreate(H5T_COMPOUND, 2 * bytes));
  hdf5().H5Tinsert(type.get(), real.c_str(), 0, number);
  hdf5().H5Tinsert(type.get(), imaginary.c_str(), bytes, number);
  return type;
}

std::string member_name(hid_t compound, unsigned index) {
  char* name = hdf5().H5Tget_member_name(compound, index);
  std::string text = name == nullptr ? "" : name;
  hdf5().H5free_memory(name);
  return text;
}

/// Whether these are names of a real and an imaginary part, as programs write them.
bool is_complex_pair(const std::string& real, const std::string& imaginary) {
  constexpr std::array<std::array<std::string_view, 2>, 4> pairs{
      {{"r", "i"}, {"re", "im"}, {"real", "imag"}, {"real", "imaginary"}}};
  return std::ranges::any_of(pairs, [&](const auto& pair) { return real == pair[0] && imaginary == pair[1]; });
}

struct ElementType {
  Elements elements;     // as in the file where that is of a type that we know; else as they are given
  bool is_known = true;  // whether their bytes in the file are
};

/// What a dataset's type is; nothing where it is no number or pair of two.
std::optional<ElementType> element_type(hid_t type) {
  constexpr std::size_t single_bytes = 4;
  const H5T_class_t kind = hdf5().H5Tget_class(type);
  if (kind == H5T_COMPOUND) {
    if (hdf5().H5Tget_nmembers(type) != 2 || !is_complex_pair(member_name(type, 0), member_name(type, 1))) {
      return std::nullopt;
    }
    const Id real(hdf5().H5Tget_member_type(type, 0));
    const Id imaginary(hdf5().H5Tget_member_type(type, 1));
    if (hdf5().H5Tget_class(real.get()) != H5T_FLOAT || hdf5().H5Tequal(real.get(), imaginary.get()) <= 0) {
      return std::nullopt;
    }
    const std::size_t bytes = hdf5().H5Tget_size(real.get());
    const bool is_single = bytes <= single_bytes;
    const bool is_pair = hdf5().H5Tget_member_offset(type, 0) == 0 && hdf5().H5Tget_member_offset(type, 1) == bytes &&
                         hdf5().H5Tget_size(type) == 2 * bytes;
    ElementType found{.elements = {.stored = is_single ? Stored::complex64 : Stored::complex128}, .is_known = false};
    for (const Named& named : named_types()) {
      const bool is_real = named.stored == Stored::float32 || named.stored == Stored::float64;
      if (is_pair && is_real && hdf5().H5Tequal(real.get(), named.type) > 0) {
        found.elements.is_big_endian = named.is_big_endian;
        found.is_known = true;
      }
    }
    return found;
  }
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) {
    return std::nullopt;
  }
  for (const Named& named : named_types()) {
    if (hdf5().H5Tequal(type, named.type) > 0) {
      return ElementType{.elements = {.stored = named.stored, .is_big_endian = named.is_big_endian}};
    }
  }
  const std::size_t exact_bytes = kind == H5T_FLOAT ? single_bytes : 2;
  return ElementType{
      .elements = {.stored = hdf5().H5Tget_size(type) <= exact_bytes ? Stored::float32 : Stored::float64},
      .is_known = false};
}

// What datasets are named by that a process has left unfinished, or was about to replace.
constexpr std::string_view part_ending = ".part";
constexpr std::string_view old_ending = ".old";

/// Whether an open object lies in the open file itself, not in one that an external link leads to.
bool lies_within(const Id& file, const Id& object) {
  H5O_info_t of_file{};
  H5O_info_t of_object{};
  return hdf5().H5Oget_info_by_name2(file.get(), "/", &of_file, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
         hdf5().H5Oget_info_by_name2(object.get(), ".", &of_object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
         of_file.fileno == of_object.fileno;
}

/// The names of all datasets of three dimensions, in the library's order.
std::vector<std::string> fields_of(const Id& file) {
  std::vector<std::string> names;
  hdf5().H5Ovisit2(
      file.get(), H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t root, const char* name, const H5O_info_t* info, void* to) -> herr_t {
        const std::string_view text = name;
        const bool is_left_over = text.ends_with(part_ending) || text.ends_with(old_ending);
        if (info->type == H5O_TYPE_DATASET && !is_left_over) {
          const Id dataset(hdf5().H5Dopen2(root, name, H5P_DEFAULT));
          const Id space(hdf5().H5Dget_space(dataset.get()));
          if (hdf5().H5Sget_simple_extent_ndims(space.get()) == 3) {
            static_cast<std::vector<std::string>*>(to)->push_back(fmt::format("/{}", name));
          }
        }
        return 0;
      },
      &names, H5O_INFO_BASIC);
  return names;
}

std::string find_field(const Id& file, const std::string& path) {
  const std::vector<std::string> names = fields_of(file);
  if (names.empty()) {
    refuse_reading(path, "it has no dataset of three dimensions");
  }
  if (names.size() > 1) {
    refuse_reading(path,
                   fmt::format("it has {} datasets of three dimensions ({}{}): name one, as in '{}:{}'", names.size(),
                               fmt::join(std::span(names).first(std::min<std::size_t>(names.size(), 5)), ", "),
                               names.size() > 5 ? ", ..." : "", path, names.front()));
  }
  return names.front();
}

std::string obstacle_of(const Id& file, const Id& dataset, const ElementType& type, haddr_t offset) {
  if (!lies_within(file, dataset)) {
    return "in another file, to which a link leads";
  }
  const Id list(hdf5().H5Dget_create_plist(dataset.get()));
  if (hdf5().H5Pget_layout(list.get()) == H5D_CHUNKED) {
    return hdf5().H5Pget_nfilters(list.get()) > 0 ? "in chunks, through filters such as compression" : "in chunks";
  }
  if (offset == HADDR_UNDEF) {
    return "not in one piece of the file";
  }
  return type.is_known ? "" : "of a type of HDF5's own";
}

/// Copies attributes. Left out are references, which mean something in their own file alone, and those of more than 64
/// KiB, for which new files have no place.
void copy_attributes(const Id& from, const Id& to) {
  const hid_t target = to.get();
  hdf5().H5Aiterate2(
      from.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t source, const char* name, const H5A_info_t*, void* target_of_copy) -> herr_t {
        const Id attribute(hdf5().H5Aopen(source, name, H5P_DEFAULT));
        const Id type(hdf5().H5Aget_type(attribute.get()));
        const Id space(hdf5().H5Aget_space(attribute.get()));
        if (hdf5().H5Tdetect_class(type.get(), H5T_REFERENCE) > 0) {
          return 0;  // to an object of that file
        }
        const Id copy(hdf5().H5Acreate2(*static_cast<hid_t*>(target_of_copy), name, type.get(), space.get(),
                                        H5P_DEFAULT, H5P_DEFAULT));
        const hssize_t points = hdf5().H5Sget_simple_extent_npoints(space.get());
        if (!copy || points <= 0) {
          return 0;
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(points) * hdf5().H5Tget_size(type.get()));
        if (hdf5().H5Aread(attribute.get(), type.get(), bytes.data()) >= 0) {
          hdf5().H5Awrite(copy.get(), type.get(), bytes.data());
          hdf5().H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, bytes.data());
        }
        return 0;
      },
      const_cast<hid_t*>(&target));
}

/// Makes a dataset that lies in one piece, takes its place in the file at once, and is not filled. Returns the byte of
/// its point 0. `like_file`, if opened, is the file of what the dataset is like.
std::int64_t make_dataset(const Id& file, const std::string& path, const std::string& dataset_name,
                          const NewDataset& dataset, const Id& like_file) {
  const std::array dimensions{static_cast<hsize_t>(dataset.size[2]), static_cast<hsize_t>(dataset.size[1]),
                              static_cast<hsize_t>(dataset.size[0])};
  const Id space(hdf5().H5Screate_simple(3, dimensions.data(), nullptr));
  const Id type = type_of(dataset.type, false);
  const Id list(hdf5().H5Pcreate(hdf5().H5P_CLS_DATASET_CREATE_ID_g));
  hdf5().H5Pset_layout(list.get(), H5D_CONTIGUOUS);
  hdf5().H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY);
  hdf5().H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER);
  const Id links(hdf5().H5Pcreate(hdf5().H5P_CLS_LINK_CREATE_ID_g));
  hdf5().H5Pset_create_intermediate_group(links.get(), 1);
  const Id made(hdf5().H5Dcreate2(file.get(), dataset_name.c_str(), type.get(), space.get(), links.get(), list.get(),
                                  H5P_DEFAULT));
  check_written(static_cast<bool>(made), path);
  if (!lies_within(file, made)) {
    hdf5().H5Ldelete(file.get(), dataset_name.c_str(), H5P_DEFAULT);
    throw Error(
        fmt::format("cannot write '{}': '{}' leads by a link to another file: name that one", path, dataset_name));
  }
  if (like_file) {
    const Id like(hdf5().H5Dopen2(like_file.get(), dataset.like->dataset.c_str(), H5P_DEFAULT));
    if (like) {
      copy_attributes(like, made);
    }
  }
  const haddr_t offset = hdf5().H5Dget_offset(made.get());
  check_written(offset != HADDR_UNDEF, path);
  return static_cast<std::int64_t>(offset);
}

/// The file of what a new dataset is like; none where it is like nothing.
Id open_like(const NewDataset& dataset) {
  return dataset.like == nullptr ? Id() : Id(hdf5().H5Fopen(dataset.like->path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
}

std::string part_name(const Name& name) {
  return name.dataset + std::string(part_ending);
}

}  // namespace

Dataset describe_dataset(const Name& name) {
  const Library library;
  const std::string& path = name.path;
  const Id file = open_file(path, H5F_ACC_RDONLY);
  Dataset found{.name = name.dataset.empty() ? find_field(file, path) : name.dataset};
  const std::string full = path + ":" + found.name;
  const Id dataset(hdf5().H5Dopen2(file.get(), found.name.c_str(), H5P_DEFAULT));
  if (!dataset) {
    const std::vector<std::string> names = fields_of(file);
    refuse_reading(path, fmt::format("it has no dataset '{}'; of three dimensions it has {}", found.name,
                                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  const Id space(hdf5().H5Dget_space(dataset.get()));
  const int dimensions = hdf5().H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, 3> extents{};
  if (dimensions != 3) {
    refuse_reading(full, fmt::format("a dataset of {} dimensions; a field has three, with the shape (nz, ny, nx)",
                                     std::max(dimensions, 0)));
  }
  hdf5().H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  if (extents[0] == 0 || extents[1] == 0 || extents[2] == 0) {
    refuse_reading(full, "it has no elements; each direction needs at least 1 point");
  }
  const Id type(hdf5().H5Dget_type(dataset.get()));
  const std::optional<ElementType> element = element_type(type.get());
  if (!element) {
    refuse_reading(full, "its elements are neither numbers nor pairs of a real and an imaginary part");
  }
  const haddr_t offset = hdf5().H5Dget_offset(dataset.get());
  found.description = {.format = Format::hdf5,
                       .size = {static_cast<std::int64_t>(extents[2]), static_cast<std::int64_t>(extents[1]),
                                static_cast<std::int64_t>(extents[0])},
                       .elements = element->elements};
  found.obstacle = obstacle_of(file, dataset, *element, offset);
  if (found.obstacle.empty()) {
    found.description.data_offset = static_cast<std::int64_t>(offset);
  } else {
    // The library gives what it stands for.
    found.description.elements = {.stored = stored_as(element->elements.type())};
  }
  return found;
}

void read_dataset(const std::string& path, const Dataset& dataset, const Box& box, std::span<std::byte> bytes) {
  const Library library;
  const Id file = open_file(path, H5F_ACC_RDONLY);
  const Id opened(hdf5().H5Dopen2(file.get(), dataset.name.c_str(), H5P_DEFAULT));
  const Id stored(hdf5().H5Dget_type(opened.get()));
  const npy::DataType type = dataset.description.elements.type();
  const Id given = npy::is_complex(type)
                       ? type_of(type, true, member_name(stored.get(), 0), member_name(stored.get(), 1))
                       : type_of(type, true);
  std::array<hsize_t, 3> start{};
  std::array<hsize_t, 3> count{};
  for (std::size_t d = 0; d < 3; ++d) {
    start[2 - d] = static_cast<hsize_t>(box.lower[d]);
    count[2 - d] = static_cast<hsize_t>(box.extent[d]);
  }
  const Id in_file(hdf5().H5Dget_space(opened.get()));
  const Id in_memory(hdf5().H5Screate_simple(3, count.data(), nullptr));
  hdf5().H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  if (hdf5().H5Dread(opened.get(), given.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()) < 0) {
    refuse_reading(path + ":" + dataset.name, fmt::format("HDF5 says: {}", last_failure()));
  }
}

Surroundings hdf5_surroundings(const Name& name, const NewDataset& dataset) {
  const Library library;
  const std::string& path = name.path;
  // A file of the whole size is made to see what comes first in it: of the dataset, which is never written, it takes
  // nothing on file systems that have holes in files.
  std::string model = Draft::part_path(path) + ".XXXXXX";
  const int descriptor = mkstemp(model.data());
  if (descriptor < 0) {
    throw_system_error(fmt::format("cannot write '{}'", path), errno);
  }
  const auto remove_file = [&](const int* open) {
    unlink(model.c_str());
    close(*open);
  };
  const std::unique_ptr<const int, decltype(remove_file)> remover(&descriptor, remove_file);
  const Id access(hdf5().H5Pcreate(hdf5().H5P_CLS_FILE_ACCESS_ID_g));
  constexpr hsize_t metadata_bytes = 16384;  // more than a file of one dataset has, so that it lies before the dataset
  constexpr hsize_t aligned_from = 1 << 20;
  hdf5().H5Pset_meta_block_size(access.get(), metadata_bytes);
  hdf5().H5Pset_alignment(access.get(), aligned_from, File::scratch_alignment);
  std::int64_t offset = 0;
  {
    const Id like_file = open_like(dataset);
    const Id file(hdf5().H5Fcreate(model.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    check_written(static_cast<bool>(file), path);
    offset = make_dataset(file, path, name.dataset, dataset, like_file);
    check_written(hdf5().H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0, path);
  }
  std::int64_t data_bytes = npy::element_bytes(dataset.type);
  for (const std::int64_t extent : dataset.size) {
    data_bytes *= extent;
  }
  const std::int64_t end = offset + data_bytes;
  const auto text_of = [&](std::int64_t from, std::int64_t to) {
    std::string text(static_cast<std::size_t>(std::max<std::int64_t>(to - from, 0)), '\0');
    if (pread(descriptor, text.data(), text.size(), from) != std::ssize(text)) {
      throw_system_error(fmt::format("cannot write '{}': what HDF5 has made cannot be read", path), errno);
    }
    return text;
  };
  return {.before = text_of(0, offset), .after = text_of(end, lseek(descriptor, 0, SEEK_END))};
}

std::int64_t add_dataset(const Name& name, const NewDataset& dataset) {
  const Library library;
  const Id file = open_file(name.path, H5F_ACC_RDWR);
  H5O_info_t there{};
  if (hdf5().H5Oget_info_by_name2(file.get(), name.dataset.c_str(), &there, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
      there.type != H5O_TYPE_DATASET) {
    throw Error(fmt::format("cannot write '{}': '{}' is no dataset there, and would be lost", name.path, name.dataset));
  }
  hdf5().H5Ldelete(file.get(), part_name(name).c_str(), H5P_DEFAULT);  // of a run that was killed
  const Id like_file = open_like(dataset);
  const std::int64_t offset = make_dataset(file, name.path, part_name(name), dataset, like_file);
  check_written(hdf5().H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0, name.path);
  return offset;
}

void commit_dataset(const Name& name) {
  const Library library;
  const Id file = open_file(name.path, H5F_ACC_RDWR);
  const std::string old = name.dataset + std::string(old_ending);
  const auto move = [&](const std::string& from, const std::string& to) {
    return hdf5().H5Lmove(file.get(), from.c_str(), file.get(), to.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
  };
  hdf5().H5Ldelete(file.get(), old.c_str(), H5P_DEFAULT);
  const bool has_old = move(name.dataset, old);
  if (!move(part_name(name), name.dataset)) {
    const std::string failure = last_failure();
    if (has_old) {
      move(old, name.dataset);
    }
    throw Error(fmt::format("cannot write '{}': HDF5 says: {}", name.path, failure));
  }
  hdf5().H5Ldelete(file.get(), old.c_str(), H5P_DEFAULT);
  check_written(hdf5().H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0, name.path);
}

void discard_dataset(const Name& name) noexcept {
  try {
    const Library library;
    const Id file = open_file(name.path, H5F_ACC_RDWR);
    hdf5().H5Ldelete(file.get(), part_name(name).c_str(), H5P_DEFAULT);
  } catch (...) {
    // The file could not be opened: it keeps a dataset that is named as unfinished.
  }
}

}  // namespace penstock::volume
