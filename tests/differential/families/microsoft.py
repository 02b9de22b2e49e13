"""com.microsoft: what ONNX Runtime's own tools and exporters write. It alone knows them."""

import numpy as np

DOMAIN = 'com.microsoft'
EIGHT_BITS = ('uint8', 'int8')


def f32(m, *shape, style='unit'):
    return m.tensor('float32', shape, style, specials=0.0)


def hidden(m):
    return [m.int(1, 3), m.int(1, 5), 4 * m.int(1, 4)]


# Activations and normalizations.

def with_bias(m):
    shape = m.shape(1, 4)[:-1] + [m.int(1, 9)]
    inputs = [m.tensor('float32', shape, 'modest')]
    if m.op == 'BiasGelu' or m.chance(0.5):
        inputs.append(f32(m, shape[-1]))
    m.tested(inputs)


def activation(m):
    m.tested([m.tensor('float32', m.shape(), 'modest')], alpha=m.pick([None, 0.5, 2.0]) if m.op == 'QuickGelu' else None)


def skip_normalization(m):
    shape = hidden(m)
    inputs = [f32(m, *shape), f32(m, *shape), f32(m, shape[-1])]
    if m.op == 'SkipLayerNormalization':
        inputs.append(f32(m, shape[-1]) if m.chance(0.6) else '')
    inputs.append(f32(m, shape[-1]) if m.chance(0.5) else '')
    if m.chance(0.4):
        m.tested(inputs, [m.name('y'), '', '', m.name('y')], epsilon=1e-5)
    else:
        m.tested(inputs, epsilon=m.pick([1e-5, 1e-12]))


def simplified_normalization(m):
    shape = m.shape(1, 4)[:-1] + [m.int(1, 9)]
    m.tested([f32(m, *shape), f32(m, shape[-1])], axis=-1, epsilon=1e-5, stash_type=1)


def embed_normalization(m):
    batch, length, size = m.int(1, 3), m.int(1, 4), m.int(1, 8)
    ids = m.data(m.rng.integers(0, 7, [batch, length]).astype(np.int32))
    segments = m.chance(0.6)
    m.tested([ids, m.data(m.rng.integers(0, 2, [batch, length]).astype(np.int32)) if segments else '', f32(m, 7, size),
              f32(m, 6, size), f32(m, 2, size) if segments else '', f32(m, size), f32(m, size)], 2, epsilon=1e-5)


# Products.

def fused_matmul(m):
    batch = m.shape(0, 2)
    rows, inner, columns = m.int(1, 7), m.int(1, 7), m.int(1, 7)
    a, b = m.int(0, 1), m.int(0, 1)
    m.tested([f32(m, *batch, *([inner, rows] if a else [rows, inner])),
              f32(m, *batch, *([columns, inner] if b else [inner, columns]))], transA=a, transB=b, alpha=m.pick([1.0, 0.25]))


def fused_gemm(m):
    rows, inner, columns = m.int(1, 7), m.int(1, 7), m.int(1, 7)
    a, b = m.int(0, 1), m.int(0, 1)
    name = m.pick(['Relu', 'Sigmoid', 'Tanh', 'LeakyRelu'])
    m.tested([f32(m, *([inner, rows] if a else [rows, inner])), f32(m, *([columns, inner] if b else [inner, columns])),
              f32(m, *m.pick([[columns], [rows, columns], [1, columns]]))],
             transA=a, transB=b, alpha=m.pick([1.0, 0.5]), beta=m.pick([1.0, 2.0]), activation=name,
             activation_alpha=0.2 if name == 'LeakyRelu' else None)


