"""The C interface by ctypes: its structures, its functions, and its errors as exceptions."""

import ctypes
import os
from pathlib import Path

# Without a flavour, and with those that Debian has: Open MPI's first, as its mpi4py is.
_NAMES = [f"libpenstock-c{flavour}.so.0.1" for flavour in ("", "-openmpi", "-mpich")]


class Error(RuntimeError):
    """What the library refuses, or what failed: one sentence. Collective calls raise it on every rank."""


class Part(ctypes.Structure):
    """penstock_fft_part"""

    _fields_ = [
        ("lower", ctypes.c_int64 * 3),
        ("extent", ctypes.c_int64 * 3),
        ("order", ctypes.c_int * 3),
        ("row_pitch", ctypes.c_int64),
        ("plane_pitch", ctypes.c_int64),
    ]


class Options(ctypes.Structure):
    """penstock_fft_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("size", ctypes.c_int64 * 3),
        ("modes", ctypes.c_int64 * 3),
        ("type", ctypes.c_int),
        ("is_single", ctypes.c_int),
        ("kinds", ctypes.c_int * 3),
        ("along", ctypes.c_int * 3),
        ("sequence", ctypes.c_int * 3),
        ("grid", ctypes.c_int * 2),
        ("is_output_as_input", ctypes.c_int),
        ("input_part", ctypes.POINTER(Part)),
        ("output_part", ctypes.POINTER(Part)),
        ("threads", ctypes.c_int),
        ("batch", ctypes.c_int),
        ("is_interleaved", ctypes.c_int),
        ("measures", ctypes.c_int),
        ("convolves", ctypes.c_int),
        ("collocates", ctypes.c_int),
        ("has_arrays", ctypes.c_int),
        ("memory_budget_bytes", ctypes.c_uint64),
    ]


class FileOptions(ctypes.Structure):
    """penstock_fft_file_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("is_backward", ctypes.c_int),
        ("type", ctypes.c_int),
        ("points_x", ctypes.c_int64),
        ("scaling", ctypes.c_int),
        ("memory_bytes", ctypes.c_int64),
        ("threads", ctypes.c_int),
    ]


class MatrixOptions(ctypes.Structure):
    """penstock_matrix_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extents", ctypes.c_int64 * 2),
        ("blocks", ctypes.c_int64 * 2),
        ("grid", ctypes.c_int * 2),
        ("type", ctypes.c_int),
    ]


class GemmOptions(ctypes.Structure):
    """penstock_gemm_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("op_a", ctypes.c_int),
        ("op_b", ctypes.c_int),
        ("alpha", ctypes.c_double * 2),
        ("beta", ctypes.c_double * 2),
        ("threads", ctypes.c_int),
        ("algorithm", ctypes.c_int),
        ("layers", ctypes.c_int * 3),
        ("memory_bytes", ctypes.c_uint64),
    ]


