"""Weights for models without: those of onnx/onnx called "light" make theirs by ConstantOfShape."""

import numpy

# Inputs of each operator: mean and standard deviation, or None for the scale of He et al., "Delving Deep into
# Rectifiers", 2015, by which activations keep their size through the layers.
SCALES = {
    'Conv': {1: None, 2: (0, 0.1)},
    'Gemm': {1: None, 2: (0, 0.1)},
    'BatchNormalization': {1: (1, 0.1), 2: (0, 0.1), 3: (0, 0.1), 4: (1, 0.1)},
}


def weights(shape, scale, generator):
    """Normal numbers of f32; `scale` as in SCALES."""
    if scale is None:
        inner = numpy.prod(shape[1:]) if len(shape) > 1 else 1
        scale = (0, (2 / inner) ** 0.5)
    mean, deviation = scale
    return (generator.standard_normal(shape) * deviation + mean).astype(numpy.float32)


def seeded(model, onnx, seed=1):
    """Gives `model` (of the package `onnx`) weights for nodes that make one number; whether it has any."""
    graph = model.graph
    generator = numpy.random.Generator(numpy.random.PCG64(seed))
    shapes = {tensor.name: tensor for tensor in graph.initializer}
    fills = {node.output[0]: node for node in graph.node if node.op_type == 'ConstantOfShape'
             and node.input[0] in shapes}
    filled = []
    for node in list(graph.node):
        for number, scale in SCALES.get(node.op_type, {}).items():
            fill = fills.pop(node.input[number], None) if number < len(node.input) else None
            if fill is None:
                continue
            shape = tuple(onnx.numpy_helper.to_array(shapes[fill.input[0]]))
            tensor = onnx.numpy_helper.from_array(weights(shape, scale, generator), fill.output[0])
            graph.node.remove(fill)
            filled.append(tensor.name)
            graph.initializer.append(tensor)
    return bool(filled)


def last_product(model):
    """The node whose sums a classifier's Softmax gets; None where there is none."""
    products = [node for node in model.graph.node if node.op_type in ('Conv', 'Gemm')]
    return products[-1] if products else None


def divide(model, onnx, node, divisor):
    """Makes the sums of a node smaller, lest a Softmax after it shows one number alone."""
    for tensor in model.graph.initializer:
        if tensor.name in node.input[1:]:
            array = onnx.numpy_helper.to_array(tensor) / numpy.float32(divisor)
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
