"""Generators by (domain, operator): each adds a node of the Maker's operator with random attributes and data."""

from families import (classical, control, elementwise, microsoft, movement, normalization, reduction, sequence_models, strings,
                      vision_and_signal, window)

TRAINING = 'ai.onnx.preview.training'
PREVIEW = 'ai.onnx.preview'
GENERATORS = {(TRAINING, op): generator for op, generator in control.TRAINING.items()}
GENERATORS.update({(PREVIEW, op): generator for op, generator in sequence_models.PREVIEW.items()})
GENERATORS.update({('', op): generator for op, generator in microsoft.WITHOUT_DOMAIN.items()})
GENERATORS.update({(classical.DOMAIN, op): generator for op, generator in strings.CLASSICAL.items()})
for _family in (classical, control, elementwise, microsoft, movement, normalization, reduction, sequence_models, strings,
                vision_and_signal, window):
    for _op, _generator in _family.GENERATORS.items():
        GENERATORS[getattr(_family, 'DOMAIN', ''), _op] = _generator
