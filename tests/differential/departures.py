"""Where an oracle departs from ONNX's specification, or leaves out what it asks for, and why we do not follow it."""

import dataclasses
import typing

import numpy as np
from onnx import helper

import elements


@dataclasses.dataclass
class Departure:
    oracle: str
    operators: tuple
    reason: str
    applies: typing.Callable = lambda case: True


def _has_type(*names):
    return lambda case: any(elements.name_of(array) in names for array in _operands(case))


def _attributes(case):
    return {attribute.name for node in case.model.graph.node for attribute in node.attribute}


def _is_empty(case):
    return any(array.size == 0 for array in _operands(case))


def _has_infinity(case):
    return any(elements.is_float(elements.name_of(array)) and np.isinf(array.astype(np.float64)).any()
               for array in _operands(case))


def _first_is(*names):
    return lambda case: any(elements.name_of(array) in names for array in list(_operands(case))[:1])


def _value(case, name, default=None):
    for attribute in case.model.graph.node[0].attribute:
        if attribute.name == name:
            return helper.get_attribute_value(attribute)
    return default


def _does_not_fit(case):
    """Whether a window reaches over more than there is, padding included."""
    kernel = _value(case, 'kernel_shape')
    if not kernel or not case.inputs:
        return False
    spatial = next(iter(case.inputs.values())).shape[2:]
    dilations, pads = _value(case, 'dilations', [1] * len(kernel)), _value(case, 'pads', [0] * 2 * len(kernel))
    return any((k - 1) * d + 1 > n + pads[i] + pads[i + len(kernel)]
               for i, (k, d, n) in enumerate(zip(kernel, dilations, spatial)))


def _one_place(case):
    return any(array.size == 1 and int(array.ravel()[0]) == 1 for array in _operands(case))


def _operands(case):
    from onnx import numpy_helper
    yield from case.inputs.values()
    for tensor in case.model.graph.initializer:
        yield numpy_helper.to_array(tensor)


def _has_nan(case):
    return any(elements.is_float(elements.name_of(array)) and np.isnan(array.astype(np.float64)).any()
               for array in _operands(case))


def _opset_below(limit):
    return lambda case: case.model.opset_import[0].version < limit


