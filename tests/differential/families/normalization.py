"""Normalizations and losses."""

import numpy as np

import elements


def modest(m, dtype, shape):
    return m.tensor(dtype, shape, 'modest')


def plain(m, dtype, shape, style='any'):
    """An operand of a formula that oracles rearrange: infinities would show how."""
    return m.tensor(dtype, shape, style, specials=0.0)


def image(m, low=2):
    return [m.extent(), m.int(1, 6)] + [m.extent() for _ in range(m.int(low - 2, 3))]


def batch_normalization(m):
    shape = image(m)
    channels = [shape[1]]
    dtype = m.dtype()
    data = modest(m, dtype, shape)
    training = m.chance(0.3) if m.has('training_mode') else False
    attributes = m.sometimes(epsilon=m.pick([1e-5, 1e-2]), momentum=m.pick([0.9, 0.3]))
    if training:
        attributes['training_mode'] = 1
    m.tested([data, plain(m, dtype, channels), plain(m, dtype, channels), plain(m, dtype, channels),
              plain(m, dtype, channels, 'positive')], 3 if training else 1, **attributes)


def instance_normalization(m):
    shape = image(m, 3)
    dtype = m.dtype()
    m.tested([modest(m, dtype, shape), plain(m, dtype, [shape[1]]), plain(m, dtype, [shape[1]])],
             **m.sometimes(epsilon=1e-2))


def layer_normalization(m):
    shape = m.shape(1)
    axis = m.axis(len(shape))
    inner = shape[axis % len(shape):]
    dtype = m.dtype()
    scale = m.dtype('V') if m.op == 'RMSNormalization' and m.chance(0.2) else dtype
    attributes = {'axis': axis, **m.sometimes(epsilon=1e-2, stash_type=1)}
    operands = [modest(m, dtype, shape), plain(m, scale, inner)]
    if m.op == 'RMSNormalization':
        m.tested(operands, **attributes)
        return
    if m.chance(0.6):
        operands.append(plain(m, dtype, inner))
    m.tested(operands, m.int(1, 3), **attributes)


def group_normalization(m):
    groups = m.int(1, 3)
    shape = [m.extent(), groups * m.int(1, 3)] + [m.extent() for _ in range(m.int(1, 2))]
    dtype = m.dtype()
    width = [shape[1]] if m.opset >= 21 else [groups]
    m.tested([modest(m, dtype, shape), plain(m, dtype, width), plain(m, dtype, width)], num_groups=groups,
             **m.sometimes(epsilon=1e-2))


def lrn(m):
    shape = [m.extent(), m.int(1, 8)] + [m.extent() for _ in range(m.int(1, 2))]
    m.tested([modest(m, m.dtype(), shape)], size=m.int(1, 5),
             **m.sometimes(alpha=0.5, beta=m.pick([0.75, 0.5]), bias=m.pick([1.0, 2.0])))


def lp_normalization(m):
    shape = m.shape(1)
    m.tested([modest(m, m.dtype(), shape)], **m.sometimes(axis=m.axis(len(shape)), p=m.int(1, 2)))


def mean_variance(m):
    shape = [m.extent() for _ in range(4)]
    m.tested([modest(m, m.dtype(), shape)], **m.sometimes(axes=[0, m.int(1, 3)]))


def loss(m):
    classes = m.int(1, 6)
    batch, inner = m.int(1, 4), [m.int(1, 3) for _ in range(m.int(0, 2))]
    labels = m.rng.integers(0, classes, [batch] + inner)
    attributes = m.sometimes(reduction=m.pick(['none', 'sum', 'mean']))
    if m.chance(0.4):
        attributes['ignore_index'] = m.pick([-1, 0, 2])
        if attributes['ignore_index'] == -1:
            labels = np.where(m.rng.random(labels.shape) < 0.3, -1, labels)
    dtype = m.dtype()
    inputs = [modest(m, dtype, [batch, classes] + inner),
              m.data(labels.astype(m.pick([np.int64, np.int32])))]
    if m.chance(0.5):
        inputs.append(m.tensor(dtype, [classes], 'positive', specials=0.0))
    outputs = m.int(1, 2) if m.op == 'SoftmaxCrossEntropyLoss' else 1
    m.tested(inputs, outputs, **attributes)


