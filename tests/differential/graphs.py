"""Random graphs of 5 to 50 nodes: what fusion, layouts and memory plans can get wrong."""

import numpy as np

import maker

OPSET = 21
SMOOTH = ('Relu', 'Tanh', 'Sigmoid', 'Neg', 'Abs', 'Softplus', 'Elu', 'LeakyRelu', 'HardSigmoid', 'Erf', 'Sin', 'Cos',
          'HardSwish', 'Identity', 'Softsign', 'Gelu', 'Mish')


class Graph:
    """A Maker, and the values made so far with their shapes. All are f32."""

    def __init__(self, seed):
        self.m = maker.Maker(seed, None, OPSET)
        self.m.specials = 0.0
        self.values = []
        batch, channels = self.m.int(1, 3), self.m.pick([1, 3, 8, 16])
        for _ in range(self.m.int(1, 3)):
            shape = self.m.pick([[batch, channels, 6, 5], [batch, 4, 8], [batch, 8], [8], [batch, 16, 9, 9]])
            self.add(self.m.tensor('float32', shape, 'unit', constant=False), shape)

    def add(self, name, shape):
        if np.prod(shape) <= 20000:
            self.values.append((name, list(shape)))

    def value(self, low=0, high=6):
        """One of the values of a rank between low and high, more likely a late one."""
        chosen = [value for value in self.values if low <= len(value[1]) <= high]
        if not chosen:
            raise maker.Refused(f'nothing of rank {low} to {high}')
        late = chosen[len(chosen) // 2:]
        return self.m.pick(late if self.m.chance(0.7) else chosen)

    def weights(self, shape, fan_in=1):
        values = self.m.rng.uniform(-1, 1, shape) / np.sqrt(fan_in)
        return self.m.data(values.astype(np.float32), constant=True)

    def ints(self, values):
        return self.m.data(np.asarray(values, np.int64), constant=True)


def unary(g):
    name, shape = g.value()
    g.add(g.m.node(g.m.pick(SMOOTH), [name]), shape)


def binary(g):
    name, shape = g.value()
    same = [value for value, other in g.values if other == shape]
    other = g.m.pick(same) if g.m.chance(0.6) else g.weights(g.m.broadcast(shape))
    g.add(g.m.node(g.m.pick(['Add', 'Sub', 'Mul', 'Max', 'Min']), [name, other] if g.m.chance(0.7) else [other, name]),
          shape)


def where(g):
    name, shape = g.value()
    condition = g.m.node(g.m.pick(['Greater', 'LessOrEqual']), [name, g.weights([])])
    g.add(g.m.node('Where', [condition, name, g.weights(g.m.broadcast(shape))]), shape)


def transpose(g):
    name, shape = g.value()
    perm = [int(a) for a in g.m.rng.permutation(len(shape))]
    g.add(g.m.node('Transpose', [name], perm=perm), [shape[a] for a in perm])


def reshape(g):
    name, shape = g.value()
    size, target = int(np.prod(shape)), []
    for _ in range(g.m.int(0, 3)):
        target.append(g.m.pick([d for d in range(1, 17) if size % d == 0]))
        size //= target[-1]
    target.append(size)
    g.add(g.m.node('Reshape', [name, g.ints(target)]), target)


def slice_(g):
    name, shape = g.value(1)
    axis = g.m.int(0, len(shape) - 1)
    start = g.m.int(0, shape[axis] - 1)
    end = g.m.int(start + 1, shape[axis])
    step = g.m.pick([1, 1, 2])
    shape = shape[:axis] + [-(-(end - start) // step)] + shape[axis + 1:]
    g.add(g.m.node('Slice', [name, g.ints([start]), g.ints([end]), g.ints([axis]), g.ints([step])]), shape)


def concat(g):
    name, shape = g.value(1)
    axis = g.m.int(0, len(shape) - 1)
    same = [(value, other) for value, other in g.values
            if len(other) == len(shape) and other[:axis] + other[axis + 1:] == shape[:axis] + shape[axis + 1:]]
    parts = [g.m.pick(same) for _ in range(g.m.int(1, 3))]
    total = sum(other[axis] for _, other in parts)
    g.add(g.m.node('Concat', [value for value, _ in parts], axis=axis), shape[:axis] + [total] + shape[axis + 1:])


def split(g):
    name, shape = g.value(1)
    axis = g.m.int(0, len(shape) - 1)
    cut = g.m.int(0, shape[axis])
    first, second = g.m.node('Split', [name, g.ints([cut, shape[axis] - cut])], 2, axis=axis)
    for part, extent in ((first, cut), (second, shape[axis] - cut)):
        if extent:
            g.add(part, shape[:axis] + [extent] + shape[axis + 1:])


def pad(g):
    name, shape = g.value(1)
    pads = g.m.ints(2 * len(shape), 0, 2)
    g.add(g.m.node('Pad', [name, g.ints(pads)]),
          [n + pads[d] + pads[d + len(shape)] for d, n in enumerate(shape)])


def gather(g):
    name, shape = g.value(1)
    axis = g.m.int(0, len(shape) - 1)
    places = g.m.rng.integers(-shape[axis], shape[axis], [g.m.int(1, 4)])
    g.add(g.m.node('Gather', [name, g.ints(places)], axis=axis), shape[:axis] + [len(places)] + shape[axis + 1:])


def unsqueeze(g):
    name, shape = g.value(0, 4)
    axis = g.m.int(0, len(shape))
    g.add(g.m.node('Unsqueeze', [name, g.ints([axis])]), shape[:axis] + [1] + shape[axis:])


def reduce(g):
    name, shape = g.value(1)
    axes = sorted(int(a) for a in g.m.rng.permutation(len(shape))[:g.m.int(1, max(len(shape), 1))])
    keep = g.m.int(0, 1)
    left = [1 if d in axes else n for d, n in enumerate(shape) if keep or d not in axes]
    g.add(g.m.node(g.m.pick(['ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL2']), [name, g.ints(axes)], keepdims=keep),
          left)


def softmax(g):
    name, shape = g.value(1)
    g.add(g.m.node(g.m.pick(['Softmax', 'LogSoftmax']), [name], axis=g.m.int(-len(shape), len(shape) - 1)), shape)


def layer_normalization(g):
    name, shape = g.value(1)
    g.add(g.m.node('LayerNormalization', [name, g.weights(shape[-1:]), g.weights(shape[-1:])], epsilon=0.1), shape)


def matmul(g):
    name, shape = g.value(1)
    columns = g.m.int(1, 9)
    g.add(g.m.node('MatMul', [name, g.weights([shape[-1], columns], shape[-1])]), shape[:-1] + [columns])


def gemm(g):
    name, shape = g.value(2, 2)
    columns = g.m.pick([1, 4, 7, 16])
    g.add(g.m.node('Gemm', [name, g.weights([columns, shape[1]], shape[1]), g.weights([columns])], transB=1),
          [shape[0], columns])


def conv(g):
    name, shape = g.value(4, 4)
    groups = g.m.pick([1, 1, shape[1]])
    out = groups * g.m.pick([1, 2, 8] if groups == 1 else [1, 2])
    kernel = [g.m.int(1, min(3, n)) for n in shape[2:]]
    strides, pads = g.m.ints(2, 1, 2), g.m.ints(4, 0, 1)
    spatial = [(shape[2 + d] + pads[d] + pads[2 + d] - kernel[d]) // strides[d] + 1 for d in range(2)]
    fan = shape[1] // groups * kernel[0] * kernel[1]
    inputs = [name, g.weights([out, shape[1] // groups] + kernel, fan)]
    if g.m.chance(0.6):
        inputs.append(g.weights([out]))
    g.add(g.m.node('Conv', inputs, group=groups, strides=strides, pads=pads), [shape[0], out] + spatial)


def batch_normalization(g):
    name, shape = g.value(4, 4)
    channels = [shape[1]]
    variance = g.m.data((g.m.rng.uniform(0.5, 2, channels)).astype(np.float32), constant=True)
    g.add(g.m.node('BatchNormalization', [name, *(g.weights(channels) for _ in range(3)), variance]), shape)


def pool(g):
    name, shape = g.value(4, 4)
    kernel = [g.m.int(1, min(3, n)) for n in shape[2:]]
    strides = g.m.ints(2, 1, 2)
    spatial = [(shape[2 + d] - kernel[d]) // strides[d] + 1 for d in range(2)]
    g.add(g.m.node(g.m.pick(['MaxPool', 'AveragePool']), [name], kernel_shape=kernel, strides=strides),
          shape[:2] + spatial)


def global_pool(g):
    name, shape = g.value(4, 4)
    g.add(g.m.node(g.m.pick(['GlobalAveragePool', 'GlobalMaxPool']), [name]), shape[:2] + [1, 1])


def clip(g):
    name, shape = g.value()
    low, high = (g.m.data(np.float32(x), constant=True) for x in (-0.5, 0.7))
    g.add(g.m.node('Clip', [name, low if g.m.chance(0.7) else '', high]), shape)


def cast(g):
    name, shape = g.value()
    g.add(g.m.node('Cast', [g.m.node('Cast', [name], to=g.m.pick([1, 11]))], to=1), shape)


STEPS = (unary,) * 4 + (binary,) * 4 + (where, transpose, reshape, slice_, concat, split, pad, gather, unsqueeze, reduce,
                                        softmax, layer_normalization, matmul, gemm, conv, conv, batch_normalization, pool,
                                        global_pool, clip, cast)


def graph(seed):
    """A model of 5 to 50 nodes; the same for the same seed."""
    g = Graph([seed, 1])
    wanted = g.m.int(5, 50)
    while len(g.m.nodes) < wanted:
        try:
            g.m.pick(STEPS)(g)
        except maker.Refused:
            continue
    read = {name for node in g.m.nodes for name in node.input}
    made = {name for node in g.m.nodes for name in node.output}
    # What nothing reads, and now and then something that is also read further on.
    g.m.outputs = [name for name, _ in g.values if name in made and (name not in read or g.m.chance(0.05))]
    return g.m.case(f'graph-{seed}')
