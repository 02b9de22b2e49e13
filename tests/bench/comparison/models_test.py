#!/usr/bin/env python3
"""Shows which models there are, and what is made for those without weights or inputs."""

import os
import tempfile
import types
import unittest

import numpy

import catalogue
import light_weights
import store
from processes import Failed


class CatalogueTest(unittest.TestCase):

    def names(self, *wanted):
        return [(row.name, row.what) for row in catalogue.chosen(catalogue.sources(), wanted)]

    def test_names_patterns_and_forms(self):
        self.assertEqual(self.names('bert'), [('bert', 'bert.torchscript17')])
        self.assertEqual(self.names('bert.dynamo18'), [('bert.dynamo18', 'bert.dynamo18')])
        self.assertEqual([name for name, _ in self.names('lstm', 'mobilenet_v2*', 'lstm')],
                         ['lstm', 'mobilenet_v2', 'mobilenet_v2_padded', 'mobilenet_v2.qdq', 'mobilenet_v2.written'])
        self.assertEqual(len(self.names()), len(catalogue.sources()))

    def test_what_is_unknown_is_named(self):
        for name in ['alexnet', 'alexnet.dynamo18']:
            with self.assertRaisesRegex(KeyError, name):
                self.names(name)

    def test_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in ['light/light_net.onnx', 'light/light_net.pb', 'trained/digits/model.onnx']:
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                with open(os.path.join(folder, path), 'w', encoding='utf-8'):
                    pass
            found = catalogue.sources([folder])
            self.assertEqual(found['light_net'].what, os.path.join(folder, 'light/light_net.onnx'))
            self.assertEqual(found['digits'].kind, 'file')

    def test_quantized_ones_are_compared_as_such(self):
        self.assertTrue(catalogue.sources()['resnet.qdq'].is_int8())
        self.assertFalse(catalogue.sources()['resnet'].is_int8())


def node(op_type, inputs, output):
    return types.SimpleNamespace(op_type=op_type, input=inputs, output=[output])


class LightWeightsTest(unittest.TestCase):

    # What the function needs of the package.
    ONNX = types.SimpleNamespace(numpy_helper=types.SimpleNamespace(
        to_array=lambda tensor: tensor.array,
        from_array=lambda array, name: types.SimpleNamespace(name=name, array=array)))

    def test_fills_become_weights(self):
        shape = self.ONNX.numpy_helper.from_array(numpy.array([64, 16, 3, 3]), 'shape')
        bias = self.ONNX.numpy_helper.from_array(numpy.zeros(64, numpy.float32), 'bias')
        graph = types.SimpleNamespace(initializer=[shape, bias], node=[
            node('ConstantOfShape', ['shape'], 'w'), node('ConstantOfShape', ['shape'], 'v'),
            node('ConstantOfShape', ['shape'], 'other'), node('Conv', ['x', 'w', 'bias'], 'y'),
            node('Conv', ['y', 'v'], 'last'), node('Add', ['last', 'other'], 'z')])
        model = types.SimpleNamespace(graph=graph)
        self.assertTrue(light_weights.seeded(model, self.ONNX))
        self.assertEqual(light_weights.last_product(model).output, ['last'])
        self.assertFalse(light_weights.seeded(model, self.ONNX))
        self.assertEqual([n.op_type for n in graph.node], ['ConstantOfShape', 'Conv', 'Conv', 'Add'])
        made = {tensor.name: tensor.array for tensor in graph.initializer}
        self.assertEqual(sorted(made), ['bias', 'shape', 'v', 'w'])
        self.assertEqual(made['w'].shape, (64, 16, 3, 3))
        self.assertEqual(made['w'].dtype, numpy.float32)
        self.assertAlmostEqual(made['w'].std(), (2 / 144) ** 0.5, places=2)
        self.assertEqual(made['bias'].tolist(), [0] * 64)

    def test_normalizations_have_scales_around_one(self):
        generator = numpy.random.Generator(numpy.random.PCG64(1))
        made = light_weights.weights((1000,), light_weights.SCALES['BatchNormalization'][4], generator)
        self.assertAlmostEqual(made.mean(), 1, places=1)
        self.assertGreater(made.min(), 0)


class StoreTest(unittest.TestCase):

    def test_data_sets_are_in_the_order_of_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ['input_10.pb', 'input_2.pb', 'output_0.pb', 'input_0.npy']:
                with open(os.path.join(folder, name), 'w', encoding='utf-8'):
                    pass
            self.assertEqual([os.path.basename(path) for path in store.numbered(folder, 'input')],
                             ['input_2.pb', 'input_10.pb'])

    def test_extents(self):
        self.assertEqual(store.extents(['batch', 3, 8], 4), (4, 3, 8))
        self.assertEqual(store.extents([1, 3], 1), (1, 3))
        self.assertEqual(store.extents([2, 3], 1), (2, 3))
        self.assertEqual(store.extents([], 4), ())
        with self.assertRaisesRegex(Failed, 'always 1'):
            store.extents([1, 3], 4)
        with self.assertRaisesRegex(Failed, 'open'):
            store.extents(['batch', 'seq'], 4)


if __name__ == '__main__':
    unittest.main()