def fused_conv(m):
    groups = m.int(1, 2)
    channels, filters, kernel = groups * m.int(1, 3), groups * m.int(1, 3), [m.int(1, 3), m.int(1, 3)]
    name = m.pick(['Relu', 'Sigmoid', 'Tanh', 'LeakyRelu', 'HardSigmoid', 'Clip'])
    parameters = {'LeakyRelu': [0.2], 'HardSigmoid': [0.3, 0.4], 'Clip': [-0.5, 0.5]}
    m.tested([f32(m, m.int(1, 2), channels, m.int(3, 7), m.int(3, 7)), f32(m, filters, channels // groups, *kernel),
              f32(m, filters) if m.chance(0.5) else ''], group=groups, kernel_shape=kernel, pads=m.ints(4, 0, 1),
             strides=m.ints(2, 1, 2), activation=name, activation_params=parameters.get(name))


# Attention.

def attention(m):
    batch, length, size = hidden(m)
    heads = m.pick([1, 2, 4])
    mask = m.data(m.rng.integers(0, 2, [batch, length]).astype(np.int32)) if m.chance(0.4) else ''
    m.tested([f32(m, batch, length, size), f32(m, size, 3 * size), f32(m, 3 * size), mask], num_heads=heads,
             unidirectional=m.int(0, 1))


def multi_head_attention(m):
    batch, length, size = hidden(m)
    others = m.int(1, 5)
    bias = f32(m, 3 * size) if m.chance(0.5) else ''
    m.tested([f32(m, batch, length, size), f32(m, batch, others, size), f32(m, batch, others, size), bias],
             num_heads=m.pick([1, 2, 4]), scale=m.pick([None, 0.3]))


def group_query_attention(m):
    batch, length, size = m.int(1, 2), m.int(1, 5), 8 * m.int(1, 2)
    groups, heads = m.int(1, 2), m.int(1, 2)
    past = m.int(0, 3) if length == 1 else 0
    total = past + length
    cache = [batch, groups, past, size]
    m.tested([f32(m, batch, length, groups * heads * size), f32(m, batch, length, groups * size),
              f32(m, batch, length, groups * size), f32(m, *cache) if past else '', f32(m, *cache) if past else '',
              m.data(np.full([batch], total - 1, np.int32)), m.data(np.array(total, np.int32), True)], 3,
             num_heads=groups * heads, kv_num_heads=groups, local_window_size=m.pick([None, 2]))


def rotary_embedding(m):
    batch, length, heads, size = m.int(1, 2), m.int(1, 5), m.int(1, 3), 2 * m.int(1, 4)
    m.tested([f32(m, batch, length, heads * size), m.data(m.rng.integers(0, 9 - length, [1])), f32(m, 9, size // 2),
              f32(m, 9, size // 2)], interleaved=m.int(0, 1), num_heads=heads, rotary_embedding_dim=0)


# Numbers of eight bits.

def scale_and_zero(m, dtype, constant=True):
    zero = m.int(0, 255) if dtype == 'uint8' else m.int(-20, 20)
    return [m.data(np.float32(m.pick([0.01, 0.05, 0.3])), constant), m.data(np.array(zero, dtype), constant)]


def quantized(m, dtype, *shape):
    return m.tensor(dtype, shape, 'wide')


def qlinear_binary(m):
    dtype, shape = m.pick(EIGHT_BITS), m.shape(0, 4)
    m.tested([quantized(m, dtype, *shape), *scale_and_zero(m, dtype), quantized(m, dtype, *m.broadcast(shape)),
              *scale_and_zero(m, dtype), *scale_and_zero(m, dtype)])


def qlinear_unary(m):
    dtype = m.pick(EIGHT_BITS)
    pools = 'Pool' in m.op
    shape = [m.int(1, 2), m.int(1, 4), m.int(3, 6), m.int(3, 6)] if pools else m.shape(1, 4)
    attributes = {'QLinearLeakyRelu': {'alpha': 0.2}, 'QLinearSoftmax': {'axis': -1, 'opset': 13},
                  'QLinearAveragePool': {'kernel_shape': m.ints(2, 1, 3), 'strides': m.ints(2, 1, 2)}}.get(m.op, {})
    m.tested([quantized(m, dtype, *shape), *scale_and_zero(m, dtype), *scale_and_zero(m, dtype)], **attributes)


def qlinear_concat(m):
    dtype, shape = m.pick(EIGHT_BITS), m.shape(1, 4)
    axis = m.int(0, len(shape) - 1)
    inputs = scale_and_zero(m, dtype)
    for _ in range(m.int(1, 3)):
        inputs += [quantized(m, dtype, *(m.int(1, 4) if d == axis else n for d, n in enumerate(shape))),
                   *scale_and_zero(m, dtype)]
    m.tested(inputs, axis=axis)


def qlinear_where(m):
    dtype, shape = m.pick(EIGHT_BITS), m.shape(0, 3)
    m.tested([m.tensor('bool', shape), quantized(m, dtype, *shape), *scale_and_zero(m, dtype),
              quantized(m, dtype, *shape), *scale_and_zero(m, dtype), *scale_and_zero(m, dtype)])


def qgemm(m):
    dtype, weights = m.pick([('uint8', 'uint8'), ('uint8', 'int8'), ('int8', 'int8')])
    rows, inner, columns = m.int(1, 6), m.int(1, 9), m.int(1, 6)
    bias = m.data(m.rng.integers(-500, 500, [columns]).astype(np.int32)) if m.chance(0.5) else ''
    inputs = [quantized(m, dtype, rows, inner), *scale_and_zero(m, dtype), quantized(m, weights, inner, columns),
              *scale_and_zero(m, weights), bias]
    m.tested(inputs + (scale_and_zero(m, dtype) if m.chance(0.6) else []))


def dynamic_quantize_matmul(m):
    rows, inner, columns = m.int(1, 6), m.int(1, 9), m.int(1, 6)
    weights = m.pick(EIGHT_BITS)
    m.tested([f32(m, rows, inner), quantized(m, weights, inner, columns), *scale_and_zero(m, weights),
              f32(m, columns) if m.chance(0.5) else ''])


def matmul_integer_to_float(m):
    rows, inner, columns = m.int(1, 6), m.int(1, 9), m.int(1, 6)
    (a, azero), (b, bzero) = scale_and_zero(m, 'uint8'), scale_and_zero(m, 'int8')
    m.tested([quantized(m, 'uint8', rows, inner), quantized(m, 'int8', inner, columns), a, b, azero, bzero,
              f32(m, columns) if m.chance(0.5) else ''])


def matmul_n_bits(m):
    bits, block = m.pick([4, 8]), m.pick([16, 32])
    inner, columns = m.int(1, 70), m.int(1, 9)
    blocks = -(-inner // block)
    zeros = m.tensor('uint8', [columns, -(-blocks * bits // 8)], 'wide', constant=True) if m.chance(0.5) else ''
    weights = m.tensor('uint8', [columns, blocks, block * bits // 8], 'wide', constant=True)
    m.tested([f32(m, m.int(1, 4), inner), weights, f32(m, columns, blocks), zeros], K=inner, N=columns, bits=bits,
             block_size=block)


def quantize_linear(m):
    dtype, shape = m.pick(EIGHT_BITS), m.shape(1, 4)
    values = m.tensor('float32', shape, 'modest', specials=0.0) if m.op == 'QuantizeLinear' else quantized(m, dtype, *shape)
    m.tested([values, *scale_and_zero(m, dtype)], axis=0)


# Older forms of what ONNX has by now.

def pad(m):
    shape = m.shape(1, 4)
    m.tested([f32(m, *shape), m.data(np.array(m.ints(2 * len(shape), 0, 2), np.int64)), m.data(np.float32(1.5))],
             mode='constant')


def range_(m):
    m.tested([m.data(np.int64(n)) for n in (m.int(-5, 5), m.int(-5, 20), m.int(1, 4))])


def expand_dims(m):
    shape = m.shape(0, 4)
    m.tested([f32(m, *shape), m.data(np.int32(m.int(-len(shape) - 1, len(shape))), True)])


def trilu(m):
    m.tested([f32(m, *m.shape(0, 2), m.int(1, 5), m.int(1, 5)), m.data(np.int64(m.int(-4, 4)))], upper=m.int(0, 1))


GENERATORS = {
    'BiasGelu': with_bias, 'FastGelu': with_bias, 'Gelu': activation, 'QuickGelu': activation,
    'SkipLayerNormalization': skip_normalization, 'SkipSimplifiedLayerNormalization': skip_normalization,
    'EmbedLayerNormalization': embed_normalization, 'FusedMatMul': fused_matmul, 'TransposeMatMul': fused_matmul,
    'FusedGemm': fused_gemm, 'FusedConv': fused_conv, 'Attention': attention,
    'MultiHeadAttention': multi_head_attention, 'GroupQueryAttention': group_query_attention,
    'RotaryEmbedding': rotary_embedding, 'QLinearAdd': qlinear_binary, 'QLinearMul': qlinear_binary,
    **dict.fromkeys(('QLinearSigmoid', 'QLinearLeakyRelu', 'QLinearSoftmax', 'QLinearAveragePool',
                     'QLinearGlobalAveragePool'), qlinear_unary),
    'QLinearConcat': qlinear_concat, 'QLinearWhere': qlinear_where, 'QGemm': qgemm,
    'DynamicQuantizeMatMul': dynamic_quantize_matmul, 'MatMulIntegerToFloat': matmul_integer_to_float,
    'MatMulNBits': matmul_n_bits, 'QuantizeLinear': quantize_linear, 'DequantizeLinear': quantize_linear, 'Pad': pad,
    'Range': range_, 'ExpandDims': expand_dims, 'Trilu': trilu,
}
WITHOUT_DOMAIN = {'SimplifiedLayerNormalization': simplified_normalization}
