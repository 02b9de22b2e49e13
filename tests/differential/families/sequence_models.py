"""Recurrent networks, attention, rotary embedding."""

import numpy as np

import elements

GATES = {'RNN': 1, 'GRU': 3, 'LSTM': 4}
FUNCTIONS = {'RNN': 1, 'GRU': 2, 'LSTM': 3}
ACTIVATIONS = ('Tanh', 'Sigmoid', 'Relu', 'LeakyRelu', 'Softplus', 'Elu', 'HardSigmoid', 'Softsign', 'Affine',
               'ThresholdedRelu', 'ScaledTanh')


def recurrent(m):
    gates = GATES[m.op]
    steps, batch, width, hidden = m.int(1, 5), m.int(1, 4), m.int(1, 5), m.int(1, 5)
    direction = m.pick(['forward', 'reverse', 'bidirectional'])
    directions = 2 if direction == 'bidirectional' else 1
    layout = m.int(0, 1) if m.has('layout') and m.chance(0.2) else 0
    dtype = m.dtype()

    def tensor(shape):
        return m.tensor(dtype, shape, 'unit', specials=0.0)

    def state():
        return tensor([batch, directions, hidden] if layout else [directions, batch, hidden])

    inputs = [tensor([batch, steps, width] if layout else [steps, batch, width]),
              tensor([directions, gates * hidden, width]), tensor([directions, gates * hidden, hidden]),
              tensor([directions, 2 * gates * hidden]) if m.chance(0.6) else '',
              m.data(m.rng.integers(1, steps + 1, batch).astype(np.int32)) if m.chance(0.4) else '',
              state() if m.chance(0.5) else '']
    if m.op == 'LSTM':
        inputs += [state() if m.chance(0.5) else '',
                   tensor([directions, 3 * hidden]) if m.chance(0.3) else '']
    attributes = {'hidden_size': hidden, 'direction': direction, 'layout': layout or None}
    if m.chance(0.4):
        attributes['activations'] = [m.pick(ACTIVATIONS[:3] if m.chance(0.6) else ACTIVATIONS)
                                     for _ in range(FUNCTIONS[m.op] * directions)]
        count = len(attributes['activations'])
        if any(name in ('Affine', 'ScaledTanh', 'ThresholdedRelu') for name in attributes['activations']):
            attributes['activation_alpha'] = [0.5] * count
            attributes['activation_beta'] = [0.25] * count
    attributes.update(m.sometimes(clip=0.7, input_forget=m.int(0, 1), linear_before_reset=m.int(0, 1)))
    names = [m.name('y') if m.chance(0.7) else '' for _ in range(3 if m.op == 'LSTM' else 2)]
    if not any(names):
        names[0] = m.name('y')
    while not names[-1]:
        names.pop()
    m.tested(inputs, names, **attributes)


def attention(m):
    batch, heads, shared = m.int(1, 2), m.int(1, 2), m.int(1, 3)
    queries, keys, width, value_width = m.int(1, 5), m.int(1, 5), m.int(1, 6), m.int(1, 6)
    query_heads, dtype = heads * shared, m.dtype('T1')
    flat = m.chance(0.4)
    attributes = m.sometimes(scale=0.3, is_causal=m.int(0, 1), softcap=m.pick([0.0, 2.0]))

    def tensor(count, length, size):
        shape = [batch, length, count * size] if flat else [batch, count, length, size]
        return m.tensor(dtype, shape, 'unit', specials=0.0)

    if flat:
        attributes.update(q_num_heads=query_heads, kv_num_heads=heads)
    past = m.int(1, 3) if m.chance(0.3) else 0
    inputs = [tensor(query_heads, queries, width), tensor(heads, keys, width), tensor(heads, keys, value_width)]
    mask = ''
    if m.chance(0.5):
        kind = 'bool' if m.chance(0.5) else dtype
        shape = m.broadcast([batch, query_heads, queries, keys + past])
        shape = shape if len(shape) >= 2 else [queries, keys + past]
        shape[-1] = keys + past
        mask = m.tensor(kind, shape, 'unit', specials=0.0)
    inputs.append(mask)
    if past:
        inputs += [m.tensor(dtype, [batch, heads, past, width], 'unit', specials=0.0),
                   m.tensor(dtype, [batch, heads, past, value_width], 'unit', specials=0.0)]
    outputs = 1 if not past and m.chance(0.6) else 3
    if m.chance(0.15) and outputs == 3:
        outputs = 4
        attributes.update(m.sometimes(qk_matmul_output_mode=m.int(0, 3)))
    m.tested(inputs, outputs, **attributes)


def linear_attention(m):
    batch, heads, length, width, value_width = (m.int(1, 2), m.int(1, 3), m.int(1, 5), m.int(1, 4), m.int(1, 4))
    dtype = m.dtype()
    rule = m.pick(['linear', 'gated', 'delta', 'gated_delta'])

    def tensor(size):
        return m.tensor(dtype, [batch, length, heads * size], 'unit', specials=0.0)

    gate = m.tensor(dtype, [batch, length, heads], 'unit', specials=0.0) if 'gated' in rule else ''
    beta = m.tensor(dtype, [batch, length, heads], 'probability', specials=0.0) if 'delta' in rule else ''
    state = m.tensor(dtype, [batch, heads, width, value_width], 'unit', specials=0.0) if m.chance(0.4) else ''
    m.tested([tensor(width), tensor(width), tensor(value_width), state, gate, beta], 2, q_num_heads=heads,
             kv_num_heads=heads, update_rule=rule, **m.sometimes(scale=0.5, chunk_size=m.int(1, 4)))


def rotary(m):
    batch, heads, length, half = m.int(1, 2), m.int(1, 3), m.int(1, 5), m.int(1, 4)
    dtype = m.dtype()
    flat = m.chance(0.4)
    width = 2 * half + (2 * m.int(0, 2))
    rotated = width // 2 if m.chance(0.6) else half
    attributes = m.sometimes(interleaved=m.int(0, 1))
    if rotated == half and 2 * half != width:
        attributes['rotary_embedding_dim'] = 2 * half
    else:
        rotated = width // 2
    if flat:
        attributes['num_heads'] = heads
    shape = [batch, length, heads * width] if flat else [batch, heads, length, width]
    if m.chance(0.6):
        rows = m.int(length, 8)
        cache = [rows, rotated]
        positions = m.data(m.rng.integers(0, rows, [batch, length]).astype(np.int64))
    else:
        cache, positions = [batch, length, rotated], ''
    m.tested([m.tensor(dtype, shape, specials=0.0), m.tensor(dtype, cache, 'unit', specials=0.0),
              m.tensor(dtype, cache, 'unit', specials=0.0), positions], **attributes)


def flex_attention(m):
    batch, heads, shared, queries, keys, width = (m.int(1, 2), m.int(1, 2), m.int(1, 2), m.int(1, 5), m.int(1, 5), m.int(1, 5))
    dtype = m.dtype('T1')

    def tensor(count, length, size):
        return m.tensor(dtype, [batch, count, length, size], 'unit', specials=0.0)

    m.tested([tensor(heads * shared, queries, width), tensor(heads, keys, width), tensor(heads, keys, m.int(1, 5))],
             **m.sometimes(scale=0.3))


PREVIEW = {'FlexAttention': flex_attention}
GENERATORS = {**dict.fromkeys(('RNN', 'GRU', 'LSTM'), recurrent), 'Attention': attention,
              'LinearAttention': linear_attention, 'RotaryEmbedding': rotary}
