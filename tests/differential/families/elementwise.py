"""What works element by element: mathematics, activations, comparisons, logic, casts."""

import numpy as np

import elements

BINARY_TYPES = {'Pow': ('T', 'T1'), 'BitShift': ('T', 'T')}


def unary(m):
    m.tested([m.tensor(m.dtype(next(iter_parameters(m))), m.shape(), unary_style(m))],
             **m.sometimes(alpha=m.pick([0.01, 0.5, 1.0, 2.5, -0.5]), beta=m.pick([0.2, 1.0, -1.5]),
                           gamma=m.pick([1.05, 0.5, 3.0]), lambd=m.pick([0.5, 0.0, 1.5]),
                           bias=m.pick([0.0, 0.5, -1.0]), detect_negative=m.int(0, 1),
                           detect_positive=m.int(0, 1), approximate=m.pick(['none', 'tanh']),
                           saturate=1))


def iter_parameters(m):
    for parameter in m.schema.type_constraints:
        yield parameter.type_param_str


def unary_style(m):
    return {'Acosh': 'positive', 'Sqrt': 'positive', 'Log': 'positive', 'Acos': 'unit', 'Asin': 'unit',
            'Atanh': 'unit'}.get(m.op, 'any') if m.chance(0.7) else 'any'


def gated(m):
    shape, dtype = m.shape(), m.dtype()
    m.tested([m.tensor(dtype, shape), m.tensor(dtype, shape)], **m.sometimes(alpha=1.7))


def binary(m):
    shape = m.shape()
    left, right = (m.broadcast(shape), shape) if m.chance(0.5) else (shape, m.broadcast(shape))
    attributes = {}
    if m.opset < 7:
        left = right = shape
    parameters = list(iter_parameters(m))
    dtype = m.dtype(parameters[0])
    other = m.dtype('T1') if m.op == 'Pow' and 'T1' in parameters else dtype
    style = 'any'
    if m.op == 'Mod':
        attributes['fmod'] = 1 if elements.is_float(dtype) else m.int(0, 1)
    if m.op == 'BitShift':
        attributes['direction'] = m.pick(['LEFT', 'RIGHT'])
        style = 'positive'
    divides = m.op in ('Div', 'Mod') and not elements.is_float(dtype)
    if m.op == 'Pow' and not (elements.is_float(dtype) and elements.is_float(other)):
        style = 'positive'
    m.tested([m.tensor(dtype, left), m.tensor(other, right, 'positive' if divides else style)],
             **attributes)


def variadic(m):
    shape = m.shape()
    dtype = m.dtype()
    style = 'exact' if m.op in ('Mean', 'Sum') else 'any'
    operands = [m.tensor(dtype, m.broadcast(shape) if m.opset >= 8 else shape, style)
                for _ in range(m.int(1, 4))]
    m.tested(operands)


def where(m):
    shape = m.shape()
    dtype = m.dtype()
    m.tested([m.tensor('bool', m.broadcast(shape)), m.tensor(dtype, m.broadcast(shape)),
              m.tensor(dtype, m.broadcast(shape))])


def prelu(m):
    shape = m.shape(1)
    dtype = m.dtype()
    m.tested([m.tensor(dtype, shape), m.tensor(dtype, m.broadcast(shape))])


def clip(m):
    dtype = m.dtype()
    data = m.tensor(dtype, m.shape())
    low, high = m.pick([(-1, 1), (0, 6), (2, -2), (0, 0)])
    if not elements.is_float(dtype) and dtype.startswith('u'):
        low = max(low, 0)
        high = max(high, 0)
    if m.has('min'):
        m.tested([data], **m.sometimes(min=float(low), max=float(high)))
        return
    kind = elements.numpy_type(dtype)
    m.tested([data, m.parameter(low, kind) if m.chance(0.7) else '',
              m.parameter(high, kind) if m.chance(0.7) else ''])


def cast(m):
    source = m.dtype('T1')
    target = m.dtype('T2')
    floats = elements.is_float(source) and not elements.is_float(target)
    # What does not fit an integer is undefined.
    data = m.tensor(source, m.shape(), 'positive' if floats else 'any', specials=0.0 if floats else None)
    attributes = m.sometimes(saturate=m.int(0, 1)) if target.startswith('float8') else {}
    if m.op == 'CastLike':
        m.tested([data, m.tensor(target, m.shape())], **attributes)
    else:
        m.tested([data], to=elements.onnx_type(target), **attributes)


