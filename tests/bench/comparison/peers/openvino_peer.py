"""OpenVINO on the CPU, for the latency of one call."""

import openvino

VERSION = openvino.__version__

# What is computed with; the operators of a quantized model stay int8 beside f32.
HINTS = {'f32': 'f32', 'bf16': 'bf16', 'int8': 'f32'}


class Model:

    def __init__(self, path, inputs, threads, precision):
        core = openvino.Core()
        model = core.read_model(path)
        model.reshape({port: array.shape for port, array in zip(model.inputs, inputs)})
        compiled = core.compile_model(model, 'CPU', {
            'PERFORMANCE_HINT': 'LATENCY',
            'INFERENCE_PRECISION_HINT': HINTS[precision],
            'INFERENCE_NUM_THREADS': threads,
            'NUM_STREAMS': 1,
            # The processors are chosen for all engines alike, from outside.
            'ENABLE_CPU_PINNING': False,
        })
        used = compiled.get_property('INFERENCE_PRECISION_HINT')
        if precision == 'bf16' and used != openvino.Type.bf16:
            raise NotImplementedError(f'on this machine it computes bf16 in {used.to_string()}')
        self._request = compiled.create_infer_request()
        self._inputs = [openvino.Tensor(array, shared_memory=False) for array in inputs]
        for number, tensor in enumerate(self._inputs):
            self._request.set_input_tensor(number, tensor)
        self._count = len(compiled.outputs)
        self.run = self._request.infer
        self.run()

    def outputs(self):
        return [self._request.get_output_tensor(i).data.copy() for i in range(self._count)]
