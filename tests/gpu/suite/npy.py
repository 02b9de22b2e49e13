"""Compares .npy files without NumPy, which a machine with a GPU need not have."""

import array
import ast
import struct
import sys

FLOATS = {'<f4': 'f', '<f8': 'd'}


def read(path):
    """(type, shape, bytes of elements). ValueError for what is no .npy of this machine's byte order, in C order."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:6] != b'\x93NUMPY':
        raise ValueError('%s is no .npy' % path)
    wide = data[6] > 1
    (length,) = struct.unpack_from('<I' if wide else '<H', data, 8)
    begin = 12 if wide else 10
    header = ast.literal_eval(data[begin:begin + length].decode('latin-1'))
    if header['fortran_order'] or sys.byteorder != 'little':
        raise ValueError('%s is in another order' % path)
    return header['descr'], header['shape'], data[begin + length:]


def are_close(path, expected, share=1e-3, absolute=1e-5):
    """Whether two files have the same type and shape, floats that differ by at most `share` of the largest, and else the same bytes."""
    kind, shape, values = read(path)
    other_kind, other_shape, others = read(expected)
    if (kind, shape) != (other_kind, other_shape):
        return False
    if kind not in FLOATS:
        return values == others
    got, wanted = array.array(FLOATS[kind]), array.array(FLOATS[kind])
    got.frombytes(values)
    wanted.frombytes(others)
    allowed = share * max([abs(value) for value in wanted], default=0) + absolute
    return all(x == y or (x != x and y != y) or abs(x - y) <= allowed for x, y in zip(got, wanted))
