#!/usr/bin/env python3
"""Trains a small convolutional network on handwritten digits, in NumPy alone.

    /usr/bin/python3 train.py [--output FOLDER]

writes digits.onnx (the model) and images/DIGIT.npy (ten test images).
The same seed gives the same model up to rounding; on one core it takes about
half a minute. Needs Debian's python3-numpy and python3-sklearn, which carries
the data set: "Optical Recognition of Handwritten Digits" by E. Alpaydin and
C. Kaynak, UCI Machine Learning Repository, CC BY 4.0.
"""

import argparse
import os
import sys

import numpy
from sklearn.datasets import load_digits

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from onnx_writer import GraphBuilder  # noqa: E402

SEED = 20261121
EPOCHS = 90
BATCH = 32
CHANNELS = (16, 32)
TEST_IMAGES = 360


def patches(x):
    """[N, C, H, W] to [N * H * W, C * 9]: the 3x3 surroundings, zeros outside."""
    n, c, h, w = x.shape
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)


def scatter(columns, shape):
    """The transpose of `patches`: adds every patch back to where it came from."""
    n, c, h, w = shape
    columns = columns.reshape(n, h, w, c, 3, 3)
    padded = numpy.zeros((n, c, h + 2, w + 2), columns.dtype)
    for r in range(3):
        for s in range(3):
            padded[:, :, r : r + h, s : s + w] += columns[:, :, :, :, r, s].transpose(0, 3, 1, 2)
    return padded[:, :, 1:-1, 1:-1]


class Network:
    """Conv 3x3, Relu, MaxPool 2x2, Conv 3x3, Relu, Gemm; trained by Adam."""

    def __init__(self, rng):
        c1, c2 = CHANNELS

        def he(shape, fan_in):
            return (rng.standard_normal(shape) * numpy.sqrt(2 / fan_in)).astype(numpy.float32)

        self.parameters = [
            he((c1, 9), 9),
            numpy.zeros(c1, numpy.float32),
            he((c2, c1 * 9), c1 * 9),
            numpy.zeros(c2, numpy.float32),
            he((10, c2 * 16), c2 * 16),
            numpy.zeros(10, numpy.float32),
        ]
        self._first = [numpy.zeros_like(p) for p in self.parameters]
        self._second = [numpy.zeros_like(p) for p in self.parameters]
        self._step = 0

    def forward(self, x):
        w1, b1, w2, b2, w3, b3 = self.parameters
        n = x.shape[0]
        self._p1 = patches(x)
        a1 = numpy.maximum(self._p1 @ w1.T + b1, 0)
        self._a1 = a1.reshape(n, 8, 8, -1).transpose(0, 3, 1, 2)
        c1 = self._a1.shape[1]
        blocks = self._a1.reshape(n, c1, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5)
        self._blocks = blocks.reshape(n, c1, 4, 4, 4)
        self._pooled = self._blocks.max(-1)
        self._p2 = patches(self._pooled)
        self._a2 = numpy.maximum(self._p2 @ w2.T + b2, 0)
        self._flat = self._a2.reshape(n, 4, 4, -1).transpose(0, 3, 1, 2).reshape(n, -1)
        return self._flat @ w3.T + b3

    def gradients(self, logits, labels):
        """Of the mean cross-entropy, by the chain rule, last layer first."""
        w1, _, w2, _, w3, _ = self.parameters
        n = len(labels)
        probabilities = numpy.exp(logits - logits.max(1, keepdims=True))
        probabilities /= probabilities.sum(1, keepdims=True)
        probabilities[numpy.arange(n), labels] -= 1
        d3 = probabilities / n
        dflat = (d3 @ w3).reshape(n, -1, 4, 4).transpose(0, 2, 3, 1).reshape(self._a2.shape)
        d2 = dflat * (self._a2 > 0)
        dpooled = scatter(d2 @ w2, self._pooled.shape)
        best = self._blocks.argmax(-1)[..., None] == numpy.arange(4)
        dblocks = best * dpooled[..., None]
        c1 = dpooled.shape[1]
        da1 = dblocks.reshape(n, c1, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c1, 8, 8)
        d1 = (da1 * (self._a1 > 0)).transpose(0, 2, 3, 1).reshape(-1, c1)
        return [
            d1.T @ self._p1,
            d1.sum(0),
            d2.T @ self._p2,
            d2.sum(0),
            d3.T @ self._flat,
            d3.sum(0),
        ]

    def step(self, gradients, rate):
        """Adam (Kingma and Ba, 2015) with the paper's constants, decoupled decay 1e-2."""
        self._step += 1
        for p, g, m, v in zip(self.parameters, gradients, self._first, self._second):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            m_hat = m / (1 - 0.9**self._step)
            v_hat = v / (1 - 0.999**self._step)
            p -= rate * (m_hat / (numpy.sqrt(v_hat) + 1e-8) + 1e-2 * p)


