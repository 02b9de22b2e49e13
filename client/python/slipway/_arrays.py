"""NumPy arrays as tensors, and back, without a copy where there need be none."""

from __future__ import annotations

import functools
import math
import re
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from slipway import _proto, errors
from slipway._blobs import Blob, BytesBlob, Digest

Array = npt.NDArray[Any]

# Larger ones go as blobs.
MOST_INLINE_BYTES = 1 << 20
_MOST_DIMENSIONS = 16
_MOST_STRING_BYTES = (1 << 31) - 1
_STRING = 8

# Number, name (core/tensor/dtype.h) and NumPy's type. Elements of fewer than 8 bits take a byte each.
_NUMPY = [
    (1, 'f32', 'float32'), (2, 'u8', 'uint8'), (3, 'i8', 'int8'), (4, 'u16', 'uint16'), (5, 'i16', 'int16'),
    (6, 'i32', 'int32'), (7, 'i64', 'int64'), (9, 'bool', 'bool'), (10, 'f16', 'float16'), (11, 'f64', 'float64'),
    (12, 'u32', 'uint32'), (13, 'u64', 'uint64'), (14, 'c64', 'complex64'), (15, 'c128', 'complex128'),
    (21, 'u4', 'uint8'), (22, 'i4', 'int8'), (25, 'u2', 'uint8'), (26, 'i2', 'int8'),
]
# Those that only ml_dtypes knows.
_ML_DTYPES = [
    (16, 'bf16', 'bfloat16'), (17, 'f8e4m3fn', 'float8_e4m3fn'), (18, 'f8e4m3fnuz', 'float8_e4m3fnuz'),
    (19, 'f8e5m2', 'float8_e5m2'), (20, 'f8e5m2fnuz', 'float8_e5m2fnuz'), (23, 'f4e2m1', 'float4_e2m1fn'),
    (24, 'f8e8m0', 'float8_e8m0fnu'), (27, 'f6e2m3', 'float6_e2m3fn'), (28, 'f6e3m2', 'float6_e3m2fn'),
]
_NAMES: Dict[int, str] = {number: name for number, name, _ in _NUMPY + _ML_DTYPES}
_NAMES[_STRING] = 'string'
_NUMBERS = {name: number for number, name in _NAMES.items()}


def dtype_name(number: int) -> str:
    """"f32" for 1."""
    return _NAMES.get(number, 'invalid')


def _ml_dtype(name: str) -> Optional[np.dtype[Any]]:
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    found = getattr(ml_dtypes, name, None)
    return None if found is None else np.dtype(found)


@functools.lru_cache(maxsize=None)
def numpy_dtype(number: int) -> np.dtype[Any]:
    """NumPy's type of what has this number."""
    for known, _, name in _NUMPY:
        if known == number:
            return np.dtype(name)
    for known, name, theirs in _ML_DTYPES:
        if known == number:
            found = _ml_dtype(theirs)
            if found is None:
                raise errors.Unimplemented(f'NumPy has no {name}: install ml_dtypes, of a version that has {theirs}')
            return found
    raise errors.Unimplemented(f'element type {number} is not known to this version')


@functools.lru_cache(maxsize=256)
def number_of(dtype: np.dtype[Any]) -> int:
    """The number of NumPy's type; INVALID_ARGUMENT where there is none."""
    native = dtype.newbyteorder('=')
    for number, _, name in _NUMPY:
        if native == np.dtype(name):
            return number
    for number, _, name in _ML_DTYPES:
        if dtype.name == name:
            return number
    raise errors.InvalidArgument(f'arrays of {dtype} are no tensors')


@dataclass(frozen=True)
class TensorType:
    """Element type and extents: "f32[2, 3]"."""

    dtype: str
    shape: Tuple[int, ...]

    def __str__(self) -> str:
        return f'{self.dtype}[{", ".join(map(str, self.shape))}]'

    @property
    def byte_size(self) -> int:
        return numpy_dtype(_NUMBERS[self.dtype]).itemsize * math.prod(self.shape)

    def to_proto(self) -> Any:
        return _proto.TensorType(dtype=_NUMBERS[self.dtype], shape=self.shape)

    @property
    def wire_bytes(self) -> bytes:
        """As a message."""
        return _type_bytes(self)

    @classmethod
    def from_proto(cls, proto: Any) -> 'TensorType':
        shape = tuple(proto.shape)
        if len(shape) > _MOST_DIMENSIONS or any(not 0 <= extent < 1 << 31 for extent in shape):
            raise errors.Internal(f'a tensor of shape {list(shape)} came')
        return cls(dtype_name(proto.dtype), shape)

    @classmethod
    def parse(cls, text: str) -> 'TensorType':
        """Of "f32[2, 3]"."""
        parsed = parse_static(text)
        if parsed is None:
            raise errors.InvalidArgument(f'"{text}" is no type of a tensor, such as "f32[2, 3]"')
        return parsed

    def empty(self) -> Array:
        return np.empty(self.shape, numpy_dtype(_NUMBERS[self.dtype]))


