#include "penstock/volume/name.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "penstock/volume/volume.hpp"

namespace penstock::volume {
namespace {

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

}  // namespace

Name parse_name(const std::string& name) {
  const std::size_t colon = name.rfind(":/");
  std::error_code ignored;
  if (colon == std::string::npos || colon == 0 || std::filesystem::is_directory(name.substr(0, colon + 1), ignored)) {
    return {.path = name, .dataset = ""};
  }
  std::string dataset = name.substr(colon + 1);
  while (dataset.ends_with('/')) {
    dataset.pop_back();
  }
  return {.path = name.substr(0, colon), .dataset = dataset};
}

bool is_hdf5(const std::string& begin) {
  return begin.starts_with("\x89HDF\r\n\x1a\n");
}

NewFormat new_format(const Name& name) {
  if (!name.dataset.empty() || ends_with_any(name.path, {".h5", ".hdf5"})) {
    return {.format = Format::hdf5};
  }
  if (ends_with_any(name.path, {".nii", ".nii.gz"})) {
    return {.format = Format::nifti, .is_compressed = name.path.ends_with(".gz")};
  }
  if (ends_with_any(name.path, {".mrc", ".map", ".rec"})) {
    return {.format = Format::mrc};
  }
  return {};
}

std::string file_path(const std::string& name) {
  return parse_name(name).path;
}

}  // namespace penstock::volume
