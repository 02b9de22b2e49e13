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
    applies: typing.Callable
    lowered_only: bool = False  # Whether it excuses kernels that are lowered, and not the reference.


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
    arrays = list(_operands(case))
    spatial = arrays[0].shape[2:]
    kernel = _value(case, 'kernel_shape') or list(arrays[1].shape[2:])
    dilations, pads = _value(case, 'dilations', [1] * len(kernel)), _value(case, 'pads', [0] * 2 * len(kernel))
    return any((k - 1) * d + 1 > n + pads[i] + pads[i + len(kernel)]
               for i, (k, d, n) in enumerate(zip(kernel, dilations, spatial)))


def _one_place(case):
    return any(array.size == 1 and int(array.ravel()[0]) == 1 for array in _operands(case))


def _one_place_in_size(case):
    """Whether the list that is the second operand holds a 1 behind its first two elements."""
    size = list(_operands(case))[1]
    return size.ndim == 1 and bool((size[2:] == 1).any())


def _operands(case):
    """Those of the first node in their order, then all others."""
    from onnx import numpy_helper
    arrays = dict(case.inputs)
    for tensor in case.model.graph.initializer:
        arrays[tensor.name] = numpy_helper.to_array(tensor)
    for name in case.model.graph.node[0].input:
        if name in arrays:
            yield arrays.pop(name)
    yield from arrays.values()


def _has_nan(case):
    return any(elements.is_float(elements.name_of(array)) and np.isnan(array.astype(np.float64)).any()
               for array in _operands(case))


def _opset_below(limit):
    return lambda case: case.model.opset_import[0].version < limit


def _has_attribute(*names):
    return lambda case: bool(_attributes(case) & set(names))


def _rank(case):
    """Of the first operand."""
    return next((array.ndim for array in _operands(case)), 0)


def _has_huge(case):
    """Whether a product of a few operands may overflow, or is not a number."""
    def limit(array):
        return 1e2 if elements.name_of(array) == 'float16' else 1e12

    return any(elements.is_float(elements.name_of(array)) and not (np.abs(array.astype(np.float64)) < limit(array)).all()
               for array in _operands(case))


def _has_most(case):
    """Whether there is an integer as large as there are, or as small."""
    return any(array.dtype.kind == 'i' and array.size and np.abs(array.astype(np.float64)).max() >= np.iinfo(array.dtype).max
               for array in _operands(case))


def _has_denormal(case):
    def is_denormal(array):
        x = np.abs(array.astype(np.float64))
        return ((x > 0) & (x < np.finfo(np.float32).smallest_normal)).any()

    return any(elements.name_of(array) in ('float32', 'float64') and is_denormal(array) for array in _operands(case))


def _may_not_turn(case):
    """Whether a loop may have no turn: of 0 turns, or with a condition that is false."""
    return any(array.dtype.kind in 'bi' and array.size == 1 and not array.ravel()[0] for array in _operands(case))