class GemmFileOptions(ctypes.Structure):
    """penstock_gemm_file_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("op_a", ctypes.c_int),
        ("op_b", ctypes.c_int),
        ("alpha", ctypes.c_double * 2),
        ("beta", ctypes.c_double * 2),
        ("memory_bytes", ctypes.c_int64),
        ("threads", ctypes.c_int),
        ("has_no_scratch", ctypes.c_int),
    ]


class Times(ctypes.Structure):
    """penstock_fft_times"""

    _fields_ = [(name, ctypes.c_double) for name in ("total_s", "transform_s", "move_s", "wait_s")]


class Location(ctypes.Structure):
    """penstock_location"""

    _fields_ = [("handle", ctypes.c_uint64), ("offset", ctypes.c_uint64)]


class DeviceProperties(ctypes.Structure):
    """penstock_device_properties"""

    _fields_ = [
        ("interface", ctypes.c_int),
        ("number", ctypes.c_int),
        ("name", ctypes.c_char * 256),
        ("driver", ctypes.c_char * 256),
        ("memory_bytes", ctypes.c_uint64),
        ("local_memory_bytes", ctypes.c_uint64),
        ("group_items", ctypes.c_int64),
        ("compute_units", ctypes.c_int64),
        ("has_double", ctypes.c_int),
        ("is_host", ctypes.c_int),
    ]


C2C, R2C, R2R = range(3)
DEFAULT_KIND = -1
KINDS = {
    name: number
    for number, name in enumerate(
        ("redft00", "redft10", "redft01", "redft11", "rodft00", "rodft10", "rodft01", "rodft11", "r2hc", "hc2r", "dht")
    )
}
SCALINGS = {"none": 0, "symmetric": 1, "full": 2}
OPS = {"none": 0, "transpose": 1, "conjugate_transpose": 2}
ALGORITHMS = {"automatic": 0, "stationary": 1, "cannon": 2, "layered": 3}
ELEMENTS = ("float32", "float64", "complex64", "complex128")


def _load() -> ctypes.CDLL:
    asked = os.environ.get("PENSTOCK_LIBRARY")
    here = Path(__file__).resolve()
    # Beside this file; in the same installation, as lib/python3.11/site-packages lies there; where the system looks.
    installed = [str(folder / name) for folder in (here.parent, here.parents[3]) for name in _NAMES]
    places = [asked] if asked else [*filter(os.path.exists, installed), *_NAMES]
    failures = []
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as failure:
            failures.append(str(failure))
    raise ImportError(
        f"penstock: {_NAMES[0]} was not found: set PENSTOCK_LIBRARY to its path, or install it ({'; '.join(failures)})"
    )


library = _load()
_pointer = ctypes.c_void_p
_two = ctypes.c_int64 * 2
_status_functions = {
    "penstock_team_alone": [ctypes.POINTER(_pointer)],
    "penstock_team_of_fortran": [ctypes.c_int, ctypes.POINTER(_pointer)],
    "penstock_team_destroy": [_pointer],
    "penstock_team_barrier": [_pointer],
    "penstock_team_agree": [_pointer, ctypes.c_char_p],
    "penstock_fft_plan_create": [_pointer, ctypes.POINTER(Options), ctypes.POINTER(_pointer)],
    "penstock_fft_plan_destroy": [_pointer],
    "penstock_fft_forward": [_pointer, _pointer, _pointer, ctypes.c_int],
    "penstock_fft_backward": [_pointer, _pointer, _pointer, ctypes.c_int],
    "penstock_fft_start_forward": [_pointer, _pointer, _pointer, ctypes.c_int, ctypes.POINTER(_pointer)],
    "penstock_fft_start_backward": [_pointer, _pointer, _pointer, ctypes.c_int, ctypes.POINTER(_pointer)],
    "penstock_fft_progress": [_pointer, ctypes.POINTER(ctypes.c_int)],
    "penstock_fft_wait": [_pointer],
    "penstock_device_list": [ctypes.POINTER(DeviceProperties), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)],
    "penstock_device_open": [_pointer, ctypes.c_char_p, ctypes.POINTER(_pointer)],
    "penstock_device_open_opencl": [_pointer, _pointer, ctypes.POINTER(_pointer)],
    "penstock_device_destroy": [_pointer],
    "penstock_device_available_bytes": [_pointer, ctypes.POINTER(ctypes.c_uint64)],
    "penstock_device_finish": [_pointer, ctypes.c_uint64],
    "penstock_device_memory_create": [_pointer, ctypes.c_uint64, ctypes.POINTER(_pointer)],
    "penstock_device_memory_destroy": [_pointer],
    "penstock_copy_to_device": [_pointer, Location, _pointer, ctypes.c_uint64],
    "penstock_copy_to_host": [_pointer, _pointer, Location, ctypes.c_uint64],
    "penstock_fft_plan_create_on_device": [_pointer, _pointer, ctypes.POINTER(Options), ctypes.POINTER(_pointer)],
    "penstock_fft_forward_on_device": [_pointer, Location, Location, ctypes.c_int],
    "penstock_fft_backward_on_device": [_pointer, Location, Location, ctypes.c_int],
    "penstock_fft_file": [_pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(FileOptions)],
    "penstock_matrix_create": [_pointer, ctypes.POINTER(MatrixOptions), ctypes.POINTER(_pointer)],
    "penstock_matrix_destroy": [_pointer],
    "penstock_matrix_put": [_pointer, _two, _two, _pointer, ctypes.c_int64],
    "penstock_matrix_get": [_pointer, _two, _two, _pointer, ctypes.c_int64],
    "penstock_gemm": [_pointer, _pointer, _pointer, _pointer, ctypes.POINTER(GemmOptions)],
    "penstock_gemm_arrays": [
        ctypes.c_int,
        ctypes.c_int64 * 3,
        *(_pointer, ctypes.c_int64) * 3,
        ctypes.POINTER(GemmOptions),
    ],
    "penstock_gemm_file": [ctypes.c_char_p] * 3 + [ctypes.POINTER(GemmFileOptions)],
    "penstock_model": [
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_char_p),
    ],
}
for _name, _arguments in _status_functions.items():
    getattr(library, _name).argtypes = _arguments
    getattr(library, _name).restype = ctypes.c_int
for _name, _arguments, _result in (
    ("penstock_last_error", [], ctypes.c_char_p),
    ("penstock_version", [], ctypes.c_char_p),
    ("penstock_team_rank", [_pointer], ctypes.c_int),
    ("penstock_team_size", [_pointer], ctypes.c_int),
    ("penstock_fft_options_init", [ctypes.POINTER(Options), ctypes.c_size_t], None),
    ("penstock_fft_file_options_init", [ctypes.POINTER(FileOptions), ctypes.c_size_t], None),
    ("penstock_matrix_options_init", [ctypes.POINTER(MatrixOptions), ctypes.c_size_t], None),
    ("penstock_matrix_local", [_pointer], _pointer),
    ("penstock_matrix_local_extent", [_pointer, ctypes.c_int], ctypes.c_int64),
    ("penstock_matrix_index", [_pointer, ctypes.c_int, ctypes.c_int64], ctypes.c_int64),
    ("penstock_gemm_options_init", [ctypes.POINTER(GemmOptions), ctypes.c_size_t], None),
    ("penstock_gemm_file_options_init", [ctypes.POINTER(GemmFileOptions), ctypes.c_size_t], None),
    ("penstock_fft_input_part", [_pointer], Part),
    ("penstock_fft_output_part", [_pointer], Part),
    ("penstock_fft_input_elements", [_pointer], ctypes.c_int64),
    ("penstock_fft_output_elements", [_pointer], ctypes.c_int64),
    ("penstock_fft_input_stride", [_pointer], ctypes.c_int64),
    ("penstock_fft_output_stride", [_pointer], ctypes.c_int64),
    ("penstock_fft_last_times", [_pointer], Times),
    ("penstock_cache_l2_bytes", [], ctypes.c_int64),
    ("penstock_device_describe", [_pointer], DeviceProperties),
    ("penstock_device_memory_location", [_pointer], Location),
):
    getattr(library, _name).argtypes = _arguments
    getattr(library, _name).restype = _result


def call(name: str, *arguments) -> None:
    """Calls a function that returns a status. Raises Error with its sentence where it failed."""
    if getattr(library, name)(*arguments) != 0:
        raise Error(library.penstock_last_error().decode(errors="backslashreplace"))


def new_options(structure, init: str):
    """A structure of options, filled with its defaults."""
    options = structure()
    getattr(library, init)(ctypes.byref(options), ctypes.sizeof(options))
    return options


def number_of(choices: dict, name: str, what: str) -> int:
    """The library's number of a choice. Raises Error for a name that is none of them."""
    if name not in choices:
        raise Error(f"{what} '{name}': give {', '.join(choices)}")
    return choices[name]


def version() -> str:
    """The version of the library, as "0.1.0"."""
    return library.penstock_version().decode()
