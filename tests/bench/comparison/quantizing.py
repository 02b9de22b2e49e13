"""int8 forms of models for peers, by ONNX Runtime's tools: static, as QDQ, weights by channel."""

import os
import shutil

from processes import Failed, brief


def quantize(model, folder):
    """The path of a model's int8 form, made in `folder` unless it is there; Failed says why not."""
    path = os.path.join(folder, 'model.onnx')
    if os.path.exists(path):
        return path
    unfinished = folder + '.unfinished'
    shutil.rmtree(unfinished, ignore_errors=True)
    os.makedirs(unfinished)
    try:
        _quantize(model, os.path.join(unfinished, 'model.onnx'))
    except Exception as error:
        shutil.rmtree(unfinished)
        raise Failed(brief(f'no int8 form: {type(error).__name__}: {error}')) from error
    os.replace(unfinished, folder)
    return path


def _quantize(model, path):
    import onnxruntime
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = path + '.prepared'
    quant_pre_process(model.path, prepared, skip_symbolic_shape=True)
    names = [value.name for value in onnxruntime.InferenceSession(prepared).get_inputs()]

    class Sample(quantization.CalibrationDataReader):

        def __init__(self):
            self._rows = iter([dict(zip(names, model.given()))])

        def get_next(self):
            return next(self._rows, None)

    quantization.quantize_static(prepared, path, Sample(), per_channel=True,
                                 quant_format=quantization.QuantFormat.QDQ)
    os.remove(prepared)
