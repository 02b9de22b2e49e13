#!/usr/bin/env python3
"""Makes models of hundreds of megabytes and more, to see what compiling them takes.

    /usr/bin/python3 make_large_models.py products OUTPUT.onnx --count 12 --size 8192
    /usr/bin/python3 make_large_models.py mixed OUTPUT.onnx --count 32 --size 2048

products: COUNT matrices of SIZE x SIZE, one product after the other, their numbers in OUTPUT.onnx.data beside the model.
mixed: convolutions with BatchNormalization (76 MB), then COUNT products, of which every other matrix is transposed (Gemm's
transB, or a Transpose), all inside the model. The same arguments give the same bytes. Needs Debian's python3-numpy.
"""

import argparse
import os
import sys

import numpy

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "examples")
)
from onnx_writer import GraphBuilder  # noqa: E402


def matrix(rng, rows, columns):
    """Keeps the scale of what is multiplied by it."""
    scale = numpy.float32(rows**-0.5)
    return rng.standard_normal([rows, columns], numpy.float32) * scale


def products(rng, count, size, path):
    graph = GraphBuilder("products")
    x = graph.input("x", [1, size])
    data_path = path + ".data"
    with open(data_path, "wb") as data:
        for i in range(count):
            location = {"location": os.path.basename(data_path), "offset": data.tell()}
            data.write(matrix(rng, size, size).astype("<f4").tobytes())
            location["length"] = data.tell() - location["offset"]
            weight = graph.external_constant("w%d" % i, "float32", [size, size], **location)
            x = graph.node("MatMul", [x, weight], name="product%d" % i)
    graph.output(x, [1, size])
    return graph


def conv_norm(graph, rng, x, name, channels_in, channels, stride):
    """A 3x3 convolution with its BatchNormalization and Relu."""
    weight = rng.standard_normal([channels, channels_in, 3, 3], numpy.float32)
    weight *= numpy.float32((2 / (9 * channels_in)) ** 0.5)
    x = graph.node(
        "Conv",
        [x, graph.constant(name + ".weight", weight)],
        name=name,
        kernel_shape=[3, 3],
        strides=[stride, stride],
        pads=[1, 1, 1, 1],
    )
    ones = numpy.ones(channels, numpy.float32)
    moments = [("scale", ones), ("bias", 0 * ones), ("mean", 0 * ones), ("variance", ones)]
    inputs = [graph.constant("%s.%s" % (name, key), value) for key, value in moments]
    x = graph.node("BatchNormalization", [x] + inputs, name=name + ".norm")
    return graph.node("Relu", [x], name=name + ".relu")


def mixed(rng, count, size, path):
    graph = GraphBuilder("mixed")
    x = graph.input("image", [1, 64, 32, 32])
    channels = 64
    for i in range(10):
        x = conv_norm(graph, rng, x, "conv%d" % i, channels, 512, 2 if i % 4 == 0 else 1)
        channels = 512
    x = graph.node("GlobalAveragePool", [x], name="pool")
    x = graph.node("Flatten", [x], name="flatten")
    width = channels
    for i in range(count):
        name = "product%d" % i
        if i % 4 == 1:
            weight = graph.constant(name + ".weight", matrix(rng, size, width))
            bias = graph.constant(name + ".bias", numpy.zeros(size, numpy.float32))
            x = graph.node("Gemm", [x, weight, bias], name=name, transB=1)
        elif i % 4 == 3:
            weight = graph.constant(name + ".weight", matrix(rng, size, width))
            weight = graph.node("Transpose", [weight], name=name + ".transpose", perm=[1, 0])
            x = graph.node("MatMul", [x, weight], name=name)
        else:
            weight = graph.constant(name + ".weight", matrix(rng, width, size))
            x = graph.node("MatMul", [x, weight], name=name)
        width = size
    graph.output(x, [1, size])
    return graph


MODELS = {"products": products, "mixed": mixed}


def main():
    parser = argparse.ArgumentParser(description="Makes a large model with seeded random weights.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("output", help="file to write")
    parser.add_argument("--count", type=int, default=12, help="how many products")
    parser.add_argument("--size", type=int, default=8192, help="rows and columns of each matrix")
    arguments = parser.parse_args()
    rng = numpy.random.Generator(numpy.random.PCG64(1))
    graph = MODELS[arguments.model](rng, arguments.count, arguments.size, arguments.output)
    graph.write(arguments.output)
    print("wrote %s (%d bytes)" % (arguments.output, os.path.getsize(arguments.output)))


if __name__ == "__main__":
    main()
