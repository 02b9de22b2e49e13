"""What moves elements: shapes, slices, pads, gathers and scatters."""

import numpy as np

import elements


def parameter(m, name, values, place, inputs, attributes):
    """Gives `values` the way the operator's form has it: as an attribute, or as an input."""
    if m.has(name):
        attributes[name] = values
    else:
        inputs += [''] * (place - len(inputs))
        inputs.append(m.parameter(values))


def some_tensor(m, low=0, constraint='T', **kwargs):
    shape = m.shape(low)
    return shape, m.tensor(m.dtype(constraint), shape, **kwargs)


def transpose(m):
    shape, data = some_tensor(m)
    m.tested([data], **m.sometimes(perm=[int(a) for a in m.rng.permutation(len(shape))]))


def reshape(m):
    shape, data = some_tensor(m)
    size = int(np.prod(shape))
    target = []
    left = size
    for _ in range(m.int(0, 4)):
        divisors = [d for d in range(1, min(left, 40) + 1) if left % d == 0] or [1]
        target.append(m.pick(divisors))
        left //= target[-1] if left else 1
    if left != 1 or not target:
        target.append(left)
    attributes = {}
    if m.chance(0.4):
        place = m.int(0, len(target) - 1)
        if size and all(n for i, n in enumerate(target) if i != place):
            target[place] = -1
    elif m.chance(0.3) and size:
        for place in range(min(len(target), len(shape))):
            if target[place] == shape[place]:
                target[place] = 0
    if 0 in target and size == 0 and m.has('allowzero'):
        attributes['allowzero'] = 1
    inputs = [data]
    parameter(m, 'shape', target, 1, inputs, attributes)
    m.tested(inputs, **attributes)


def flatten(m):
    shape, data = some_tensor(m)
    low = -len(shape) if m.opset >= 11 else 0
    attributes = m.sometimes(axis=m.int(low, len(shape))) if shape else {'axis': 0}
    m.tested([data], **attributes)


def squeeze(m):
    shape, data = some_tensor(m)
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    inputs, attributes = [data], {}
    if m.chance(0.7):
        chosen = [axis for axis in ones if m.chance(0.7)]
        if chosen or m.opset >= 13:
            parameter(m, 'axes', [a - len(shape) if m.chance(0.3) and m.opset >= 11 else a for a in chosen], 1,
                      inputs, attributes)
    m.tested(inputs, **attributes)


def unsqueeze(m):
    shape, data = some_tensor(m, 0)
    count = m.int(1, 3)
    inputs, attributes = [data], {}
    parameter(m, 'axes', m.axes(len(shape) + count, count), 1, inputs, attributes)
    m.tested(inputs, **attributes)


def concat(m):
    shape = m.shape(1)
    axis = m.axis(len(shape))
    dtype = m.dtype()
    operands = []
    for _ in range(m.int(1, 4)):
        shape[axis] = m.extent()
        operands.append(m.tensor(dtype, shape))
    m.tested(operands, axis=axis)


