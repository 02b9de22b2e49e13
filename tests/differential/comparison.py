"""Compares tensors with an oracle's."""

import ml_dtypes
import numpy as np

import elements


def difference(actual, expected, ulps, engine_is_lowered=False):
    """None, or a sentence that tells the worst difference. `ulps` is what tolerances.of gives."""
    if actual.shape != expected.shape:
        return f'shape {list(actual.shape)} instead of {list(expected.shape)}'
    if elements.name_of(actual) == elements.name_of(expected) == 'string':
        return _tell(actual, expected, actual.astype(str) != expected.astype(str))
    if actual.dtype != expected.dtype:
        return f'{actual.dtype} instead of {expected.dtype}'
    if not elements.is_float(elements.name_of(actual)):
        wrong = actual != expected
        if ulps[2]:
            wrong &= np.abs(actual.astype(np.int64) - expected.astype(np.int64)) > ulps[2]
        return _tell(actual, expected, wrong)
    info = ml_dtypes.finfo(actual.dtype)
    tiny, largest = float(info.smallest_normal), float(info.max)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    element, tensor, _, least_scale = ulps
    if actual.dtype.itemsize < 4:  # An oracle rounds between steps.
        element, tensor = element + 1, tensor + (8 if tensor else 0)
    if engine_is_lowered:
        element, tensor = element * 2 + 2, tensor * 2
    with np.errstate(all='ignore'):
        finite = np.isfinite(b)
        scale = float(np.max(np.abs(b[finite]), initial=0.0))
        allowed = element * float(info.eps) * np.maximum(np.abs(b), tiny)
        if element:  # Either side may take a denormal for 0.
            allowed = np.maximum(allowed, 4 * tiny)
        allowed = np.maximum(allowed, tensor * float(info.eps) * max(scale, least_scale, tiny))
        close = np.abs(a - b) <= allowed
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        near_overflow = (element + tensor > 0) & (np.minimum(np.abs(a), np.abs(b)) > largest * (1 - 1e-3)) & \
            (np.sign(a) == np.sign(b))
        wrong = ~(same | (finite & np.isfinite(a) & close) | near_overflow)
    return _tell(actual, expected, wrong)


def _tell(actual, expected, wrong):
    if not np.any(wrong):
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return (f'{int(np.sum(wrong))} of {wrong.size} elements differ, the first at {list(place)}: '
            f'{actual[place]!r} instead of {expected[place]!r}')
