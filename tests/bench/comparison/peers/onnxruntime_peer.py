"""ONNX Runtime on the CPU: inputs and outputs stay where they are."""

import onnxruntime

VERSION = onnxruntime.__version__


class Model:

    def __init__(self, path, inputs, threads, precision):
        if precision == 'bf16':
            raise NotImplementedError('bf16 is not what its CPU kernels have')
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
        self._binding = self._session.io_binding()
        # Values own copies of the arrays and live as long as the binding.
        self._inputs = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in inputs]
        for value, tensor in zip(self._session.get_inputs(), self._inputs):
            self._binding.bind_ortvalue_input(value.name, tensor)
        for value in self._session.get_outputs():
            self._binding.bind_output(value.name)
        self.run()
        # Into the same memory from now on, where the extents do not hang on the inputs.
        if all(isinstance(extent, int) for value in self._session.get_outputs() for extent in value.shape):
            for value, tensor in zip(self._session.get_outputs(), self._binding.get_outputs()):
                self._binding.bind_ortvalue_output(value.name, tensor)

    def run(self):
        self._session.run_with_iobinding(self._binding)

    def outputs(self):
        return self._binding.copy_outputs_to_cpu()
