"""TVM on the CPU by its default schedules, untuned."""

import os

import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

VERSION = tvm.__version__


class Model:

    def __init__(self, path, inputs, threads, precision):
        if precision == 'bf16':
            raise NotImplementedError('it has no switch that turns f32 into bf16')
        os.environ['TVM_NUM_THREADS'] = str(threads)
        model = onnx.load(path)
        names = {initializer.name for initializer in model.graph.initializer}
        shapes = {value.name: array.shape for value, array in zip(
            [value for value in model.graph.input if value.name not in names], inputs)}
        module = from_onnx(model, shape_dict=shapes, keep_params_in_input=False)
        target = tvm.target.Target.from_device(tvm.cpu())
        with target:
            executable = relax.build(relax.get_pipeline('zero')(module), target=target)
        self._machine = relax.VirtualMachine(executable, tvm.cpu())
        self._inputs = [tvm.runtime.tensor(array) for array in inputs]
        self._made = None
        self.run()

    def run(self):
        self._made = self._machine['main'](*self._inputs)

    def outputs(self):
        made = [self._made] if isinstance(self._made, tvm.runtime.Tensor) else list(self._made)
        return [value.numpy() for value in made]
