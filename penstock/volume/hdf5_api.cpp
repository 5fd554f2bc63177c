#include "penstock/volume/hdf5_api.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "penstock/base/error.hpp"

namespace penstock::volume {
namespace {

Hdf5 open_hdf5() {
  void* library = nullptr;
  for (const char* name : {PENSTOCK_HDF5_NAME, PENSTOCK_HDF5_PATH}) {
    library = library == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library;
  }
  if (library == nullptr) {
    throw Error(std::string("HDF5 cannot be opened (") + dlerror() + "): install it, or name a file of another format");
  }
  const auto find = [&](const char* name) {
    void* found = dlsym(library, name);
    if (found == nullptr) {
      throw Error(std::string("the HDF5 of this system has no ") + name + ": version 1.10.3 or a later one is needed");
    }
    return found;
  };
  Hdf5 opened{};
#define PENSTOCK_FIND_FUNCTION(NAME) opened.NAME = reinterpret_cast<decltype(opened.NAME)>(find(#NAME));
  PENSTOCK_HDF5_FUNCTIONS(PENSTOCK_FIND_FUNCTION)
#undef PENSTOCK_FIND_FUNCTION
  if (opened.H5open() < 0) {
    throw Error("HDF5 cannot be used: it does not begin its work");
  }
#define PENSTOCK_FIND_IDENTIFIER(NAME) opened.NAME = *static_cast<const hid_t*>(find(#NAME));
  PENSTOCK_HDF5_IDENTIFIERS(PENSTOCK_FIND_IDENTIFIER)
#undef PENSTOCK_FIND_IDENTIFIER
  return opened;
}

}  // namespace

const Hdf5& hdf5() {
  static const Hdf5 opened = open_hdf5();
  return opened;
}

}  // namespace penstock::volume
