"""What reduces or scans axes: sums, extremes, Softmax, TopK, running sums; and products of matrices."""

import numpy as np

import elements


def reduce(m):
    shape = m.shape()
    dtype = m.dtype()
    if dtype in ('float32', 'float64') and m.op in ('ReduceSum', 'ReduceMean', 'ReduceSumSquare', 'ReduceL1'):
        style = 'exact'
    else:
        style = 'positive' if m.op == 'ReduceLogSum' else 'exact'
    inputs = [m.tensor(dtype, shape, style)]
    attributes = m.sometimes(keepdims=m.int(0, 1))
    if m.chance(0.75):
        axes = m.axes(len(shape))
        if m.has('axes'):
            attributes['axes'] = axes or None
        else:
            inputs.append(m.parameter(axes))
            attributes.update(m.sometimes(noop_with_empty_axes=m.int(0, 1)))
    m.tested(inputs, **attributes)


def arg(m):
    shape = m.shape(1)
    m.tested([m.tensor(m.dtype(), shape, 'exact')], axis=m.axis(len(shape)),
             **m.sometimes(keepdims=m.int(0, 1), select_last_index=m.int(0, 1)))


def softmax(m):
    shape = m.shape(1)
    m.tested([m.tensor(m.dtype(), shape)], **m.sometimes(axis=m.axis(len(shape))))


def cumulative(m):
    shape = m.shape(1)
    dtype = m.dtype()
    m.tested([m.tensor(dtype, shape, 'exact'), m.parameter(m.axis(len(shape)), m.pick([np.int64, np.int32]))],
             **m.sometimes(exclusive=m.int(0, 1), reverse=m.int(0, 1)))


def top_k(m):
    shape = m.shape(1)
    axis = m.axis(len(shape))
    count = m.int(0, shape[axis])
    data = m.tensor(m.dtype(), shape, specials=0.0)
    attributes = m.sometimes(largest=m.int(0, 1), sorted=1)
    if m.has('k'):
        m.tested([data], 2, axis=axis, k=max(count, 1))
    else:
        m.tested([data, m.parameter([count])], 2, axis=axis, **attributes)


def matmul(m):
    rows, inner, columns = m.extent(), m.extent(), m.extent()
    batch = m.shape(0, 3)
    left = m.broadcast(batch) + [rows, inner] if m.chance(0.85) else [inner]
    right = m.broadcast(batch) + [inner, columns] if m.chance(0.85) else [inner]
    if m.op == 'MatMulInteger':
        quantized_matmul(m, left, right, columns)
        return
    dtype = m.dtype()
    m.tested([m.tensor(dtype, left, 'exact'), m.tensor(dtype, right, 'exact')])


def quantized_matmul(m, left, right, columns):
    a, b = m.dtype('T1'), m.dtype('T2')
    zero_a = m.tensor(a, [], 'wide') if m.chance(0.5) else ''
    zero_b = m.tensor(b, m.pick([[], [columns]]) if len(right) == 2 else [], 'wide') if m.chance(0.5) else ''
    m.tested([m.tensor(a, left, 'wide'), m.tensor(b, right, 'wide'), zero_a, zero_b])


def gemm(m):
    rows, inner, columns = m.extent(), m.extent(), m.extent()
    ta, tb = m.int(0, 1), m.int(0, 1)
    dtype = m.dtype()
    integral = not elements.is_float(dtype)
    inputs = [m.tensor(dtype, [inner, rows] if ta else [rows, inner], 'exact'),
              m.tensor(dtype, [columns, inner] if tb else [inner, columns], 'exact')]
    if m.chance(0.7) or m.opset < 11:
        inputs.append(m.tensor(dtype, m.broadcast([rows, columns]), 'exact'))
    scales = [1.0, 2.0] if integral else [0.5, 2.0, -1.0, 0.0]
    m.tested(inputs, transA=ta, transB=tb, **m.sometimes(alpha=m.pick(scales), beta=m.pick(scales)))


EQUATIONS = (
    ('ij,jk->ik', 2), ('ij->ji', 1), ('ii->i', 1), ('ii', 1), ('ij->', 1), ('bij,bjk->bik', 2),
    ('...ij,...jk->...ik', 2), ('i,j->ij', 2), ('ij,ij->', 2), ('bhqd,bhkd->bhqk', 2), ('ij,j', 2),
    ('ij,kj,kl->il', 3), ('i...->...i', 1), ('...,...', 2), ('a b , b -> a', 2), ('abc,cd,de->abe', 3))


def einsum(m):
    equation, count = m.pick(EQUATIONS)
    extents = {}
    dots = m.shape(0, 2)
    dtype = m.dtype()
    operands = []
    for term in equation.split('->')[0].replace(' ', '').split(','):
        before, ellipsis, after = term.partition('...')
        shape = [extents.setdefault(c, m.extent()) for c in before]
        if ellipsis:
            shape += dots
        shape += [extents.setdefault(c, m.extent()) for c in after]
        operands.append(m.tensor(dtype, shape, 'exact'))
    m.tested(operands, equation=equation)


def det(m):
    n = m.int(1, 4)
    m.tested([m.tensor(m.dtype(), m.shape(0, 2) + [n, n], 'exact', specials=0.0)])


GENERATORS = {
    **dict.fromkeys(('ReduceL1', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp', 'ReduceMax', 'ReduceMean',
                     'ReduceMin', 'ReduceProd', 'ReduceSum', 'ReduceSumSquare'), reduce),
    'ArgMax': arg, 'ArgMin': arg, 'Softmax': softmax, 'LogSoftmax': softmax, 'Hardmax': softmax,
    'CumSum': cumulative, 'CumProd': cumulative, 'TopK': top_k, 'MatMul': matmul,
    'MatMulInteger': matmul, 'Gemm': gemm, 'Einsum': einsum, 'Det': det,
}
