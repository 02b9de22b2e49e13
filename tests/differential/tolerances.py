"""How far results may lie from the oracle's, in ULP of the output's element type, by operator.

ONNX Runtime computes f32 by f32 polynomials and partial sums whose error is its own; what is allowed is the sum of its
error and ours (core/operators/README.md, "Numbers"). ELEMENT is in ULP of each element, TENSOR in ULP of the largest
finite element of the output: results of sums, whose terms may cancel.
"""

ELEMENT = {
    **dict.fromkeys(('Acos', 'Acosh', 'Asin', 'Asinh', 'Atan', 'Atanh', 'Cos', 'Cosh', 'Exp', 'Log', 'Pow', 'Sin',
                     'Sinh', 'Sqrt', 'Tan', 'Reciprocal', 'Div', 'Softsign', 'PRelu', 'LeakyRelu',
                     'ThresholdedRelu', 'Mod', 'Range'), 4),
    **dict.fromkeys(('Erf', 'Tanh', 'Sigmoid', 'Celu', 'Elu', 'Selu', 'Softplus'), 16),
}
TENSOR = {
    **dict.fromkeys(('Gelu', 'Mish', 'Swish', 'SwiGLU', 'Softmax', 'LogSoftmax', 'ReduceL1', 'ReduceL2',
                     'ReduceLogSum', 'ReduceLogSumExp', 'ReduceMean', 'ReduceProd', 'ReduceSum',
                     'ReduceSumSquare', 'CumSum', 'CumProd', 'MatMul', 'Gemm', 'Einsum', 'Conv', 'ConvTranspose',
                     'AveragePool', 'GlobalAveragePool', 'LpPool', 'GlobalLpPool', 'Col2Im', 'DeformConv',
                     'CausalConvWithState', 'ScatterElements', 'ScatterND', 'Det', 'Resize', 'GridSample',
                     'AffineGrid', 'RoiAlign', 'Upsample', 'HardSigmoid', 'HardSwish', 'Sum', 'Mean', 'HannWindow',
                     'HammingWindow', 'BlackmanWindow', 'Range', 'Tan', 'OneHot', 'MelWeightMatrix'), 32),
    **dict.fromkeys(('LayerNormalization', 'RMSNormalization', 'InstanceNormalization', 'GroupNormalization',
                     'BatchNormalization', 'MeanVarianceNormalization', 'LpNormalization', 'LRN', 'RNN',
                     'GRU', 'LSTM', 'Attention', 'LinearAttention', 'RotaryEmbedding', 'DFT', 'STFT',
                     'SoftmaxCrossEntropyLoss', 'NegativeLogLikelihoodLoss', 'SVMClassifier', 'SVMRegressor', 'LinearClassifier',
                     'LinearRegressor', 'FlexAttention', 'Scaler', 'Normalizer', 'TreeEnsemble', 'TreeEnsembleClassifier',
                     'TreeEnsembleRegressor', 'Adagrad', 'Adam', 'Momentum', 'BiasGelu', 'FastGelu', 'QuickGelu', 'FusedMatMul',
                     'TransposeMatMul', 'FusedGemm', 'FusedConv', 'MultiHeadAttention', 'GroupQueryAttention',
                     'SkipLayerNormalization', 'SkipSimplifiedLayerNormalization', 'SimplifiedLayerNormalization',
                     'EmbedLayerNormalization', 'MatMulNBits', 'MatMulIntegerToFloat', 'QGemm'), 128),
    'DynamicQuantizeMatMul': 1e6,  # A number that falls to the other side of a half is another one.
}
# In ULP of 1: what is made of terms about 1 and may come out far smaller.
UNIT = {**dict.fromkeys(('Sigmoid', 'HannWindow', 'HammingWindow', 'BlackmanWindow', 'Softplus', 'Gelu', 'Mish', 'Swish', 'BiasGelu',
                        'FastGelu', 'QuickGelu'), 4)}
# Where a float is rounded to an integer and may fall to either side of a half: units.
INTEGER = dict.fromkeys(('Resize', 'QuantizeLinear', 'QLinearConv', 'QLinearMatMul', 'DynamicQuantizeLinear',
                         'HannWindow', 'HammingWindow', 'BlackmanWindow', 'QGemm', 'QLinearAdd', 'QLinearMul', 'QLinearSigmoid',
                         'QLinearLeakyRelu', 'QLinearSoftmax', 'QLinearAveragePool', 'QLinearGlobalAveragePool',
                         'QLinearConcat', 'QLinearWhere'), 1)
# In ULP of each element, of lowered kernels (core/codegen/float_math.h): an exponent times a logarithm is up to 128.
LOWERED = {'Pow': 128}
# Random graphs: each node adds its own.
SEVERAL = 512


def of(operators, lowered=False):
    """(ULP of each element, ULP of the largest element, units of integers, least that the largest element counts)."""
    if len(operators) > 1:
        return 16, SEVERAL, 0, 0.0
    op = operators[0]
    element = ELEMENT.get(op, 0)
    if lowered:
        element = LOWERED.get(op, element)
    return element, max(TENSOR.get(op, 0), UNIT.get(op, 0)), INTEGER.get(op, 0), float(op in UNIT)