@functools.lru_cache(maxsize=1024)
def _type_bytes(tensor_type: TensorType) -> bytes:
    data: bytes = tensor_type.to_proto().SerializeToString()
    return data


@functools.lru_cache(maxsize=1024)
def parse_static(text: str) -> Optional[TensorType]:
    """Of "f32[2, 3]"; none where an extent is no number, or it is no type at all."""
    match = re.fullmatch(r'(\w+)\[([0-9, ]*)\]', text.strip())
    if match is None or match[1] not in _NUMBERS:
        return None
    return TensorType(match[1], tuple(int(extent) for extent in match[2].split(',') if extent.strip()))


def type_of(array: Array) -> TensorType:
    """The type of a tensor of the array's elements."""
    if array.ndim > _MOST_DIMENSIONS:
        raise errors.InvalidArgument(f'an array of {array.ndim} dimensions; at most {_MOST_DIMENSIONS}')
    if is_text(array):
        return TensorType('string', array.shape)
    return TensorType(dtype_name(number_of(array.dtype)), array.shape)


def is_text(array: Array) -> bool:
    return array.dtype.kind in 'UST' or (
        array.dtype == object and all(isinstance(each, (str, bytes)) for each in array.flat))


def as_array(value: Any, what: str = 'an input') -> Array:
    """What was given as an array: an array, a number, lists of numbers, whatever NumPy takes; a torch tensor as it lies."""
    if hasattr(value, 'detach') and hasattr(value, 'cpu'):
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise errors.InvalidArgument(f'{what} is no array: {error}') from None
    if array.dtype == object and not is_text(array):
        raise errors.InvalidArgument(f'{what} is an array of Python objects')
    return array


def elements(array: Array) -> memoryview:
    """The bytes of its elements: dense, row-major, little-endian. Shares its memory where they lie like that."""
    if array.dtype.byteorder == '>' or (array.dtype.byteorder == '=' and sys.byteorder == 'big'):
        array = array.astype(array.dtype.newbyteorder('<'))
    dense = np.ascontiguousarray(array)
    return dense.reshape(-1).view(np.uint8).data if dense.size else memoryview(b'')


def to_array(tensor_type: TensorType, data: Union[bytes, bytearray, memoryview], what: str) -> Array:
    """An array over `data`, which it shares."""
    if tensor_type.dtype == 'string':
        return _strings(tensor_type, bytes(data), what)
    dtype = numpy_dtype(_NUMBERS[tensor_type.dtype])
    if len(data) != dtype.itemsize * math.prod(tensor_type.shape):
        raise errors.Internal(f'{what}: {len(data)} bytes came for {tensor_type}')
    array: Array = np.frombuffer(data, dtype.newbyteorder('<') if dtype.kind in 'iufc' else dtype)
    return array.reshape(tensor_type.shape)


def _string_parts(array: Array) -> Tuple[Array, Array]:
    """Strings as programs take them: a place for each, and all of their contents (core/tensor/string_layout.h)."""
    texts = [each if isinstance(each, bytes) else str(each).encode() for each in array.flat]
    places, at = [], 0
    for text in texts:
        places.append(at << 32 | len(text))
        at += len(text)
    if at > _MOST_STRING_BYTES:
        raise errors.ResourceExhausted(f'strings of {at} bytes; at most {_MOST_STRING_BYTES}')
    return (np.array(places, np.int64).reshape(array.shape), np.frombuffer(b''.join(texts), np.uint8))


def _strings(tensor_type: TensorType, data: bytes, what: str) -> Array:
    count = math.prod(tensor_type.shape)
    if len(data) < 8 * count:
        raise errors.Internal(f'{what}: {len(data)} bytes came for {tensor_type}')
    return _join(np.frombuffer(data, '<i8', count).reshape(tensor_type.shape), data[8 * count:], what)


