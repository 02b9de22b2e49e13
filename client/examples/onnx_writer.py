"""Writes ONNX files from NumPy arrays, with nothing but NumPy.

The messages and field numbers are those of onnx.proto (Debian's libonnx-dev
installs it as /usr/include/onnx/onnx.proto); the encoding is that of protocol
buffers: https://protobuf.dev/programming-guides/encoding.

    graph = GraphBuilder("example")
    x = graph.input("x", [1, 4])
    w = graph.constant("w", numpy.ones([4, 2], numpy.float32))
    y = graph.node("MatMul", [x, w])
    graph.output(y, [1, 2])
    graph.write("example.onnx")
"""

import struct

import numpy

# TensorProto.DataType of each NumPy element type.
DATA_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
}

# AttributeProto.AttributeType.
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 4, 5, 6, 7, 8


def varint(value):
    """An integer as protobuf's varint; negative ones in two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    """A field of type int32, int64 or enum."""
    return varint(field << 3) + varint(value)


def text(field, value):
    """A field of type string, bytes or message."""
    if isinstance(value, str):
        value = value.encode()
    return b"".join([varint(field << 3 | 2), varint(len(value)), value])


def real(field, value):
    """A field of type float."""
    return varint(field << 3 | 5) + struct.pack("<f", value)


def tensor(name, array):
    """A TensorProto with raw data."""
    array = numpy.asarray(array)
    return b"".join(
        [integer(1, extent) for extent in array.shape]
        + [integer(2, DATA_TYPES[array.dtype.name]), text(8, name)]
        + [text(9, array.astype(array.dtype.newbyteorder("<")).tobytes())]
    )


def external_tensor(name, dtype, shape, **location):
    """A TensorProto whose data is in another file: location=, offset=, length=."""
    entries = [text(13, text(1, key) + text(2, str(value))) for key, value in location.items()]
    return b"".join(
        [integer(1, extent) for extent in shape]
        + [integer(2, DATA_TYPES[dtype]), text(8, name)]
        + entries
        + [integer(14, 1)]
    )


def value_info(name, dtype, shape):
    """A ValueInfoProto; a str in `shape` is a symbolic dimension, dtype None no type."""
    if dtype is None:
        return text(1, name)
    dimensions = b"".join(
        text(1, text(2, extent) if isinstance(extent, str) else integer(1, extent))
        for extent in shape
    )
    tensor_type = integer(1, DATA_TYPES[dtype]) + text(2, dimensions)
    return text(1, name) + text(2, text(1, tensor_type))


def attribute(name, value):
    """An AttributeProto; the kind follows from the Python type."""
    if isinstance(value, (bool, int)):
        kind, body = _INT, integer(3, int(value))
    elif isinstance(value, float):
        kind, body = _FLOAT, real(2, value)
    elif isinstance(value, (str, bytes)):
        kind, body = _STRING, text(4, value)
    elif isinstance(value, numpy.ndarray):
        kind, body = _TENSOR, text(5, tensor("", value))
    elif all(isinstance(item, int) for item in value):
        kind, body = _INTS, b"".join(integer(8, item) for item in value)
    elif all(isinstance(item, float) for item in value):
        kind, body = _FLOATS, b"".join(real(7, item) for item in value)
    else:
        kind, body = _STRINGS, b"".join(text(9, item) for item in value)
    return text(1, name) + body + integer(20, kind)


class GraphBuilder:
    """Collects nodes, constants, inputs and outputs; names values by itself."""

    def __init__(self, name):
        self.name = name
        self._nodes = []
        self._constants = []
        self._inputs = []
        self._outputs = []
        self._count = 0

    def input(self, name, shape, dtype="float32"):
        self._inputs.append(text(11, value_info(name, dtype, shape)))
        return name

    def constant(self, name, array):
        self._constants.append(text(5, tensor(name, array)))
        return name

    def external_constant(self, name, dtype, shape, **location):
        self._constants.append(text(5, external_tensor(name, dtype, shape, **location)))
        return name

    def node(self, operator, inputs, output=None, name=None, domain="", **attributes):
        """Adds a node with one output and returns the output's name."""
        self._count += 1
        name = name or "%s_%d" % (operator, self._count)
        output = output or name + "_out"
        parts = [text(1, item) for item in inputs]
        parts += [text(2, output), text(3, name), text(4, operator)]
        parts += [text(5, attribute(key, attributes[key])) for key in sorted(attributes)]
        if domain:
            parts.append(text(7, domain))
        self._nodes.append(text(1, b"".join(parts)))
        return output

    def output(self, name, shape, dtype="float32"):
        self._outputs.append(text(12, value_info(name, dtype, shape)))

    def serialize(self, opset=13, ir_version=7):
        graph = b"".join(
            self._nodes + [text(2, self.name)] + self._constants + self._inputs + self._outputs
        )
        return b"".join(
            [integer(1, ir_version), text(2, "slipway"), text(7, graph), text(8, integer(2, opset))]
        )

    def write(self, path, opset=13):
        with open(path, "wb") as out:
            out.write(self.serialize(opset))