def shifted(images, rng):
    """Each image moved by up to one pixel, so that the network learns shapes, not places."""
    padded = numpy.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = numpy.empty_like(images)
    for i, (r, s) in enumerate(rng.integers(0, 3, (len(images), 2))):
        out[i] = padded[i, :, r : r + 8, s : s + 8]
    return out


def accuracy(network, images, labels):
    return float((network.forward(images).argmax(1) == labels).mean())


def export(network, path):
    w1, b1, w2, b2, w3, b3 = network.parameters
    graph = GraphBuilder("digits")
    x = graph.input("image", [1, 1, 8, 8])
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    weights = [
        graph.constant("conv1.weight", w1.reshape(-1, 1, 3, 3)),
        graph.constant("conv1.bias", b1),
        graph.constant("conv2.weight", w2.reshape(CHANNELS[1], CHANNELS[0], 3, 3)),
        graph.constant("conv2.bias", b2),
        graph.constant("dense.weight", w3),
        graph.constant("dense.bias", b3),
    ]
    y = graph.node("Conv", [x] + weights[0:2], name="conv1", **conv)
    y = graph.node("Relu", [y], name="relu1")
    y = graph.node("MaxPool", [y], name="pool1", kernel_shape=[2, 2], strides=[2, 2])
    y = graph.node("Conv", [y] + weights[2:4], name="conv2", **conv)
    y = graph.node("Relu", [y], name="relu2")
    y = graph.node("Flatten", [y], name="flatten", axis=1)
    y = graph.node("Gemm", [y] + weights[4:6], output="scores", name="dense", transB=1)
    graph.output(y, [1, 10])
    graph.write(path)


def main():
    parser = argparse.ArgumentParser(description="Trains the digits model and exports it.")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--output", default=here, help="folder to write to")
    folder = parser.parse_args().output

    rng = numpy.random.Generator(numpy.random.PCG64(SEED))
    data = load_digits()
    images = (data.images / 16).astype(numpy.float32)[:, None]
    labels = data.target
    order = rng.permutation(len(labels))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]

    network = Network(rng)
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.5 * (1 + numpy.cos(numpy.pi * epoch / EPOCHS))
        for batch in numpy.array_split(rng.permutation(train), len(train) // BATCH):
            logits = network.forward(shifted(images[batch], rng))
            network.step(network.gradients(logits, labels[batch]), rate)
        if epoch % 15 == 14:
            score = accuracy(network, images[test], labels[test])
            print("epoch %d of %d: test accuracy %.2f %%" % (epoch + 1, EPOCHS, 100 * score))

    score = accuracy(network, images[test], labels[test])
    print("test accuracy %.2f %% on %d images" % (100 * score, len(test)))
    if score < 0.97:
        sys.exit("train.py: error: the accuracy is below 97 %")

    model = os.path.join(folder, "digits.onnx")
    export(network, model)
    print("wrote %s (%d bytes)" % (model, os.path.getsize(model)))

    # The first test image of each digit.
    os.makedirs(os.path.join(folder, "images"), exist_ok=True)
    found = []
    for digit in range(10):
        index = test[numpy.flatnonzero(labels[test] == digit)[0]]
        found.append(str(network.forward(images[index][None]).argmax()))
        numpy.save(os.path.join(folder, "images", "%d.npy" % digit), images[index][None])
    print("wrote ten test images, 0 to 9; the model takes them for", " ".join(found))


if __name__ == "__main__":
    main()