def _join(places: Array, contents: bytes, what: str) -> Array:
    made = np.empty(places.shape, object)
    for index, place in np.ndenumerate(places):
        begin, size = int(place) >> 32, int(place) & 0xffffffff
        if begin < 0 or begin + size > len(contents):
            raise errors.Internal(f'{what}: a string lies outside of the contents')
        made[index] = contents[begin:begin + size].decode('utf-8', 'replace')
    return made


# What the contents of strings are called, behind their places (core/tensor/strings.h).
def contents_name(name: str) -> str:
    return f'{name} (contents)'


def inputs_to_protos(inputs: Mapping[str, Any]) -> Tuple[List[Any], List[Blob]]:
    """Tensors of a request by name, and the blobs of those that are too large for one."""
    protos: List[Any] = []
    blobs: List[Blob] = []
    for name, value in inputs.items():
        array = as_array(value, f'input "{name}"')
        parts = [(name, array)]
        if is_text(array):
            places, contents = _string_parts(array)
            parts = [(name, places), (contents_name(name), contents)]
        for part_name, part in parts:
            try:
                tensor_type = type_of(part)
            except errors.InvalidArgument as error:
                raise error.within(f'input "{name}"') from None
            proto = _proto.Tensor(name=part_name, type=tensor_type.to_proto())
            data = elements(part)
            if len(data) <= MOST_INLINE_BYTES:
                proto.inline_data = bytes(data)
            else:
                blob = BytesBlob(data)
                proto.blob.CopyFrom(blob.digest.to_proto())
                blobs.append(blob)
            protos.append(proto)
    return protos, blobs


@dataclass(frozen=True)
class ReceivedTensor:
    """An output as a server tells of it: with its elements, or the blob that has them."""

    name: str
    type: TensorType
    data: Optional[bytes]
    blob: Optional[Digest]

    @classmethod
    def from_proto(cls, proto: Any) -> 'ReceivedTensor':
        has_blob = proto.WhichOneof('content') == 'blob'
        return cls(proto.name, TensorType.from_proto(proto.type), None if has_blob else proto.inline_data,
                   Digest.from_proto(proto.blob) if has_blob else None)


def join_strings(outputs: Sequence[Tuple[str, Array]]) -> Dict[str, Array]:
    """Outputs by name, with the two parts of each tensor of strings as one."""
    joined: Dict[str, Array] = {}
    pending = list(outputs)
    while pending:
        name, array = pending.pop(0)
        is_places = array.dtype == np.int64 and pending and pending[0][0] == contents_name(name)
        if is_places and pending[0][1].dtype == np.uint8 and pending[0][1].ndim == 1:
            array = _join(array, pending.pop(0)[1].tobytes(), f'output "{name}"')
        joined[name] = array
    return joined


def check_fits(array: Array, port: str, what: str) -> None:
    """INVALID_ARGUMENT unless an array may be given for a port's type, such as "f32[batch, 64]". What symbols have to do with
    each other the device finds out."""
    given = type_of(array)
    if given == parse_static(port):
        return
    taken = _parse_port(port)
    if taken is None:
        return
    dtype, extents = taken
    fits = given.dtype == dtype and len(given.shape) == len(extents) and all(
        not extent.isdigit() or int(extent) == size for extent, size in zip(extents, given.shape))
    if fits:
        return
    hint = ''
    if given.dtype != dtype and dtype in _NUMBERS and len(given.shape) == len(extents):
        named = {name: theirs for _, name, theirs in _NUMPY + _ML_DTYPES}.get(dtype)
        hint = f'; convert it with .astype("{named}")' if named else ''
    raise errors.InvalidArgument(f'{what}: {given} is given where {port} is taken{hint}')


@functools.lru_cache(maxsize=1024)
def _parse_port(port: str) -> Optional[Tuple[str, Tuple[str, ...]]]:
    """The element type and the extents of a port's type."""
    match = re.fullmatch(r'(\w+)\[(.*)\]', port)
    return None if match is None else (match[1], tuple(_split_extents(match[2])))


def _split_extents(text: str) -> List[str]:
    """Parts between commas that stand in no parentheses: "n, min(a, b)" has two."""
    parts, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return parts + [last] if last else parts
