"""Convolutions, pools and what else slides windows."""

import numpy as np


def windows(m, rank, spatial, kernel, pool=False):
    """Random strides, dilations and pads for a window that fits."""
    attributes = m.sometimes(strides=m.ints(rank, 1, 3), dilations=m.ints(rank, 1, 3))
    kind = m.pick(['NOTSET', 'NOTSET', 'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'])
    if kind != 'NOTSET':
        attributes['auto_pad'] = kind
        if pool and 'dilations' in attributes and m.chance(0.8):
            del attributes['dilations']
    elif m.chance(0.7):
        dilations = attributes.get('dilations', [1] * rank)
        limits = [(k - 1) if pool else (k - 1) * d + 2 for k, d in zip(kernel, dilations)]
        attributes['pads'] = [m.int(0, max(limit, 0)) for limit in limits + limits]
    return attributes


def image(m, low=1, high=3):
    rank = m.int(low, high)
    return rank, [m.pick([1, 2, 3, 4, 5, 6, 7, 9, 12]) for _ in range(rank)]


def conv(m):
    rank, spatial = image(m)
    groups = m.pick([1, 1, 2, 3])
    per_group, out_per_group = m.pick([1, 1, 2, 3, 5]), m.pick([1, 2, 3, 17])
    if m.chance(0.2):
        groups, per_group = m.pick([1, 3, 4, 16]), 1
    batch = m.extent()
    kernel = [m.int(1, min(4, n + 1)) for n in spatial]
    attributes = windows(m, rank, spatial, kernel)
    attributes.update(m.sometimes(kernel_shape=kernel))
    if groups != 1:
        attributes['group'] = groups
    data, weights = [batch, groups * per_group] + spatial, [groups * out_per_group, per_group] + kernel
    if m.op == 'ConvInteger':
        x, w = m.dtype('T1'), m.dtype('T2')
        m.tested([m.tensor(x, data, 'wide'), m.tensor(w, weights, 'wide'),
                  m.tensor(x, [], 'wide') if m.chance(0.5) else '',
                  m.tensor(w, [], 'wide') if m.chance(0.5) else ''], **attributes)
        return
    if m.op == 'QLinearConv':
        x, w, y = m.dtype('T1'), m.dtype('T2'), m.dtype('T3')
        one = [groups * out_per_group] if m.chance(0.5) else []
        m.tested([m.tensor(x, data, 'wide'), scale(m), m.tensor(x, [], 'wide'),
                  m.tensor(w, weights, 'wide', constant=True), scale(m, one, constant=True),
                  m.data(np.zeros(one, w) if one else m.array(w, [], 'wide'), constant=True),
                  scale(m), m.tensor(y, [], 'wide'),
                  m.tensor('int32', [groups * out_per_group], constant=True) if m.chance(0.5) else ''],
                 **attributes)
        return
    dtype = m.dtype()
    inputs = [m.tensor(dtype, data, 'exact'), m.tensor(dtype, weights, 'exact', specials=0.0)]
    if m.chance(0.6):
        inputs.append(m.tensor(dtype, [groups * out_per_group], 'exact'))
    m.tested(inputs, **attributes)


def scale(m, shape=(), **kwargs):
    return m.data(m.rng.uniform(0.01, 0.2, shape).astype(np.float32), **kwargs)


