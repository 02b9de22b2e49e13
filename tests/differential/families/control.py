"""If, Loop, Scan; sequences and optionals, which only flow between nodes; what draws random numbers."""

import numpy as np
from onnx import helper

import elements


def typed(value, dtype, shape=None):
    return helper.make_tensor_value_info(value, elements.onnx_type(dtype), shape)


def if_(m):
    dtype = m.pick(['float32', 'float64', 'int64', 'int32'])
    shape = m.shape()
    a, b = m.tensor(dtype, shape, 'exact'), m.tensor(dtype, shape, 'exact')
    graphs = [helper.make_graph([helper.make_node(m.pick(['Add', 'Sub', 'Mul', 'Max']), [a, b], [f'{side}_y'])],
                                side, [], [typed(f'{side}_y', dtype)]) for side in ('then', 'else')]
    m.tested([m.data(m.array('bool', m.pick([[], [1]])))], then_branch=graphs[0], else_branch=graphs[1])


def loop(m):
    dtype = m.pick(['float32', 'float64', 'int64'])
    shape = m.shape(0, 3)
    step, limit = m.tensor(dtype, shape, 'unit' if dtype != 'int64' else 'any', specials=0.0), m.int(0, 6)
    stop = m.data(np.array(m.int(0, 7)), constant=True)
    carried = m.tensor(dtype, shape, 'unit' if dtype != 'int64' else 'any', specials=0.0)
    graph = helper.make_graph(
        [helper.make_node('Add', ['carried', step], ['next']),
         helper.make_node('Less', ['i', stop], ['again']),
         helper.make_node('Identity', ['next'], ['seen'])], 'body',
        [typed('i', 'int64', []), typed('condition', 'bool', []), typed('carried', dtype)],
        [typed('again', 'bool', []), typed('next', dtype), typed('seen', dtype)])
    m.tested([m.parameter(limit) if m.chance(0.8) else '', m.parameter(m.chance(0.8), bool), carried], 2,
             body=graph)


def scan(m):
    dtype = m.pick(['float32', 'float64', 'int64'])
    inner = m.shape(0, 2)
    steps = m.int(1, 5)
    axis = m.int(0, len(inner))
    whole = inner[:axis] + [steps] + inner[axis:]
    graph = helper.make_graph(
        [helper.make_node('Add', ['state', 'x'], ['next']), helper.make_node('Mul', ['next', 'x'], ['y'])], 'body',
        [typed('state', dtype), typed('x', dtype)], [typed('next', dtype), typed('y', dtype)])
    attributes = {'scan_input_axes': [axis], 'scan_output_axes': [m.int(0, len(inner))],
                  'scan_input_directions': [m.int(0, 1)], 'scan_output_directions': [m.int(0, 1)]}
    attributes = {name: value for name, value in attributes.items()
                  if m.chance(0.7) or (name == 'scan_input_axes' and axis)}
    m.tested([m.tensor(dtype, inner, 'exact', specials=0.0), m.tensor(dtype, whole, 'exact', specials=0.0)], 2,
             body=graph, num_scan_inputs=1, **attributes)


def hidden(m, inputs, outputs=1, **attributes):
    """The tested node, whose outputs, sequences or optionals, are read by further nodes."""
    return m.node(m.op, inputs, outputs, m.domain, **attributes)


def some_sequence(m, dtype='float32', count=None):
    count = m.int(1, 4) if count is None else count
    shapes = [m.shape(1, 2) for _ in range(count)]
    operands = [m.tensor(dtype, shape) for shape in shapes]
    return count, m.node('SequenceConstruct', operands)


def read(m, sequence, count):
    """Graph outputs that tell what is in a sequence."""
    m.outputs.append(m.node('SequenceLength', [sequence]))
    for place in range(count):
        m.outputs.append(m.node('SequenceAt', [sequence, m.parameter(place)]))


def sequence_construct(m):
    count = m.int(1, 4)
    read(m, hidden(m, [m.tensor('float32', m.shape(0, 3)) for _ in range(count)]), count)


def sequence_empty(m):
    filled = m.node('SequenceInsert', [hidden(m, [], **m.sometimes(dtype=1)), m.tensor('float32', m.shape(0, 3))])
    read(m, filled, 1)


def sequence_at(m):
    count, sequence = some_sequence(m)
    m.tested([sequence, m.parameter(m.int(-count, count - 1), m.pick([np.int64, np.int32]))])


def sequence_erase(m):
    count, sequence = some_sequence(m)
    place = m.parameter(m.int(-count, count - 1)) if m.chance(0.7) else ''
    read(m, hidden(m, [sequence, place]), count - 1)


def sequence_insert(m):
    count, sequence = some_sequence(m)
    place = m.parameter(m.int(-count, count)) if m.chance(0.7) else ''
    read(m, hidden(m, [sequence, m.tensor('float32', m.shape(0, 2)), place]), count + 1)


def sequence_length(m):
    m.tested([some_sequence(m)[1]])


