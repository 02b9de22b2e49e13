#!/usr/bin/env python3
"""Makes small models that must be refused, each for one reason.

    /usr/bin/python3 make_bad_models.py FOLDER

writes FOLDER/bad_*.onnx and FOLDER/expected.tsv: a line for each file with its name, a tab, and the words
that the refusal must contain, separated by "|": the name of whatever is wrong.
"""

import os
import sys

import numpy

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "examples")
)
import onnx_writer  # noqa: E402
from onnx_writer import GraphBuilder  # noqa: E402

CASES = []


def case(*words):
    """Registers a function that returns a file's bytes; its name is the file's."""

    def register(function):
        CASES.append((function.__name__, function, words))
        return function

    return register


def small(operator="Relu", domain="", opset=13):
    graph = GraphBuilder("small")
    x = graph.input("x", [1, 4])
    y = graph.node(operator, [x], output="y", name="the_node", domain=domain)
    graph.output(y, [1, 4])
    return graph.serialize(opset)


@case()
def bad_truncated(folder):
    data = with_weights()
    return data[: len(data) // 2]


@case()
def bad_random(folder):
    return numpy.random.Generator(numpy.random.PCG64(1)).bytes(4096)


@case("empty")
def bad_empty(folder):
    return b""


@case("the_node", "NoSuchOperator")
def bad_unknown_operator(folder):
    return small("NoSuchOperator")


@case("the_node", "com.example")
def bad_unknown_domain(folder):
    return small("Relu", domain="com.example")


@case("opset 99")
def bad_opset_too_new(folder):
    return small(opset=99)


@case("opset 0")
def bad_opset_too_old(folder):
    return small(opset=0)


@case("a_from_b")
def bad_cycle(folder):
    graph = GraphBuilder("cycle")
    x = graph.input("x", [1, 4])
    graph.node("Add", [x, "b"], output="a", name="a_from_b")
    graph.node("Relu", ["a"], output="b", name="b_from_a")
    graph.output("b", [1, 4])
    return graph.serialize()


@case("the_node", "nowhere")
def bad_undefined_value(folder):
    graph = GraphBuilder("undefined")
    x = graph.input("x", [1, 4])
    graph.output(graph.node("Add", [x, "nowhere"], output="y", name="the_node"), [1, 4])
    return graph.serialize()


@case("twice")
def bad_value_made_twice(folder):
    graph = GraphBuilder("twice")
    x = graph.input("x", [1, 4])
    graph.node("Relu", [x], output="twice", name="first")
    graph.node("Neg", [x], output="twice", name="second")
    graph.output("twice", [1, 4])
    return graph.serialize()


@case("untyped_input")
def bad_untyped(folder):
    graph = GraphBuilder("untyped")
    x = graph.input("untyped_input", [], dtype=None)
    graph.output(graph.node("Relu", [x], output="y", name="the_node"), [1, 4])
    return graph.serialize()


def with_weights(shape=(8, 3, 3, 3)):
    graph = GraphBuilder("weights")
    x = graph.input("x", [1, 3, 8, 8])
    w = graph.constant("w", numpy.ones(shape, numpy.float32))
    y = graph.node("Conv", [x, w], output="y", name="the_node", kernel_shape=[3, 3])
    graph.output(y, [1, 8, 6, 6])
    return graph.serialize()


@case("the_node")
def bad_shapes_disagree(folder):
    return with_weights((8, 5, 3, 3))


@case("the_node")
def bad_type_disagrees(folder):
    graph = GraphBuilder("types")
    x = graph.input("x", [1, 4])
    w = graph.constant("w", numpy.ones([1, 4], numpy.int64))
    graph.output(graph.node("Add", [x, w], output="y", name="the_node"), [1, 4])
    return graph.serialize()


@case("short_constant")
def bad_constant_too_short(folder):
    # dims say 4 elements, raw_data holds one.
    constant = b"".join(
        [
            onnx_writer.integer(1, 4),
            onnx_writer.integer(2, 1),
            onnx_writer.text(8, "short_constant"),
            onnx_writer.text(9, b"\0\0\0\0"),
        ]
    )
    graph = GraphBuilder("short")
    x = graph.input("x", [4])
    graph._constants.append(onnx_writer.text(5, constant))
    graph.output(graph.node("Add", [x, "short_constant"], output="y", name="the_node"), [4])
    return graph.serialize()


@case("x")
def bad_shape_overflows(folder):
    graph = GraphBuilder("overflow")
    x = graph.input("x", [1 << 30, 1 << 30, 1 << 30])
    graph.output(graph.node("Relu", [x], output="y", name="the_node"), [1 << 30] * 3)
    return graph.serialize()


@case("x")
def bad_extent_too_large(folder):
    graph = GraphBuilder("extent")
    x = graph.input("x", [1 << 31])
    graph.output(graph.node("Relu", [x], output="y", name="the_node"), [1 << 31])
    return graph.serialize()


@case("the_node|[batch, 4]|[batch, 5]")
def bad_open_shapes(folder):
    graph = GraphBuilder("symbol")
    x = graph.input("x", ["batch", 4])
    z = graph.input("z", ["batch", 5])
    graph.output(graph.node("Add", [x, z], output="y", name="the_node"), ["batch", 4])
    return graph.serialize()


def external(**location):
    graph = GraphBuilder("external")
    x = graph.input("x", [4])
    w = graph.external_constant("w", "float32", [4], **location)
    graph.output(graph.node("Add", [x, w], output="y", name="the_node"), [4])
    return graph.serialize()


@case("no_such_file.bin")
def bad_external_missing(folder):
    return external(location="no_such_file.bin")


@case("../outside.bin")
def bad_external_outside(folder):
    return external(location="../outside.bin")


@case("/etc/hostname")
def bad_external_absolute(folder):
    return external(location="/etc/hostname")


@case("w")
def bad_external_short(folder):
    with open(os.path.join(folder, "short.bin"), "wb") as out:
        out.write(b"\0" * 8)
    return external(location="short.bin", offset=4, length=16)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "expected.tsv"), "w") as expected:
        for name, make, words in CASES:
            with open(os.path.join(folder, name + ".onnx"), "wb") as out:
                out.write(make(folder))
            expected.write("%s.onnx\t%s\n" % (name, "|".join(words)))
    print("wrote %d models" % len(CASES))


if __name__ == "__main__":
    main()
