"""Oracles: programs that run ONNX models and share no code with ours.

Each is a function from a Case to the list of its outputs; it raises Unsupported where it takes no such model. They run in a
child process (Pool), since some models crash them.
"""

import importlib.util
import multiprocessing
import warnings

import numpy as np

import elements

# The newest opset that ONNX Runtime says it supports.
RUNTIME_OPSET = 26


class Unsupported(Exception):
    pass


def with_onnx_runtime(case):
    import onnxruntime
    for array in case.inputs.values():
        if elements.name_of(array) not in elements.FLOATS[:3] + elements.INTEGERS + ('bool', 'string'):
            raise Unsupported('its Python interface has no such arrays')
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(case.model.SerializeToString(), options,
                                               providers=['CPUExecutionProvider'])
        outputs = session.run(None, case.inputs)
    except Exception as error:
        raise Unsupported(str(error)) from error
    return [np.asarray(output) for output in outputs]


def with_onnx_reference(case):
    from onnx.reference import ReferenceEvaluator
    try:
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            outputs = ReferenceEvaluator(case.model).run(None, case.inputs)
    except Exception as error:
        raise Unsupported(f'{type(error).__name__}: {error}') from error
    return [np.asarray(output) for output in outputs]


ORACLES = {'onnxruntime': with_onnx_runtime, 'onnx': with_onnx_reference}


def present():
    """Names of the oracles that are installed."""
    names = [name for name in ('onnxruntime',) if importlib.util.find_spec(name)]
    if importlib.util.find_spec('onnx') and importlib.util.find_spec('onnx.reference'):
        names.append('onnx')
    return names


def _serve(pipe):
    while True:
        name, case = pipe.recv()
        try:
            outputs = ORACLES[name](case)
            pipe.send((outputs, None))
        except Unsupported as error:
            pipe.send((None, str(error)[:500]))


class Pool:
    """One child process that asks oracles, started again when one crashes or hangs."""

    def __init__(self, seconds=20):
        self._seconds = seconds
        self._child = None

    def ask(self, name, case):
        """(outputs, None) or (None, why there are none)."""
        if self._child is None:
            self._pipe, end = multiprocessing.Pipe()
            self._child = multiprocessing.Process(target=_serve, args=(end,), daemon=True)
            self._child.start()
            end.close()
        self._pipe.send((name, case))
        try:
            if self._pipe.poll(self._seconds):
                return self._pipe.recv()
            reason = 'the oracle hangs'
        except EOFError:
            reason = 'the oracle crashes'
        self.close()
        return None, reason

    def close(self):
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._child = None
