#!/usr/bin/env python3
"""Makes large models with seeded random weights: the real architectures, without a download.

    /usr/bin/python3 make_models.py resnet50 OUTPUT.onnx
    /usr/bin/python3 make_models.py mobilenet_v2 OUTPUT.onnx

Weights have He scale, and BatchNorm statistics are near what its inputs really have, so that activations
neither vanish nor explode and every output depends on every weight. The same seed gives the same bytes.
Needs Debian's python3-numpy.
"""

import argparse
import math
import os
import sys

import numpy

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "examples")
)
from onnx_writer import GraphBuilder  # noqa: E402


class ConvNet:
    """A graph under construction that keeps an estimate of its activations' moments.

    The estimate treats activations as normal and independent, which is enough for statistics that a trained
    network could have.
    """

    def __init__(self, name, seed):
        self.graph = GraphBuilder(name)
        self.rng = numpy.random.Generator(numpy.random.PCG64(seed))
        self.moments = {}  # Of each value: mean and mean square.
        self.channels = {}

    def input(self, name, channels, size):
        self.graph.input(name, [1, channels, size, size])
        self.moments[name] = (0.0, 1.0)
        self.channels[name] = channels
        return name

    def conv_norm(self, x, name, channels, kernel, stride=1, group=1, gain=1.0):
        """Conv without bias, then BatchNormalization, whose scale is about `gain`."""
        inner = self.channels[x] // group
        fan_in = inner * kernel * kernel
        shape = [channels, inner, kernel, kernel]
        weight = self.rng.standard_normal(shape, numpy.float32) * numpy.float32((2 / fan_in) ** 0.5)
        pad = kernel // 2
        y = self.graph.node(
            "Conv",
            [x, self.graph.constant(name + ".weight", weight)],
            name=name,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[pad, pad, pad, pad],
            group=group,
            dilations=[1, 1],
        )
        variance = 2 * self.moments[x][1]
        parameters = {
            "scale": gain * self.rng.uniform(0.7, 1.3, channels),
            "bias": self.rng.normal(0, 0.1, channels),
            "mean": self.rng.normal(0, 0.1, channels) * variance**0.5,
            "var": variance * self.rng.uniform(0.7, 1.4, channels),
        }
        constants = [
            self.graph.constant(name + ".norm." + key, value.astype(numpy.float32))
            for key, value in parameters.items()
        ]
        y = self.graph.node(
            "BatchNormalization", [y] + constants, name=name + ".norm", epsilon=1e-5
        )
        self.moments[y] = (0.0, gain * gain + 0.01)
        self.channels[y] = channels
        return y

    def relu(self, x, name, cap=None):
        if cap is None:
            y = self.graph.node("Relu", [x], name=name)
        else:
            y = self.graph.node("Clip", [x, "zero", "six"], name=name)
        # Of max(0, z) for a normal z.
        mean, mean_square = self.moments[x]
        deviation = (mean_square - mean * mean) ** 0.5
        at_zero = mean / deviation
        above = 0.5 * (1 + math.erf(at_zero / 2**0.5))
        density = math.exp(-0.5 * at_zero * at_zero) / (2 * math.pi) ** 0.5
        self.moments[y] = (
            mean * above + deviation * density,
            mean_square * above + mean * deviation * density,
        )
        self.channels[y] = self.channels[x]
        return y

    def add(self, a, b, name):
        y = self.graph.node("Add", [a, b], name=name)
        (mean_a, square_a), (mean_b, square_b) = self.moments[a], self.moments[b]
        self.moments[y] = (mean_a + mean_b, square_a + square_b + 2 * mean_a * mean_b)
        self.channels[y] = self.channels[a]
        return y

    def head(self, x, classes):
        """Global average, Flatten, Gemm."""
        channels = self.channels[x]
        y = self.graph.node("GlobalAveragePool", [x], name="pool")
        y = self.graph.node("Flatten", [y], name="flatten", axis=1)
        scale = numpy.float32((2 / channels) ** 0.5)
        weight = self.rng.standard_normal([classes, channels], numpy.float32) * scale
        bias = self.rng.normal(0, 0.1, classes).astype(numpy.float32)
        constants = [
            self.graph.constant("classifier.weight", weight),
            self.graph.constant("classifier.bias", bias),
        ]
        y = self.graph.node("Gemm", [y] + constants, output="logits", name="classifier", transB=1)
        self.graph.output(y, [1, classes])


def resnet50():
    """He et al., "Deep Residual Learning", 2015; the stride on the 3x3 convolution ("v1.5")."""
    net = ConvNet("resnet50", seed=50)
    x = net.input("image", 3, 224)
    x = net.relu(net.conv_norm(x, "stem", 64, 7, 2), "stem.relu")
    y = net.graph.node(
        "MaxPool", [x], name="stem.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]
    )
    # The largest of nine neighbours, which are much alike.
    net.moments[y], net.channels[y] = (1.3, 2.0), 64
    x = y
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
        for block in range(blocks):
            name = "stage%d.block%d" % (stage, block + 1)
            stride = 2 if stage > 1 and block == 0 else 1
            y = net.relu(net.conv_norm(x, name + ".conv1", width, 1), name + ".relu1")
            y = net.relu(net.conv_norm(y, name + ".conv2", width, 3, stride), name + ".relu2")
            y = net.conv_norm(y, name + ".conv3", 4 * width, 1, gain=0.5)
            if block == 0:
                x = net.conv_norm(x, name + ".shortcut", 4 * width, 1, stride)
            x = net.relu(net.add(y, x, name + ".add"), name + ".relu3")
    net.head(x, 1000)
    return net.graph


def mobilenet_v2():
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018; width 1.0."""
    net = ConvNet("mobilenet_v2", seed=2)
    net.graph.constant("zero", numpy.float32(0))
    net.graph.constant("six", numpy.float32(6))
    x = net.input("image", 3, 224)
    x = net.relu(net.conv_norm(x, "stem", 32, 3, 2), "stem.relu", cap=6)
    stages = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]
    for stage, (expansion, width, blocks, first_stride) in enumerate(stages, 1):
        for block in range(blocks):
            name = "stage%d.block%d" % (stage, block + 1)
            stride = first_stride if block == 0 else 1
            inner = expansion * net.channels[x]
            y = x
            if expansion != 1:
                y = net.relu(net.conv_norm(y, name + ".expand", inner, 1), name + ".relu1", cap=6)
            y = net.conv_norm(y, name + ".depthwise", inner, 3, stride, group=inner)
            y = net.relu(y, name + ".relu2", cap=6)
            y = net.conv_norm(y, name + ".project", width, 1, gain=0.7)
            if stride == 1 and net.channels[x] == width:
                y = net.add(x, y, name + ".add")
            x = y
    x = net.relu(net.conv_norm(x, "last", 1280, 1), "last.relu", cap=6)
    net.head(x, 1000)
    return net.graph


MODELS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}


def main():
    parser = argparse.ArgumentParser(description="Makes a model with seeded random weights.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("output", help="file to write")
    arguments = parser.parse_args()
    MODELS[arguments.model]().write(arguments.output)
    print("wrote %s (%d bytes)" % (arguments.output, os.path.getsize(arguments.output)))


if __name__ == "__main__":
    main()
