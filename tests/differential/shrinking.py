"""Makes a failing model small.

`fails` tells of a case whether it still fails. A graph is cut down to the first node that differs, then extents, attributes
and operands go one by one, as long as the failure stays.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper

import maker

MOST_TRIES = 80


def _copy(case):
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    return maker.Case(case.name, model, dict(case.inputs))


def _prune(case):
    """Drops nodes, inputs and constants that no output needs."""
    graph = case.model.graph
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.insert(0, node)
            needed |= set(node.input)
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    needed |= set(inner.input)
    for field, values in (('node', kept), ('input', [i for i in graph.input if i.name in needed]),
                          ('initializer', [i for i in graph.initializer if i.name in needed])):
        values = [type(value).FromString(value.SerializeToString()) for value in values]
        graph.ClearField(field)
        getattr(graph, field).extend(values)
    case.inputs = {name: array for name, array in case.inputs.items() if name in needed}
    return case


def prefixes(case):
    """The case with one node's outputs as the graph's only ones, for each node in turn."""
    if len(case.model.graph.node) == 1:
        return
    for node in case.model.graph.node:
        shorter = _copy(case)
        shorter.model.graph.ClearField('output')
        shorter.model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in node.output if name)
        yield _prune(shorter)


def smaller(case):
    """Cases with one thing less, those that lose most first."""
    arrays = [*case.inputs.values(), *(numpy_helper.to_array(t) for t in case.model.graph.initializer)]
    for extent in sorted({n for array in arrays for n in array.shape if n > 1}, reverse=True):
        for shorter in sorted({1, extent // 2, extent - 1}):
            yield _cut(case, extent, shorter)
    for node in range(len(case.model.graph.node)):
        for attribute in range(len(case.model.graph.node[node].attribute)):
            less = _copy(case)
            del less.model.graph.node[node].attribute[attribute]
            yield less
        if len(case.model.graph.node[node].input) > 1:
            less = _copy(case)
            less.model.graph.node[node].input.pop()
            yield _prune(less)
    if len(case.model.graph.output) > 1:
        for output in range(len(case.model.graph.output)):
            less = _copy(case)
            kept = less.model.graph.output[output].name
            less.model.graph.ClearField('output')
            less.model.graph.output.append(helper.make_empty_tensor_value_info(kept))
            yield _prune(less)


def _cut(case, extent, shorter):
    """All axes of one extent, cut to another."""
    less = _copy(case)

    def cut(array):
        return np.ascontiguousarray(array[tuple(slice(shorter) if n == extent else slice(None) for n in array.shape)])

    less.inputs = {name: cut(array).reshape([shorter if n == extent else n for n in array.shape])
                   for name, array in less.inputs.items()}
    for declared in less.model.graph.input:
        for dimension in declared.type.tensor_type.shape.dim:
            if dimension.HasField('dim_value') and dimension.dim_value == extent:
                dimension.dim_value = shorter
    for tensor in less.model.graph.initializer:
        if extent in tensor.dims:
            tensor.CopyFrom(numpy_helper.from_array(cut(numpy_helper.to_array(tensor)), tensor.name))
    return less


def shrink(case, fails):
    """The smallest case found that still fails: a model of fewer nodes, attributes, operands and elements."""
    for shorter in prefixes(case):
        if fails(shorter):
            case = shorter
            break
    tries = MOST_TRIES
    found = True
    while found and tries > 0:
        found = False
        for less in smaller(case):
            tries -= 1
            if fails(less):
                case, found = less, True
                break
            if tries == 0:
                break
    return case
