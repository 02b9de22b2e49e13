"""Models in a cache folder, made when they are asked for: model.onnx and test_data_set_0 beside it."""

import os
import re
import shutil
import subprocess
import sys

import environments
import light_weights
import quantizing
from catalogue import FORM, QUANTIZED
from processes import Failed, brief

HERE = os.path.dirname(os.path.abspath(__file__))
MAKERS = os.path.normpath(os.path.join(HERE, '../../models'))
EXPORTER = os.path.join(MAKERS, 'make_exported_models.py')
WRITER = os.path.join(MAKERS, 'make_models.py')


class Model:
    """A model with a set of inputs, and what ONNX Runtime makes of them, which is expected."""

    def __init__(self, name, folder, is_int8):
        data = os.path.join(folder, 'test_data_set_0')
        self.name = name
        self.path = os.path.join(folder, 'model.onnx')
        self.inputs = numbered(data, 'input')
        self.outputs = numbered(data, 'output')
        self.is_int8 = is_int8

        self.int8_path = self.path if is_int8 else None  # What peers compute in int8.

    def given(self):
        return read_tensors(self.inputs)

    def expected(self):
        return read_tensors(self.outputs)

    def example(self):
        """The inputs as a file that `slipway --examples` reads."""
        if len(self.inputs) == 1:
            return self.inputs[0]
        import numpy
        import onnx
        path = os.path.join(os.path.dirname(self.inputs[0]), 'example.npz')
        graph = onnx.load(self.path, load_external_data=False).graph
        constants = {constant.name for constant in graph.initializer}
        names = [value.name for value in graph.input if value.name not in constants]
        numpy.savez(path, **dict(zip(names, self.given())))
        return path


def read_tensors(paths):
    import onnx
    arrays = []
    for path in paths:
        tensor = onnx.TensorProto()
        with open(path, 'rb') as file:
            tensor.ParseFromString(file.read())
        arrays.append(onnx.numpy_helper.to_array(tensor))
    return arrays


def numbered(folder, kind):
    """FOLDER/KIND_0.pb and so on, in the order of their numbers."""
    names = re.findall(rf'^{kind}_(\d+)\.pb$', '\n'.join(os.listdir(folder)), re.MULTILINE)
    return [os.path.join(folder, f'{kind}_{number}.pb') for number in sorted(map(int, names))]


def write_data_set(folder, feeds, outputs):
    """Inputs and outputs, in order, beside a model; there as a whole or not at all."""
    import onnx
    unfinished = os.path.join(folder, 'unfinished')
    shutil.rmtree(unfinished, ignore_errors=True)
    os.makedirs(unfinished)
    for kind, arrays in (('input', feeds), ('output', outputs)):
        for number, array in enumerate(arrays):
            with open(os.path.join(unfinished, f'{kind}_{number}.pb'), 'wb') as file:
                file.write(onnx.numpy_helper.from_array(array).SerializeToString())
    os.rename(unfinished, os.path.join(folder, 'test_data_set_0'))


def extents(shape, batch):
    """An input's extents, with the batch where the first one is open; Failed where there are none."""
    if not shape:
        return ()
    first = shape[0] if isinstance(shape[0], int) else batch
    if first != batch and batch != 1:
        raise Failed(f'its batch is always {first}')
    if not all(isinstance(extent, int) for extent in shape[1:]):
        raise Failed(f'an input of {list(shape)} has open extents')
    return (first, *shape[1:])


def run_reference(model, batch):
    """Seeded inputs for a model, a path or its bytes, and what ONNX Runtime makes of them, node by node."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])
    generator = numpy.random.Generator(numpy.random.PCG64(1))
    feeds = {}
    for value in session.get_inputs():
        if value.type != 'tensor(float)':
            raise Failed(f'no inputs are made for {value.type}')
        feeds[value.name] = generator.standard_normal(extents(value.shape, batch), numpy.float32)
    return list(feeds.values()), session.run(None, feeds)


class Store:

    def __init__(self, cache, batch, say):
        self._cache = cache
        self._batch = batch
        self._say = say
        requirements = os.path.join(environments.REQUIREMENTS, 'exporters.txt')
        made_by = {
            'exported': [EXPORTER, os.path.join(MAKERS, 'torch_models.py'), requirements],
            'written': [WRITER],
            'file': [light_weights.__file__],
        }
        self._folders = {
            kind: os.path.join(cache, 'models', f'{kind}-{environments.digest_of(*files)}', f'batch-{batch}')
            for kind, files in made_by.items()}

    def get(self, source):
        """The model of a source; Failed says why there is none."""
        folder = self._path(source)
        if not os.path.isdir(os.path.join(folder, 'test_data_set_0')):
            self._say(f'making {source.name}')
            os.makedirs(folder, exist_ok=True)
            getattr(self, '_make_' + source.kind)(source, folder)
        return Model(source.name, folder, source.is_int8())

    def quantize(self, model):
        """Gives a model its int8 form."""
        if model.int8_path is None:
            made = os.path.dirname(model.path)
            name = f'{os.path.basename(made)}-{environments.digest_of(model.path)}'
            folder = os.path.join(self._cache, 'models', 'int8', name)
            self._say(f'quantizing {model.name}')
            model.int8_path = quantizing.quantize(model, folder)

    def _path(self, source):
        if source.kind == 'file':
            beside = os.path.dirname(source.what)
            own_data = os.path.join(beside, 'test_data_set_0')
            if self._batch == 1 and source.what.endswith('/model.onnx') and os.path.isdir(own_data):
                return beside
            name = f'{source.name}-{environments.digest_of(source.what)}'
            return os.path.join(self._folders['file'], name)
        return os.path.join(self._folders[source.kind], source.what)

    def _make_exported(self, source, folder):
        wanted = {source.what}
        if source.what in QUANTIZED:  # Made of what is beside it.
            wanted.add(f'{source.what.partition(".")[0]}.{FORM}')
        missing = [name for name in wanted if not os.path.isdir(
            os.path.join(self._folders['exported'], name, 'test_data_set_0'))]
        try:
            python = environments.ensure('exporters', self._cache, self._say)
        except environments.Missing as reason:
            raise Failed(str(reason)) from reason
        pattern = '^(' + '|'.join(re.escape(name) for name in sorted(missing)) + ')$'
        done = subprocess.run(
            [python, EXPORTER, self._folders['exported'], '--only', pattern, '--full', '--batch', str(self._batch)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False)
        if done.returncode != 0 or not os.path.isdir(os.path.join(folder, 'test_data_set_0')):
            raise Failed(brief('cannot be exported: ' + environments.last_line(done.stdout)))

    def _make_written(self, source, folder):
        if self._batch != 1:
            raise Failed('its batch is always 1')
        path = os.path.join(folder, 'model.onnx')
        done = subprocess.run([sys.executable, WRITER, source.what, path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failed(brief(environments.last_line(done.stdout)))
        write_data_set(folder, *run_reference(path, self._batch))

    def _make_file(self, source, folder):
        import onnx
        path = os.path.join(folder, 'model.onnx')
        model = onnx.load(source.what)
        if light_weights.seeded(model, onnx):
            node = light_weights.last_product(model)
            probe = onnx.ModelProto()
            probe.CopyFrom(model)
            del probe.graph.output[:]
            probe.graph.output.append(onnx.ValueInfoProto(name=node.output[0]))
            sums = run_reference(probe.SerializeToString(), self._batch)[1][0]
            light_weights.divide(model, onnx, node, sums.std())
        onnx.save(model, path)
        write_data_set(folder, *run_reference(path, self._batch))
