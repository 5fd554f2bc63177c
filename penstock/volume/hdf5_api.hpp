// The HDF5 library, opened when a file is first in need of it. Private to volume.
//
// Linked, it would bring some thirty libraries with it (of networks, for its virtual files) into every program.
#pragma once

#define H5_USE_110_API  // what its version 1.10 has, whichever is there
#include <hdf5.h>

// The library's macros for constants would call H5open first; hdf5() has called it.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

namespace penstock::volume {

// NOLINTBEGIN(bugprone-macro-parentheses, cppcoreguidelines-macro-usage): names are declared, and looked up as text
// clang-format off
#define PENSTOCK_HDF5_FUNCTIONS(X) \
  X(H5Acreate2) X(H5Aget_space) X(H5Aget_type) X(H5Aiterate2) X(H5Aopen) X(H5Aread) X(H5Awrite) \
  X(H5Dcreate2) X(H5Dget_create_plist) X(H5Dget_offset) X(H5Dget_space) X(H5Dget_type) X(H5Dopen2) X(H5Dread) \
  X(H5Dvlen_reclaim) X(H5Eget_auto2) X(H5Eset_auto2) X(H5Ewalk2) X(H5Fcreate) X(H5Fflush) X(H5Fopen) \
  X(H5Idec_ref) X(H5Ldelete) X(H5Lmove) X(H5Oget_info_by_name2) X(H5Ovisit2) X(H5Pcreate) X(H5Pget_layout) \
  X(H5Pget_nfilters) X(H5Pset_alignment) X(H5Pset_alloc_time) X(H5Pset_create_intermediate_group) \
  X(H5Pset_fill_time) X(H5Pset_layout) X(H5Pset_meta_block_size) X(H5Screate_simple) X(H5Sget_simple_extent_dims) \
  X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) X(H5Sselect_hyperslab) X(H5Tcopy) X(H5Tcreate) \
  X(H5Tdetect_class) X(H5Tequal) X(H5Tget_class) X(H5Tget_member_name) X(H5Tget_member_offset) \
  X(H5Tget_member_type) X(H5Tget_nmembers) X(H5Tget_size) X(H5Tinsert) X(H5free_memory) X(H5open)

#define PENSTOCK_HDF5_IDENTIFIERS(X) \
  X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_LINK_CREATE_ID_g) \
  X(H5T_IEEE_F32BE_g) X(H5T_IEEE_F32LE_g) X(H5T_IEEE_F64BE_g) X(H5T_IEEE_F64LE_g) X(H5T_NATIVE_DOUBLE_g) \
  X(H5T_NATIVE_FLOAT_g) X(H5T_STD_I16BE_g) X(H5T_STD_I16LE_g) X(H5T_STD_I32BE_g) X(H5T_STD_I32LE_g) \
  X(H5T_STD_I64BE_g) X(H5T_STD_I64LE_g) X(H5T_STD_I8BE_g) X(H5T_STD_I8LE_g) X(H5T_STD_U16BE_g) X(H5T_STD_U16LE_g) \
  X(H5T_STD_U32BE_g) X(H5T_STD_U32LE_g) X(H5T_STD_U64BE_g) X(H5T_STD_U64LE_g) X(H5T_STD_U8BE_g) X(H5T_STD_U8LE_g)
// clang-format on

/// The library's functions that we call, and the identifiers that it has made of its own types and lists.
struct Hdf5 {
#define PENSTOCK_DECLARE_FUNCTION(NAME) decltype(&::NAME) NAME;
  PENSTOCK_HDF5_FUNCTIONS(PENSTOCK_DECLARE_FUNCTION)
#undef PENSTOCK_DECLARE_FUNCTION
#define PENSTOCK_DECLARE_IDENTIFIER(NAME) hid_t NAME;
  PENSTOCK_HDF5_IDENTIFIERS(PENSTOCK_DECLARE_IDENTIFIER)
#undef PENSTOCK_DECLARE_IDENTIFIER
};
// NOLINTEND(bugprone-macro-parentheses, cppcoreguidelines-macro-usage)

/// The first call loads the library, which then stays loaded. Throws Error where it cannot be loaded or lacks a
/// function.
const Hdf5& hdf5();

}  // namespace penstock::volume