def conv_transpose(m):
    rank, spatial = image(m)
    groups, per_group, out_per_group = m.pick([1, 1, 2]), m.int(1, 3), m.int(1, 3)
    kernel = m.ints(rank, 1, 4)
    attributes = m.sometimes(strides=m.ints(rank, 1, 3), dilations=m.ints(rank, 1, 2), kernel_shape=kernel)
    strides = attributes.get('strides', [1] * rank)
    kind = m.pick(['NOTSET', 'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'])
    if kind != 'NOTSET':
        attributes['auto_pad'] = kind
    elif m.chance(0.6):
        attributes['pads'] = [m.int(0, k // 2) for k in kernel + kernel]
    if m.chance(0.3):
        attributes['output_padding'] = [m.int(0, s - 1) for s in strides]
    if m.chance(0.2):
        attributes['output_shape'] = [(n - 1) * s + k + m.int(-1, 1) for n, s, k in zip(spatial, strides, kernel)]
        attributes['output_shape'] = [max(n, 1) for n in attributes['output_shape']]
    if groups != 1:
        attributes['group'] = groups
    dtype = m.dtype()
    inputs = [m.tensor(dtype, [m.extent(), groups * per_group] + spatial, 'exact'),
              m.tensor(dtype, [groups * per_group, out_per_group] + kernel, 'exact', specials=0.0)]
    if m.chance(0.5):
        inputs.append(m.tensor(dtype, [groups * out_per_group], 'exact'))
    m.tested(inputs, **attributes)


def pool(m):
    rank, spatial = image(m)
    kernel = [m.int(1, min(3, n)) for n in spatial]
    attributes = windows(m, rank, spatial, kernel, pool=True)
    attributes.update(m.sometimes(ceil_mode=m.int(0, 1), count_include_pad=m.int(0, 1), p=m.int(1, 3)))
    if m.op == 'MaxPool':
        attributes.update(m.sometimes(storage_order=m.int(0, 1)))
    outputs = 2 if m.op == 'MaxPool' and m.opset >= 8 and m.chance(0.4) else 1
    style = 'any' if m.op == 'MaxPool' else 'exact'
    m.tested([m.tensor(m.dtype(), [m.extent(), m.extent()] + spatial, style)], outputs, kernel_shape=kernel,
             **attributes)


def global_pool(m):
    _, spatial = image(m)
    m.tested([m.tensor(m.dtype(), [m.extent(), m.extent()] + spatial, 'exact')],
             **m.sometimes(p=m.int(1, 3)))


def max_unpool(m):
    rank, _ = image(m)
    kernel = m.ints(rank, 1, 2)
    spatial = m.ints(rank, 1, 4)
    full = [n * k for n, k in zip(spatial, kernel)]
    channels = [m.int(1, 2), m.int(1, 3)]
    size = int(np.prod(full))
    each = int(np.prod(spatial))
    planes = channels[0] * channels[1]
    places = np.stack([m.rng.permutation(size)[:each] + plane * size for plane in range(planes)])
    m.tested([m.tensor(m.dtype('T1'), channels + spatial), m.data(places.reshape(channels + spatial))],
             kernel_shape=kernel, strides=kernel)


def col2im(m):
    rank = m.int(1, 3)
    block = m.ints(rank, 1, 3)
    picture = [m.int(b, 7) for b in block]
    attributes = m.sometimes(strides=m.ints(rank, 1, 2), dilations=m.ints(rank, 1, 2), pads=m.ints(2 * rank, 0, 1))
    strides, dilations = attributes.get('strides', [1] * rank), attributes.get('dilations', [1] * rank)
    pads = attributes.get('pads', [0] * 2 * rank)
    count = 1
    for d in range(rank):
        span = picture[d] + pads[d] + pads[d + rank] - dilations[d] * (block[d] - 1) - 1
        count *= max(span // strides[d] + 1, 0)
    if count == 0:
        from maker import Refused
        raise Refused('the window does not fit')
    m.tested([m.tensor(m.dtype(), [m.int(1, 2), m.int(1, 3) * int(np.prod(block)), count], 'exact'),
              m.parameter(picture), m.parameter(block)], **attributes)


def deform_conv(m):
    groups, offsets = m.int(1, 2), m.int(1, 2)
    channels = groups * offsets * m.int(1, 2)
    out = groups * m.int(1, 2)
    spatial, kernel = m.ints(2, 3, 6), m.ints(2, 1, 3)
    attributes = m.sometimes(strides=m.ints(2, 1, 2), dilations=m.ints(2, 1, 2), pads=m.ints(4, 0, 1))
    strides, dilations = attributes.get('strides', [1, 1]), attributes.get('dilations', [1, 1])
    pads = attributes.get('pads', [0] * 4)
    outer = [(spatial[d] + pads[d] + pads[d + 2] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1
             for d in range(2)]
    if min(outer) <= 0:
        from maker import Refused
        raise Refused('the window does not fit')
    batch, dtype, taps = m.int(1, 2), m.dtype(), kernel[0] * kernel[1]
    inputs = [m.tensor(dtype, [batch, channels] + spatial, 'exact', specials=0.0),
              m.tensor(dtype, [out, channels // groups] + kernel, 'exact'),
              m.tensor(dtype, [batch, offsets * taps * 2] + outer, 'exact', specials=0.0),
              m.tensor(dtype, [out], 'exact') if m.chance(0.5) else '',
              m.tensor(dtype, [batch, offsets * taps] + outer, 'exact', specials=0.0) if m.chance(0.5) else '']
    m.tested(inputs, group=groups, offset_group=offsets, kernel_shape=kernel, **attributes)


def causal_conv(m):
    batch, channels, length, kernel = m.int(1, 2), m.int(1, 4), m.int(1, 6), m.int(1, 4)
    dtype = m.dtype()
    m.tested([m.tensor(dtype, [batch, channels, length], 'exact'),
              m.tensor(dtype, [channels, 1, kernel], 'exact', specials=0.0),
              m.tensor(dtype, [channels], 'exact') if m.chance(0.5) else '',
              m.tensor(dtype, [batch, channels, kernel - 1], 'exact') if m.chance(0.5) else ''], 2,
             **m.sometimes(activation=m.pick(['none', 'silu', 'swish'])))


GENERATORS = {
    'Conv': conv, 'ConvInteger': conv, 'QLinearConv': conv, 'ConvTranspose': conv_transpose,
    'MaxPool': pool, 'AveragePool': pool, 'LpPool': pool, 'GlobalAveragePool': global_pool,
    'GlobalMaxPool': global_pool, 'GlobalLpPool': global_pool, 'MaxUnpool': max_unpool, 'Col2Im': col2im,
    'DeformConv': deform_conv, 'CausalConvWithState': causal_conv,
}