def quantization_shape(m):
    """A shape, and the shape and attributes of its scales."""
    shape = m.shape(1, 4)
    kind = m.pick(['tensor', 'tensor', 'axis', 'block'])
    if kind == 'tensor' or m.opset < 13 or (kind == 'block' and m.opset < 21):
        return shape, [], {}
    axis = m.axis(len(shape))
    place = axis % len(shape)
    if kind == 'axis':
        return shape, [shape[place]], {'axis': axis}
    size = m.int(1, 3)
    scales = list(shape)
    scales[place] = -(-shape[place] // size)
    return shape, scales, {'axis': axis, 'block_size': size}


def scales(m, dtype, shape):
    return m.data(m.rng.uniform(0.02, 0.9, shape).astype(elements.numpy_type(dtype)))


def quantize(m):
    shape, inner, attributes = quantization_shape(m)
    types = [p.type_param_str for p in m.schema.type_constraints]
    source = m.dtype('T1', elements.FLOATS + ('int32',))
    target = m.dtype('T3' if 'T3' in types else 'T2')
    scale = source if source != 'int32' else 'float32'
    if m.opset >= 23 and 'T3' in types and m.chance(0.2):
        scale = m.dtype('T2', elements.FLOATS[:1] + ('float16',))
    attributes.update(m.sometimes(saturate=1))
    data = m.tensor(source, shape, 'modest', specials=0.0 if m.chance(0.7) else None)
    zero = ''
    if m.chance(0.7) or not m.has('output_dtype'):
        zero = m.data(np.zeros(inner, elements.numpy_type(target)) if elements.is_float(target)
                      else m.array(target, inner, 'wide'))
    else:
        attributes['output_dtype'] = elements.onnx_type(target)
    m.tested([data, scales(m, scale, inner), zero], **attributes)


def dequantize(m):
    shape, inner, attributes = quantization_shape(m)
    types = [p.type_param_str for p in m.schema.type_constraints]
    source = m.dtype('T1' if 'T1' in types else 'T')
    scale = m.dtype('T2') if 'T2' in types else 'float32'
    zero = ''
    if m.chance(0.6):
        zeros = elements.is_float(source) or source == 'int32'
        zero = m.data(np.zeros(inner, elements.numpy_type(source)) if zeros
                      else m.array(source, inner, 'wide'))
    m.tested([m.tensor(source, shape, 'wide', specials=0.0), scales(m, scale if scale in elements.FLOATS else 'float32', inner), zero],
             **attributes)


def dynamic_quantize(m):
    m.tested([m.tensor('float32', m.shape(), specials=0.0)], 3)


def quantized_matmul(m):
    rows, inner, columns = m.extent(), m.int(1, 7), m.extent()
    batch = m.shape(0, 2)
    a, b = (m.dtype('T1', ('int8', 'uint8')), m.dtype('T2', ('int8', 'uint8')))
    y = m.dtype('T3', (a,))
    kind = m.dtype('TS') if m.opset >= 21 else 'float32'
    m.tested([m.tensor(a, batch + [rows, inner], 'wide'), scales(m, kind, []), m.tensor(a, [], 'wide'),
              m.tensor(b, batch + [inner, columns], 'wide'), scales(m, kind, []), m.tensor(b, [], 'wide'),
              m.data(np.array(m.pick([0.5, 3.0, 40.0])).astype(elements.numpy_type(kind))), m.tensor(y, [], 'wide')])


GENERATORS = {
    'BatchNormalization': batch_normalization, 'InstanceNormalization': instance_normalization,
    'LayerNormalization': layer_normalization, 'RMSNormalization': layer_normalization,
    'GroupNormalization': group_normalization, 'LRN': lrn, 'LpNormalization': lp_normalization,
    'MeanVarianceNormalization': mean_variance, 'NegativeLogLikelihoodLoss': loss,
    'SoftmaxCrossEntropyLoss': loss, 'QuantizeLinear': quantize, 'DequantizeLinear': dequantize,
    'DynamicQuantizeLinear': dynamic_quantize, 'QLinearMatMul': quantized_matmul,
}