def bit_cast(m):
    groups = (('float32', 'int32', 'uint32'), ('float64', 'int64', 'uint64'),
              ('float16', 'int16', 'uint16', 'bfloat16'), ('int8', 'uint8'))
    group = m.pick(groups)
    m.tested([m.tensor(m.pick(group), m.shape())], to=elements.onnx_type(m.pick(group)))


def constant_of_shape(m):
    value = None
    if m.chance(0.7):
        from onnx import numpy_helper
        value = numpy_helper.from_array(m.array(m.dtype('T2'), [1]), 'value')
    m.tested([m.parameter(m.shape())], value=value)


def constant(m):
    from onnx import numpy_helper
    kind = m.pick([name for name in m.schema.attributes if name.startswith('value')
                   and name not in ('value_string', 'value_strings')] or ['value'])
    values = {'value': lambda: numpy_helper.from_array(m.array(m.dtype(), m.shape()), 'value'),
              'value_float': lambda: float(m.array('float32', [])),
              'value_floats': lambda: [float(x) for x in m.array('float32', [m.int(1, 4)])],
              'value_int': lambda: m.int(-5, 5),
              'value_ints': lambda: m.ints(m.int(1, 4), -5, 5),
              'sparse_value': lambda: None}
    if kind == 'sparse_value':
        kind = 'value'
    m.tested([], **{kind: values[kind]()})


def eye_like(m):
    dtype = m.pick([None, 'float32', 'int64', 'float64', 'int32'])
    m.tested([m.tensor(m.dtype('T1'), [m.extent(), m.extent()])],
             dtype=None if dtype is None else elements.onnx_type(dtype),
             **m.sometimes(k=m.int(-3, 3)))


def range_(m):
    dtype = m.dtype()
    start, limit, step = m.int(-5, 5), m.int(-5, 12), m.pick([1, 2, 3, -1, -2])
    kind = elements.numpy_type(dtype)
    if elements.is_float(dtype):
        start, step = start + m.pick([0, 0.5, 0.1]), step * m.pick([1, 0.5, 0.3])
    m.tested([m.parameter(start, kind), m.parameter(limit, kind), m.parameter(step, kind)])


def shape_of(m):
    shape = m.shape()
    m.tested([m.tensor(m.dtype('T'), shape)],
             **m.sometimes(start=m.int(-8, 8), end=m.int(-8, 8)))


def dropout(m):
    data = m.tensor(m.dtype('T'), m.shape())
    outputs = m.int(1, 2)
    if m.has('ratio'):
        m.tested([data], outputs, **m.sometimes(ratio=0.3))
        return
    ratio = m.parameter(0.3, np.float32) if m.chance(0.5) else ''
    training = m.parameter(False, bool) if m.chance(0.4) else ''
    m.tested([data, ratio, training], outputs)


GENERATORS = {
    **dict.fromkeys((
        'Abs', 'Acos', 'Acosh', 'Asin', 'Asinh', 'Atan', 'Atanh', 'BitwiseNot', 'Ceil', 'Celu', 'Cos',
        'Cosh', 'Elu', 'Erf', 'Exp', 'Floor', 'Gelu', 'HardSigmoid', 'HardSwish', 'Identity', 'IsInf',
        'IsNaN', 'LeakyRelu', 'Log', 'Mish', 'Neg', 'Not', 'Reciprocal', 'Relu', 'Round', 'Selu',
        'Shrink', 'Sigmoid', 'Sign', 'Sin', 'Sinh', 'Softplus', 'Softsign', 'Sqrt', 'Swish', 'Tan',
        'Tanh', 'ThresholdedRelu'), unary),
    **dict.fromkeys((
        'Add', 'And', 'BitShift', 'BitwiseAnd', 'BitwiseOr', 'BitwiseXor', 'Div', 'Equal', 'Greater',
        'GreaterOrEqual', 'Less', 'LessOrEqual', 'Mod', 'Mul', 'Or', 'Pow', 'Sub', 'Xor'), binary),
    **dict.fromkeys(('Max', 'Min', 'Mean', 'Sum'), variadic),
    'SwiGLU': gated, 'Where': where, 'PRelu': prelu, 'Clip': clip, 'Cast': cast, 'CastLike': cast,
    'BitCast': bit_cast, 'ConstantOfShape': constant_of_shape, 'Constant': constant,
    'EyeLike': eye_like, 'Range': range_, 'Shape': shape_of, 'Size': shape_of, 'Dropout': dropout,
}