def sequence_map(m):
    count, sequence = some_sequence(m)
    graph = helper.make_graph([helper.make_node(m.pick(['Neg', 'Abs', 'Identity']), ['x'], ['y'])], 'body',
                              [typed('x', 'float32')], [typed('y', 'float32')])
    read(m, hidden(m, [sequence], body=graph), count)


def concat_from_sequence(m):
    shape = m.shape(1, 3)
    axis = m.axis(len(shape))
    stacked = m.chance(0.4)
    operands = []
    for _ in range(m.int(1, 3)):
        if not stacked:
            shape[axis] = m.extent()
        operands.append(m.tensor('float32', shape))
    m.tested([m.node('SequenceConstruct', operands)], axis=axis, new_axis=int(stacked))


def split_to_sequence(m):
    shape = m.shape(1, 3)
    axis = m.axis(len(shape))
    extent = shape[axis]
    attributes = {'axis': axis}
    data = m.tensor(m.pick(['float32', 'int64']), shape)
    if m.chance(0.3):
        attributes.update(m.sometimes(keepdims=m.int(0, 1)))
        read(m, hidden(m, [data], **attributes), extent)
    elif m.chance(0.5):
        size = m.int(1, 3)
        read(m, hidden(m, [data, m.parameter(size)], **attributes), -(-extent // size))
    else:
        cuts = sorted(m.ints(2, 0, extent))
        sizes = [cuts[0], cuts[1] - cuts[0], extent - cuts[1]]
        read(m, hidden(m, [data, m.parameter(sizes)], **attributes), 3)


def optional(m):
    value = m.tensor('float32', m.shape(0, 3))
    packed = hidden(m, [value]) if m.op == 'Optional' else m.node('Optional', [value])
    if m.op == 'OptionalHasElement':
        m.tested([packed if m.chance(0.7) or m.opset < 18 else value])
    elif m.op == 'OptionalGetElement':
        m.tested([packed if m.chance(0.7) or m.opset < 18 else value])
    else:
        m.outputs.append(m.node('OptionalGetElement', [packed]))


def drawn(m):
    """Random numbers: their shape and type are compared, as numbers of no consequence."""
    like = m.op.endswith('Like') or m.op in ('Bernoulli', 'Multinomial')
    shape = m.shape(0, 4)
    attributes = m.sometimes(dtype=elements.onnx_type(m.pick(['float32', 'float64', 'float16'])), mean=0.5, scale=2.0,
                             low=-1.0, high=3.0)
    if m.op == 'Multinomial':
        attributes = m.sometimes(sample_size=m.int(1, 4))
        names = m.node(m.op, [m.tensor('float32', [m.int(1, 3), m.int(1, 4)], 'unit', specials=0.0)], 1, **attributes)
    elif like:
        if m.op == 'Bernoulli':
            attributes = {}
        names = m.node(m.op, [m.tensor('float32', shape, 'probability', specials=0.0)], 1, **attributes)
    else:
        names = m.node(m.op, [], 1, shape=shape or [1], **attributes)
    m.outputs.append(m.node('Shape', [names]))


def training(m):
    dtype = m.pick(['float32', 'float64'])
    shape = m.shape(0, 3)
    states = {'Adagrad': 1, 'Momentum': 1, 'Adam': 2}[m.op]
    count = m.int(1, 2)
    inputs = [m.data(np.array(0.1, np.float32)), m.data(np.array(m.int(0, 3), np.int64))]
    for kind in range(2 + states):
        style = 'positive' if kind >= 2 else 'modest'
        inputs += [m.tensor(dtype, shape, style, specials=0.0) for _ in range(count)]
    attributes = {'Adagrad': {'norm_coefficient': 0.01, 'decay_factor': 0.1, 'epsilon': 1e-6},
                  'Momentum': {'norm_coefficient': 0.01, 'alpha': 0.9, 'beta': 1.0,
                               'mode': m.pick(['standard', 'nesterov'])},
                  'Adam': {'norm_coefficient': 0.01, 'norm_coefficient_post': 0.02, 'alpha': 0.9, 'beta': 0.99,
                           'epsilon': 1e-6}}[m.op]
    m.tested(inputs, (1 + states) * count, **attributes)


GENERATORS = {
    'If': if_, 'Loop': loop, 'Scan': scan, 'SequenceConstruct': sequence_construct,
    'SequenceEmpty': sequence_empty, 'SequenceAt': sequence_at, 'SequenceErase': sequence_erase,
    'SequenceInsert': sequence_insert, 'SequenceLength': sequence_length, 'SequenceMap': sequence_map,
    'ConcatFromSequence': concat_from_sequence, 'SplitToSequence': split_to_sequence,
    **dict.fromkeys(('Optional', 'OptionalGetElement', 'OptionalHasElement'), optional),
    **dict.fromkeys(('RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike', 'Bernoulli',
                     'Multinomial'), drawn),
}
TRAINING = dict.fromkeys(('Adagrad', 'Adam', 'Momentum'), training)