DEPARTURES = (
    Departure('onnx', ('RNN', 'GRU', 'LSTM'),
              'knows no clip, no bidirectional GRU and LSTM, no activations but the default ones',
              lambda case: bool(_attributes(case) & {'clip', 'activations', 'linear_before_reset', 'input_forget'}) or
              _value(case, 'direction', b'forward') != b'forward'),
    Departure('onnx', ('Erf', 'Gelu', 'HardSwish', 'GridSample', 'Resize', 'HammingWindow', 'BlackmanWindow', 'HannWindow'),
              'computes f64 by way of f32', _has_type('float64')),
    Departure('onnx', ('ReduceSumSquare', 'ReduceSum', 'ReduceL1', 'ReduceL2', 'ReduceProd'),
              "its integers have the type that NumPy promotes to", _has_type(*elements.INTEGERS)),
    Departure('onnx', ('Softmax', 'LogSoftmax', 'Hardmax'), 'does not flatten as opsets below 13 say', _opset_below(13)),
    Departure('onnx', ('MaxPool', 'AveragePool', 'LpPool', 'Conv', 'ConvTranspose', 'ConvInteger', 'QLinearConv'),
              'gets ceil_mode, auto_pad, dilations and rank 5 wrong in turns',
              lambda case: bool(_attributes(case) & {'ceil_mode', 'auto_pad', 'dilations'}) or _rank(case) == 5),
    Departure('onnx', ('GlobalMaxPool', 'GlobalAveragePool'), 'reduces the wrong axes where the rank is not 4', lambda case: _rank(case) != 4),
    Departure('onnx', ('LRN',), 'leaves out the last channel of an even size, and normalizes as many channels as there are images',
              lambda case: _value(case, 'size') % 2 == 0 or next(_operands(case)).shape[0] < next(_operands(case)).shape[1]),
    Departure('onnx', ('Attention',), 'makes its causal mask as large as a mask that is still to be broadcast',
              _has_attribute('is_causal')),
    Departure('onnx', ('Adagrad', 'Adam', 'Momentum'), 'takes the rate, an f32, for one of f32 arithmetic', _has_type('float64')),
    Departure('onnx', ('LinearRegressor', 'SVMRegressor', 'LinearClassifier', 'SVMClassifier', 'Scaler', 'Normalizer'),
              'gives the type of its input, and knows only some transforms',
              lambda case: not _first_is('float32')(case) or 'post_transform' in _attributes(case)),
    Departure('onnxruntime', ('LinearRegressor', 'SVMRegressor'), 'transforms no single target',
              lambda case: 'post_transform' in _attributes(case)),
    Departure('onnx', ('Dropout',), 'its mask is always bool', _opset_below(10)),
    Departure('onnx', ('LpNormalization',), 'drops signs', lambda case: _value(case, 'p', 2) == 1),
    Departure('onnxruntime', ('ConvTranspose',), 'makes fewer places than the input times the stride where it pads by itself',
              lambda case: 'auto_pad' in _attributes(case)),
    Departure('onnxruntime', ('Normalizer',), 'squares integers as i32', _has_type('int32', 'int64')),
    Departure('onnxruntime', ('Loop',), 'knows no shape of what no turn made', _may_not_turn),
    Departure('onnx', ('SwiGLU', 'CausalConvWithState'), 'rounds to infinity between steps', _has_huge),
    Departure('onnx', ('LayerNormalization',), 'has no mean of nothing', _is_empty),
    Departure('onnx', ('Loop',), 'makes lists of scalars columns',
              lambda case: any(array.ndim == 0 for array in case.inputs.values())),
    Departure('onnx', ('OneHot',), 'blends the two values by arithmetic', _has_huge),
    Departure('onnx', ('Unique',), 'takes no axis of an empty tensor, and sorts always',
              lambda case: _is_empty(case) or _value(case, 'sorted', 1) == 0),
    Departure('onnx', ('Range',), 'adds the step up', _has_type('float32', 'float64', 'float16', 'bfloat16')),
    Departure('onnx', ('QuantizeLinear',), 'wraps around what is beyond the range of i32, and what is no number',
              lambda case: _has_type('int32')(case) or _has_nan(case) or _has_infinity(case)),
    *(Departure(oracle, ('ReduceMean',), 'has a mean of no integers', lambda case: _is_empty(case) and _first_is(*elements.INTEGERS)(case))
      for oracle in ('onnxruntime', 'onnx')),
    Departure('onnxruntime', ('MaxPool', 'GlobalMaxPool'), 'drops NaN, which goes through here', _has_nan),
    Departure('onnx', ('MaxPool', 'GlobalMaxPool'), 'drops NaN, which goes through here', _has_nan),
    Departure('onnxruntime', ('HammingWindow', 'BlackmanWindow', 'HannWindow', 'Gelu', 'HardSwish'), 'has constants of f32 only',
              lambda case: _value(case, 'output_datatype') == 11 or _first_is('float64')(case)),
    *(Departure(oracle, ('Shrink', 'ThresholdedRelu'), 'turns NaN into 0, which goes through here', _has_nan)
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('GroupNormalization', 'Attention', 'DFT', 'RMSNormalization', 'LayerNormalization'), 'computes f64 by way of f32', _has_type('float64'))
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('HannWindow', 'HammingWindow', 'BlackmanWindow'), 'divides 0 by 0 for a window of one place', _one_place)
      for oracle in ('onnxruntime', 'onnx')),
    Departure('onnxruntime', ('AveragePool', 'LpPool', 'MaxPool'), 'leaves dilations out where it pads by itself',
              lambda case: 'auto_pad' in _attributes(case)),
    Departure('onnxruntime', ('DynamicQuantizeLinear',), 'takes 1 for the scale where the range is 0',
              lambda case: all(not np.any(array) or array.size == 0 for array in _operands(case))),
    Departure('onnxruntime', ('Dropout',), 'its mask of opsets 7 to 11 says 0 for what is kept', _opset_below(12)),
    Departure('onnxruntime', ('Clip',), 'opsets below 11 bound infinities by the largest number', _opset_below(11)),
    Departure('onnx', ('Clip',), 'opsets below 11 bound infinities by the largest number', _opset_below(11)),
    Departure('onnxruntime', ('RNN', 'GRU', 'LSTM'), 'drops NaN where it clips, and leaves the state of a cell unclipped',
              lambda case: 'clip' in _attributes(case)),
    Departure('onnxruntime', ('ReduceSum', 'ReduceMean', 'ReduceL1', 'ReduceL2', 'ReduceProd', 'ReduceMax', 'ReduceMin',
                              'ReduceSumSquare', 'ReduceLogSum', 'ReduceLogSumExp', 'ArgMax', 'ArgMin'),
              'keeps axes of no elements', _is_empty),
    Departure('onnxruntime', ('LRN',), 'subtracts infinities and NaN from a running sum', lambda case: _has_infinity(case) or _has_nan(case)),
    Departure('onnxruntime', ('MeanVarianceNormalization',), 'its epsilon is 0 in f16', _has_type('float16')),
    Departure('onnxruntime', ('TreeEnsemble', 'TreeEnsembleRegressor'),
              'transforms no single target, and adds no base to a target without leaves',
              lambda case: bool(_attributes(case) & {'post_transform', 'base_values'})),
    Departure('onnx', ('TreeEnsembleRegressor',), 'gives the type of its input', lambda case: not _first_is('float32')(case)),
    Departure('onnx', ('TreeEnsemble', 'TreeEnsembleRegressor'), 'makes no transform of results',
              lambda case: 'post_transform' in _attributes(case)),
    *(Departure(oracle, ('TreeEnsembleClassifier',), 'transforms the one score of two classes in a way of its own',
                lambda case: _value(case, 'post_transform') in (b'SOFTMAX', b'SOFTMAX_ZERO') and
                len(set(_value(case, 'class_ids'))) == 1) for oracle in ('onnxruntime', 'onnx')),
    Departure('onnxruntime', ('QLinearSoftmax',), 'forgets the shape of nothing', _is_empty),
    Departure('onnx', ('StringNormalizer',), 'strips accents, and looks for stop words inside of strings',
              lambda case: any(' ' in word or not word or not word.isascii() for array in _operands(case) for word in array.ravel())),
    Departure('onnx', ('Optional', 'OptionalGetElement'), 'gives a list in place of a tensor',
              lambda case: not any(node.op_type.startswith('Sequence') for node in case.model.graph.node)),
    Departure('onnxruntime', ('Resize',), 'gives back what has the size asked for, whatever the region',
              lambda case: _value(case, 'coordinate_transformation_mode') == b'tf_crop_and_resize' or
              'keep_aspect_ratio_policy' in _attributes(case)),
    Departure('onnxruntime', ('Resize',), 'cuts integers off where they are to be rounded',
              _first_is(*elements.INTEGERS)),
    *(Departure(oracle, ('MaxPool', 'LpPool', 'AveragePool', 'Conv', 'ConvInteger', 'QLinearConv'),
                'takes a window that does not fit for one of no places', _does_not_fit) for oracle in ('onnxruntime', 'onnx')),
    Departure('onnx', ('FlexAttention', 'AffineGrid'), 'computes f64 by way of f32', _has_type('float64')),
    Departure('onnxruntime', ('AffineGrid',), 'puts what is alone along a dimension at its end',
              lambda case: _value(case, 'align_corners', 0) == 1 and _one_place_in_size(case)),
    Departure('onnx', ('LayerNormalization', 'RMSNormalization'), 'rounds between steps', _has_type('bfloat16', 'float16')),
    Departure('onnx', ('TreeEnsembleRegressor',), 'has numbers for targets that no leaf votes for',
              lambda case: _value(case, 'aggregate_function') in (b'MIN', b'MAX')),
    *(Departure(oracle, ('ScatterElements', 'ScatterND'), 'drops NaN, which goes through here',
                lambda case: _value(case, 'reduction') in (b'min', b'max') and _has_nan(case))
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('Pow',), 'wraps around where what becomes an integer saturates here', _first_is(*elements.INTEGERS))
      for oracle in ('onnxruntime', 'onnx')),
    *(Departure(oracle, ('Log', 'Pow', 'Mod', 'Div', 'Reciprocal'), 'has denormals where lowered kernels take others inside',
                _has_denormal, lowered_only=True) for oracle in ('onnxruntime', 'onnx')),
    Departure('onnx', ('ReduceLogSumExp',), 'subtracts infinity from itself', _has_infinity),
    *(Departure(oracle, ('ReduceLogSum',), 'has no sum beyond the largest f32, nor its logarithm', _has_huge) for oracle in ('onnxruntime', 'onnx')),
    Departure('onnx', ('LogSoftmax',), 'takes the logarithm of what became 0', _has_huge),
    Departure('onnxruntime', ('LogSoftmax', 'LayerNormalization'), 'has numbers beside what is infinite, or none', _has_infinity),
    Departure('onnxruntime', ('Slice',), 'steps back to the beginning where the end is beyond the last', _has_most),
    Departure('onnx', ('Slice',), 'finds nothing where a step back starts before the first', _has_most),
    Departure('onnx', ('GridSample',), 'moves a cubic sample to the border, not what it is made of',
              lambda case: _value(case, 'mode') in (b'cubic', b'bicubic') and _value(case, 'padding_mode') == b'border'),
    Departure('onnxruntime', ('Hardmax',), 'finds no NaN', _has_nan),
    Departure('onnxruntime', ('GlobalMaxPool',), 'begins with the lowest number, not with -infinity', _has_infinity),
)


def reason(case, oracle, lowered):
    """Why an oracle is not to be believed about a case, or None. `lowered`: by an engine that lowers kernels."""
    operators = set(case.operators())
    for departure in DEPARTURES:
        if departure.oracle != oracle or (departure.lowered_only and not lowered):
            continue
        if operators & set(departure.operators) and departure.applies(case):
            return departure.reason
    return None