def split(m):
    shape, data = some_tensor(m, 1)
    axis = m.axis(len(shape))
    parts = m.int(1, 4)
    inputs, attributes = [data], {'axis': axis}
    if m.chance(0.6):
        cuts = sorted(m.ints(parts - 1, 0, shape[axis]))
        sizes = [b - a for a, b in zip([0] + cuts, cuts + [shape[axis]])]
        parameter(m, 'split', sizes, 1, inputs, attributes)
    else:
        if shape[axis] % parts and (not m.has('num_outputs') or -(-shape[axis] // parts) * (parts - 1) >= shape[axis]):
            parts = 1  # Nothing would be left for the last one.
        if m.has('num_outputs'):
            attributes['num_outputs'] = parts
    m.tested(inputs, parts, **attributes)


def slice_(m):
    shape, data = some_tensor(m, 1)
    axes = m.axes(len(shape), m.int(1, len(shape)))
    if m.opset < 10:
        axes = sorted(axes)
    far = m.pick([2**31 - 1, 2**63 - 1, 1000])
    bounds = [(m.pick([m.int(-n - 2, n + 2), -far, far]), m.pick([m.int(-n - 2, n + 2), far, -far]))
              for n in (shape[a] for a in axes)]
    starts, ends = [s for s, _ in bounds], [e for _, e in bounds]
    if m.has('starts'):
        m.tested([data], starts=starts, ends=ends, axes=axes)
        return
    dtype = m.pick([np.int64, np.int32])
    if dtype == np.int32:
        starts, ends = [[max(min(x, 2**31 - 1), -2**31) for x in xs] for xs in (starts, ends)]
    if m.chance(0.2):
        axes = None
        starts, ends = starts[:len(shape)], ends[:len(shape)]
    inputs = [data, m.parameter(starts, dtype), m.parameter(ends, dtype)]
    steps = m.parameter([m.pick([1, 1, 2, 3, -1, -2, 100, -100]) for _ in starts], dtype) if m.chance(0.7) else ''
    inputs += ['' if axes is None else m.parameter(axes, dtype), steps]
    m.tested(inputs)


def pad(m):
    shape, data = some_tensor(m, 1)
    dtype = elements.name_of(m.inputs[data]) if data in m.inputs else None
    mode = m.pick(['constant', 'constant', 'reflect', 'edge'] + (['wrap'] if m.opset >= 19 else []))
    axes = list(range(len(shape)))
    chosen = m.axes(len(shape), m.int(1, len(shape))) if m.opset >= 18 and m.chance(0.4) else None
    if chosen is not None:
        axes = chosen
    low, high = -2 if m.chance(0.3) else 0, 3

    def amount(extent):
        if mode != 'constant' and extent == 0:
            return 0
        limit = extent - 1 if mode == 'reflect' else high
        return m.int(max(low, -extent // 2), max(min(high, limit), 0))

    pads = [amount(shape[a]) for a in axes] + [amount(shape[a]) for a in axes]
    if m.has('pads'):
        m.tested([data], pads=pads, mode=mode, **m.sometimes(value=1.5))
        return
    value = ''
    if m.chance(0.5) and dtype is not None:
        value = m.data(m.array(dtype, []))
    inputs = [data, m.parameter(pads), value]
    if chosen is not None:
        inputs.append(m.parameter(chosen, m.pick([np.int64, np.int32])))
    m.tested(inputs, mode=mode)


def tile(m):
    shape, data = some_tensor(m)
    m.tested([data, m.parameter([m.pick([0, 1, 1, 2, 3]) for _ in shape])])


def expand(m):
    shape = m.shape()
    data = m.tensor(m.dtype(), m.broadcast(shape))
    target = [1 if m.chance(0.2) else n for n in shape]
    m.tested([data, m.parameter(target)])


def trilu(m):
    shape, data = some_tensor(m, 2)
    m.tested([data, m.parameter(m.int(-4, 4)) if m.chance(0.6) else ''], **m.sometimes(upper=m.int(0, 1)))


def indices(m, shape, extent, dtype=None, negative=True):
    """Indices into an extent, some of them negative."""
    if extent == 0 and np.prod(shape):
        raise_refused()
    low = -extent if negative and m.opset >= 11 else 0
    dtype = dtype or m.pick([np.int64, np.int32])
    return m.rng.integers(low, max(extent, low + 1), shape).astype(dtype)


def raise_refused():
    from maker import Refused
    raise Refused('no index into an empty extent')


def gather(m):
    shape, data = some_tensor(m, 1)
    axis = m.axis(len(shape))
    places = m.shape(0, 3)
    m.tested([data, m.data(indices(m, places, shape[axis]))], axis=axis)


def gather_elements(m):
    shape, data = some_tensor(m, 1)
    axis = m.axis(len(shape))
    places = [m.int(0, n) for n in shape]
    places[axis] = m.extent()
    m.tested([data, m.data(indices(m, places, shape[axis]))], axis=axis)


def nd_indices(m, shape, batch=0):
    depth = m.int(1, len(shape) - batch)
    outer = shape[:batch] + m.shape(0 if batch else 1, 2)
    if not np.prod(outer):
        return np.zeros(outer + [depth], np.int64), depth
    columns = [indices(m, outer, shape[batch + d], np.int64) for d in range(depth)]
    return np.stack(columns, axis=-1), depth


def gather_nd(m):
    shape, data = some_tensor(m, 1)
    batch = m.int(0, len(shape) - 1) if m.has('batch_dims') and m.chance(0.3) else 0
    places, _ = nd_indices(m, shape, batch)
    m.tested([data, m.data(places)], batch_dims=batch or None)


def reduction_of(m, dtype):
    if not m.has('reduction') or m.chance(0.4) or dtype == 'bool':
        return None
    return m.pick(['add', 'mul'] + (['max', 'min'] if m.opset >= 18 else []))


def scatter_elements(m):
    shape = m.shape(1)
    dtype = m.dtype()
    axis = m.axis(len(shape))
    reduction = reduction_of(m, dtype)
    places = [m.int(0, n) for n in shape]
    if reduction is None:  # Each place once: their order is undefined.
        order = np.argsort(m.rng.random([*places[:axis % len(shape)], shape[axis],
                                         *places[axis % len(shape) + 1:]]), axis=axis)
        where = np.take(order, range(places[axis]), axis=axis)
    else:
        where = indices(m, places, shape[axis])
    m.tested([m.tensor(dtype, shape, 'exact'), m.data(where.astype(m.pick([np.int64, np.int32]))),
              m.tensor(dtype, places, 'exact')], axis=axis, reduction=reduction)


def scatter_nd(m):
    shape = m.shape(1)
    dtype = m.dtype()
    reduction = reduction_of(m, dtype)
    places, depth = nd_indices(m, shape)
    if reduction is None:
        places = places % np.maximum(np.asarray(shape[:depth]), 1)
        flat = places.reshape(-1, depth)
        if len(np.unique(flat, axis=0)) != len(flat):
            raise_refused()
    m.tested([m.tensor(dtype, shape, 'exact'), m.data(places),
              m.tensor(dtype, list(places.shape[:-1]) + shape[depth:], 'exact')], reduction=reduction)


def tensor_scatter(m):
    batch, length = m.int(1, 3), m.int(1, 6)
    inner = [m.int(1, 3) for _ in range(m.int(0, 2))]
    axis = 1 if not inner else m.pick([1, -1 - len(inner)])
    sequence = m.int(1, length)
    dtype = m.dtype()
    mode = m.pick(['linear', 'circular'])
    starts = m.rng.integers(0, length - sequence + 1 if mode == 'linear' else length, batch)
    m.tested([m.tensor(dtype, [batch, length] + inner), m.tensor(dtype, [batch, sequence] + inner),
              m.data(starts.astype(np.int64)) if m.chance(0.8) else ''], axis=axis, mode=mode)


def one_hot(m):
    depth = m.int(1, 6)
    shape = m.shape(0, 3)
    places = m.rng.integers(-depth - 1, depth + 2, shape)
    dtype = m.dtype('T3')
    indices_type = m.pick(['int64', 'int32', 'float32'])
    m.tested([m.data(places.astype(indices_type)), m.parameter(depth, m.pick([np.int64, np.int32])),
              m.data(m.array(dtype, [2]))], **m.sometimes(axis=m.axis(len(shape), 1)))


def compress(m):
    shape, data = some_tensor(m, 1)
    axis = m.axis(len(shape)) if m.chance(0.7) else None
    extent = int(np.prod(shape)) if axis is None else shape[axis]
    count = m.int(0, extent)
    m.tested([data, m.data(m.array('bool', [count]))], axis=axis)


def blocks(m):
    size = m.int(1, 3)
    batch, depth, height, width = m.extent(), m.int(1, 3), m.extent(), m.extent()
    if m.op == 'DepthToSpace':
        shape = [batch, depth * size * size, height, width]
    else:
        shape = [batch, depth, height * size, width * size]
    m.tested([m.tensor(m.dtype(), shape)], blocksize=size, **m.sometimes(mode=m.pick(['DCR', 'CRD'])))


def center_crop_pad(m):
    shape, data = some_tensor(m, 1, constraint='T')
    axes = m.axes(len(shape), m.int(1, len(shape))) if m.chance(0.5) else None
    count = len(shape) if axes is None else len(axes)
    m.tested([data, m.parameter(m.ints(count, 0, 8), m.pick([np.int64, np.int32]))], axes=axes)


def reverse_sequence(m):
    shape = m.shape(2)
    time = m.int(0, 1)
    if shape[time] == 0:
        raise_refused()
    lengths = m.rng.integers(1, shape[time] + 1, shape[1 - time])
    m.tested([m.tensor(m.dtype(), shape), m.data(lengths.astype(np.int64))], time_axis=time,
             batch_axis=1 - time)


def non_zero(m):
    m.tested([some_tensor(m, style='exact')[1]])


def unique(m):
    shape = m.shape(1)
    m.tested([m.tensor(m.dtype(), shape, 'exact', specials=0.0)], m.int(1, 4),
             **m.sometimes(axis=m.axis(len(shape)), sorted=m.int(0, 1)))


GENERATORS = {
    'Transpose': transpose, 'Reshape': reshape, 'Flatten': flatten, 'Squeeze': squeeze,
    'Unsqueeze': unsqueeze, 'Concat': concat, 'Split': split, 'Slice': slice_, 'Pad': pad, 'Tile': tile,
    'Expand': expand, 'Trilu': trilu, 'Gather': gather, 'GatherElements': gather_elements,
    'GatherND': gather_nd, 'ScatterElements': scatter_elements, 'Scatter': scatter_elements,
    'ScatterND': scatter_nd, 'TensorScatter': tensor_scatter, 'OneHot': one_hot, 'Compress': compress,
    'DepthToSpace': blocks, 'SpaceToDepth': blocks, 'CenterCropPad': center_crop_pad,
    'ReverseSequence': reverse_sequence, 'NonZero': non_zero, 'Unique': unique,
}
