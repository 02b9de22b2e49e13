"""Maker: makes one random model with its inputs. Families of operators say what goes into it."""

import dataclasses

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

import elements

IR_VERSION = 10


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: dict  # Names of graph inputs to arrays, in order.

    def operators(self):
        return sorted({node.op_type for node in self.model.graph.node})


class Refused(Exception):
    """The choices made so far lead to no model; the caller tries another seed."""


class Maker:
    def __init__(self, seed, op, opset, domain=''):
        self.rng = np.random.default_rng(seed)
        self.op = op
        self.domain = domain
        self.opset = opset
        # None of ONNX Runtime's own operators, nor of graphs.
        self.schema = defs.get_schema(op, opset, domain) if op and defs.has(op, domain) else None
        self.specials = self.pick([0.0, 0.0, 0.05, 0.3])
        self.nodes = []
        self.initializers = []
        self.inputs = {}
        self.declared = []
        self.outputs = []
        self._names = 0

    # Choices.

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, choices):
        choices = list(choices)
        if not choices:
            raise Refused('nothing to choose from')
        return choices[self.rng.integers(len(choices))]

    def int(self, low, high):
        """A number from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def ints(self, count, low, high):
        return [self.int(low, high) for _ in range(count)]

    def extent(self):
        if self.chance(0.04):
            return 0
        return self.pick([1, 1, 2, 3, 3, 4, 5, 7])

    def shape(self, low=0, high=6):
        """Of a rank between low and high. Higher ranks are rarer, and narrower."""
        rank = min(self.int(low, high), self.int(low, high))
        shape = [self.extent() for _ in range(rank)]
        if self.chance(0.1) and rank:
            shape[self.int(0, rank - 1)] = self.pick([8, 9, 16, 17, 33])
        return shape

    def axis(self, rank, extra=0):
        """From -rank to rank - 1, as axes may be given from opset 11 on."""
        rank += extra
        if rank == 0:
            raise Refused('no axes')
        axis = self.int(0, rank - 1)
        return axis - rank if self.chance(0.4) and self.opset >= 11 else axis

    def axes(self, rank, count=None):
        count = self.int(0, rank) if count is None else count
        chosen = [int(a) for a in self.rng.permutation(rank)[:count]]
        if self.opset >= 11:
            chosen = [a - rank if self.chance(0.3) else a for a in chosen]
        return chosen

    def dtype(self, constraint='T', among=None):
        """One of the element types that the schema allows for a type parameter; f32 is likely."""
        for parameter in self.schema.type_constraints:
            if parameter.type_param_str == constraint:
                names = elements.tensor_types(parameter)
                if among is not None:
                    names = [name for name in names if name in among]
                if 'float32' in names and self.chance(0.4):
                    return 'float32'
                return self.pick(names)
        raise KeyError(f'{self.op} has no type parameter {constraint}')

    def array(self, dtype, shape, style='any', specials=None):
        return elements.random_array(self.rng, dtype, shape, style,
                                    self.specials if specials is None else specials)

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        cut = self.int(0, len(shape)) if self.chance(0.5) else 0
        return [1 if self.chance(0.25) else extent for extent in shape[cut:]]

    # The graph.

    def name(self, prefix='v'):
        self._names += 1
        return f'{prefix}{self._names}'

    def data(self, array, constant=None):
        """An operand: a constant or an input of the graph, some of whose extents may be open."""
        if constant is None:
            constant = self.chance(0.2)
        array = np.asarray(array)
        if constant:
            name = self.name('c')
            self.initializers.append(numpy_helper.from_array(array, name))
            return name
        name = self.name('x')
        self.inputs[name] = array
        shape = list(array.shape)
        if self.chance(0.25):
            # Programs take open extents of inputs from 1 on, and no more of them than sizes can hold.
            for d in [d for d in range(array.ndim) if shape[d] and self.chance(0.5)][:2]:
                shape[d] = f'{name}_{d}'
        self.declared.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
        return name

    def tensor(self, dtype, shape, style='any', constant=None, specials=None):
        return self.data(self.array(dtype, shape, style, specials), constant)

    def parameter(self, values, dtype=np.int64):
        """An operand such as axes or a shape, more often constant than data are."""
        return self.data(np.asarray(values, dtype=dtype), constant=self.chance(0.6))

    def has(self, attribute):
        return self.schema is None or attribute in self.schema.attributes

    def takes(self, name):
        """Whether the operator has an input of this name."""
        return any(operand.name == name for operand in self.schema.inputs)

    def node(self, op, inputs, outputs=1, domain='', **attributes):
        """Adds a node. Attributes that are None are left out. Gives the name or names of outputs."""
        names = [self.name('y') for _ in range(outputs)] if isinstance(outputs, int) else outputs
        inputs = list(inputs)
        while inputs and not inputs[-1]:
            inputs.pop()
        node = helper.make_node(op, inputs, names, domain=domain)
        for key, value in attributes.items():
            if value is not None:
                kind = onnx.AttributeProto.INTS if value == [] else None
                node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
        self.nodes.append(node)
        return names[0] if len(names) == 1 else names

    def tested(self, inputs, outputs=1, **attributes):
        """Adds the node of the operator that is tested; its outputs are the graph's."""
        known = {name: value for name, value in attributes.items() if self.has(name)}
        names = self.node(self.op, inputs, outputs, self.domain, **known)
        self.outputs += [names] if isinstance(names, str) else [name for name in names if name]
        return names

    def sometimes(self, **attributes):
        """Those of the attributes that the operator has, each or not."""
        return {name: value for name, value in attributes.items()
                if self.has(name) and self.chance(0.6)}

    def case(self, name):
        graph = helper.make_graph(
            self.nodes, 'differential', self.declared,
            [helper.make_empty_tensor_value_info(output) for output in self.outputs],
            self.initializers)
        imports = [helper.make_opsetid('', self.opset if not self.domain else 21)]
        if self.domain:
            imports.append(helper.make_opsetid(self.domain, self.opset))
        model = helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)
        return Case(name, model, self.inputs)
