"""Small .npy files written and read without NumPy, after its format specification (version 1.0)."""

import ast
import struct

FORMATS = {"<f4": "f", "<f8": "d", "<c8": "ff", "<c16": "dd", "<i4": "i"}


def header(shape, dtype, fortran_order=False):
    """What such a file begins with."""
    text = repr({"descr": dtype, "fortran_order": fortran_order, "shape": tuple(shape)})
    padding = -(10 + len(text) + 1) % 64
    text = (text + " " * padding + "\n").encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def write(path, shape, dtype, numbers, fortran_order=False):
    """`numbers` are the elements in C order; of a complex type, each real part followed by its imaginary part."""
    data = struct.pack("<" + FORMATS[dtype][0] * len(numbers), *numbers)
    path.write_bytes(header(shape, dtype, fortran_order) + data)


def read(path):
    """The shape, the type, and the elements in C order, complex numbers as such."""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    (length,) = struct.unpack("<H", content[8:10])
    header = ast.literal_eval(content[10 : 10 + length].decode("latin1"))
    assert not header["fortran_order"]
    code = FORMATS[header["descr"]]
    numbers = [number for (number,) in struct.iter_unpack("<" + code[0], content[10 + length :])]
    if len(code) == 2:
        numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
    return header["shape"], header["descr"], numbers
