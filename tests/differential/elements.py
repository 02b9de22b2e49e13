"""Element types and random elements of them."""

import ml_dtypes
import numpy as np
from onnx import helper

FLOATS = ('float32', 'float64', 'float16', 'bfloat16')
INTEGERS = ('int64', 'int32', 'int16', 'int8', 'uint64', 'uint32', 'uint16', 'uint8')
_SMALL = {
    'float8e4m3fn': ml_dtypes.float8_e4m3fn,
    'float8e4m3fnuz': ml_dtypes.float8_e4m3fnuz,
    'float8e5m2': ml_dtypes.float8_e5m2,
    'float8e5m2fnuz': ml_dtypes.float8_e5m2fnuz,
    'float4e2m1': ml_dtypes.float4_e2m1fn,
    'int4': ml_dtypes.int4,
    'uint4': ml_dtypes.uint4,
    'int2': ml_dtypes.int2,
    'uint2': ml_dtypes.uint2,
}
SMALL_FLOATS = tuple(name for name in _SMALL if name.startswith('float'))
# ONNX's names of type constraints where NumPy's differ.
_ONNX_NAMES = {'float': 'float32', 'double': 'float64'}


def numpy_type(name):
    if name == 'bfloat16':
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(_SMALL.get(name, name))


def onnx_type(name):
    return helper.np_dtype_to_tensor_dtype(numpy_type(name))


def name_of(array):
    """The name of an array's element type, as this file has it."""
    for name, dtype in _SMALL.items():
        if array.dtype == np.dtype(dtype):
            return name
    return 'string' if array.dtype.kind in 'OU' else array.dtype.name


def is_float(name):
    return name in FLOATS or name in SMALL_FLOATS


def tensor_types(constraint):
    """The element types that a type constraint of a schema allows, of those that are known here."""
    names = []
    for text in constraint.allowed_type_strs:
        if text.startswith('tensor('):
            name = text[len('tensor('):-1]
            name = _ONNX_NAMES.get(name, name)
            if name in FLOATS or name in INTEGERS or name in _SMALL or name == 'bool':
                names.append(name)
    return names


def _specials(dtype, style):
    if style in ('exact', 'modest'):  # Squares and sums stay far from what f32 cannot hold.
        return [np.nan, np.inf, -np.inf, 0.0, -0.0]
    info = ml_dtypes.finfo(dtype)
    tiny = float(info.smallest_normal)
    return [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.smallest_subnormal), -tiny / 2, tiny,
            float(info.max), -float(info.max), float(info.max) / 2]


def _random_floats(rng, shape, style):
    if style == 'exact':  # Sums and products of a few hundred of them are exact in f32.
        return rng.integers(-8, 9, shape) / 4.0
    if style == 'unit':
        return rng.uniform(-1, 1, shape)
    if style == 'positive':
        return rng.uniform(0.05, 3, shape)
    if style == 'probability':
        return rng.uniform(0, 1, shape)
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-8, 9, shape) / 2.0
    if kind == 1:
        return rng.normal(0, 30, shape)
    return rng.normal(0, 2, shape)


def random_array(rng, name, shape, style='any', specials=0.0):
    """An array of the type called `name`.

    Of floats, each with the probability `specials` becomes a special value; `style` is "any",
    "modest" (nothing huge or denormal), "exact" (nor do sums and products of a few hundred round), "unit",
    "positive" or "probability".
    """
    shape = tuple(shape)
    dtype = numpy_type(name)
    if name == 'bool':
        return rng.integers(0, 2, shape).astype(bool)
    if is_float(name):
        values = np.asarray(_random_floats(rng, shape, style))
        if specials and name in FLOATS:
            chosen = rng.choice(_specials(dtype, style), shape)
            values = np.where(rng.random(shape) < specials, chosen, values)
        with np.errstate(all='ignore'):
            return np.asarray(values.astype(dtype))
    info = ml_dtypes.iinfo(dtype)
    low, high = (0 if int(info.min) == 0 else -9), 10
    if style == 'positive':
        low = 1
    if style in ('any', 'wide') and rng.random() < (1.0 if style == 'wide' else 0.2):
        low, high = int(info.min), int(info.max)
    low, high = max(low, int(info.min)), min(high, int(info.max))
    values = rng.integers(low, high, shape, dtype=np.uint64 if high > 2**63 - 1 else np.int64,
                          endpoint=True)
    return np.asarray(values).astype(dtype)