DEPARTURES = (
    Departure('onnx', ('RNN', 'GRU', 'LSTM'),
              'knows no clip, no bidirectional GRU and LSTM, no activations but the default ones'),
    Departure('onnx', ('Erf', 'Gelu', 'HardSwish', 'GridSample', 'Resize', 'HammingWindow', 'BlackmanWindow', 'HannWindow'),
              'computes f64 by way of f32', _has_type('float64')),
    Departure('onnx', ('ReduceSumSquare', 'ReduceSum', 'ReduceL1', 'ReduceL2', 'ReduceProd'),
              "its integers have the type that NumPy promotes to", _has_type(*elements.INTEGERS)),
    Departure('onnx', ('Softmax', 'LogSoftmax', 'Hardmax'), 'does not flatten as opsets below 13 say', _opset_below(13)),
    Departure('onnx', ('MaxPool', 'AveragePool', 'LpPool', 'Conv', 'ConvTranspose', 'ConvInteger', 'QLinearConv'),
              'gets ceil_mode, auto_pad, dilations and rank 5 wrong in turns'),
    Departure('onnx', ('GlobalMaxPool', 'GlobalAveragePool'), 'reduces the wrong axes above rank 4'),
    Departure('onnx', ('LRN',), 'leaves out the last channel of an even size'),
    Departure('onnx', ('Attention',), 'makes its causal mask as large as a mask that is still to be broadcast'),
    Departure('onnx', ('Adagrad', 'Adam', 'Momentum'), 'takes the rate, an f32, for one of f32 arithmetic', _has_type('float64')),
    Departure('onnx', ('LinearRegressor', 'SVMRegressor', 'LinearClassifier', 'SVMClassifier', 'Scaler', 'Normalizer'),
              'gives the type of its input, and knows only some transforms'),
    Departure('onnxruntime', ('LinearRegressor', 'SVMRegressor'), 'transforms no single target',
              lambda case: 'post_transform' in _attributes(case)),
    Departure('onnx', ('Dropout',), 'its mask is always bool', _opset_below(10)),
    Departure('onnx', ('LpNormalization',), 'drops signs'),
    Departure('onnxruntime', ('ConvTranspose',), 'makes fewer places than the input times the stride where it pads by itself',
              lambda case: 'auto_pad' in _attributes(case)),
    Departure('onnxruntime', ('Normalizer',), 'squares integers as i32', _has_type('int32', 'int64')),
    Departure('onnxruntime', ('Loop',), 'knows no shape of what no turn made'),
    Departure('onnx', ('SwiGLU', 'CausalConvWithState'), 'rounds to infinity between steps'),
    Departure('onnx', ('LayerNormalization',), 'has no mean of nothing', _is_empty),
    Departure('onnx', ('Loop',), 'makes lists of scalars columns'),
    Departure('onnx', ('OneHot',), 'blends the two values by arithmetic'),
    Departure('onnx', ('Unique',), 'takes no axis of an empty tensor'),
    Departure('onnx', ('Range',), 'adds the step up'),
    Departure('onnx', ('QuantizeLinear',), 'wraps around what is beyond the range of i32', _has_type('int32')),
    Departure('onnxruntime', ('MaxPool', 'GlobalMaxPool'), 'drops NaN, which goes through here', _has_nan),
    Departure('onnx', ('MaxPool', 'GlobalMaxPool'), 'drops NaN, which goes through here', _has_nan),
    Departure('onnxruntime', ('HammingWindow', 'BlackmanWindow', 'HannWindow', 'Gelu'), 'has constants of f32 only',
              lambda case: _value(case, 'output_datatype') == 11 or _first_is('float64')(case)),
    *(Departure(oracle, ('Shrink', 'ThresholdedRelu'), 'turns NaN into 0, which goes through here', _has_nan)
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('GroupNormalization', 'Attention', 'DFT'), 'computes f64 by way of f32', _has_type('float64'))
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('HannWindow', 'HammingWindow', 'BlackmanWindow'), 'divides 0 by 0 for a window of one place', _one_place)
      for oracle in ('onnxruntime', 'onnx')),
    Departure('onnxruntime', ('AveragePool', 'LpPool', 'MaxPool'), 'leaves dilations out where it pads by itself',
              lambda case: 'auto_pad' in _attributes(case)),
    Departure('onnxruntime', ('DynamicQuantizeLinear',), 'takes 1 for the scale where the range is 0'),
    Departure('onnxruntime', ('Dropout',), 'its mask of opsets 7 to 11 says 0 for what is kept', _opset_below(12)),
    Departure('onnxruntime', ('Clip',), 'opsets below 11 bound infinities by the largest number', _opset_below(11)),
    Departure('onnx', ('Clip',), 'opsets below 11 bound infinities by the largest number', _opset_below(11)),
    Departure('onnxruntime', ('RNN', 'GRU', 'LSTM'), 'drops NaN where it clips, and leaves the state of a cell unclipped',
              lambda case: 'clip' in _attributes(case)),
    Departure('onnxruntime', ('ReduceSum', 'ReduceMean', 'ReduceL1', 'ReduceL2', 'ReduceProd', 'ReduceMax', 'ReduceMin',
                              'ReduceSumSquare', 'ReduceLogSum', 'ReduceLogSumExp', 'ArgMax', 'ArgMin'),
              'keeps axes of no elements', _is_empty),
    Departure('onnxruntime', ('LRN',), 'subtracts infinities from a running sum', _has_infinity),
    Departure('onnxruntime', ('MeanVarianceNormalization',), 'its epsilon is 0 in f16', _has_type('float16')),
    Departure('onnxruntime', ('TreeEnsemble', 'TreeEnsembleRegressor'),
              'transforms no single target, and adds no base to a target without leaves',
              lambda case: bool(_attributes(case) & {'post_transform', 'base_values'})),
    Departure('onnx', ('TreeEnsemble', 'TreeEnsembleRegressor'), 'makes no transform of results',
              lambda case: 'post_transform' in _attributes(case)),
    Departure('onnx', ('Optional', 'OptionalGetElement'), 'gives a list in place of a tensor'),
    Departure('onnxruntime', ('Resize',), 'gives back what has the size asked for, whatever the region',
              lambda case: _value(case, 'coordinate_transformation_mode') == b'tf_crop_and_resize' or
              'keep_aspect_ratio_policy' in _attributes(case)),
    Departure('onnxruntime', ('Resize',), 'cuts integers off where they are to be rounded',
              _first_is(*elements.INTEGERS)),
    Departure('onnxruntime', ('MaxPool', 'LpPool', 'AveragePool'), 'takes a window that does not fit for one of no places',
              _does_not_fit),
    Departure('onnx', ('FlexAttention',), 'computes f64 by way of f32', _has_type('float64')),
    Departure('onnx', ('LayerNormalization',), 'rounds the mean before it is widened', _has_type('bfloat16', 'float16')),
    Departure('onnx', ('ReduceLogSumExp',), 'subtracts infinity from itself', _has_infinity),
    Departure('onnxruntime', ('Hardmax',), 'finds no NaN', _has_nan),
    Departure('onnxruntime', ('GlobalMaxPool',), 'begins with the lowest number, not with -infinity', _has_infinity),
)


def reason(case, oracle):
    """Why an oracle is not to be believed about a case, or None."""
    operators = set(case.operators())
    for departure in DEPARTURES:
        if departure.oracle == oracle and operators & set(departure.operators) and departure.applies(case):
            return departure.reason
    return None
