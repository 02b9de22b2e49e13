#!/usr/bin/env python3
"""Exports models of every kind and stores what ONNX Runtime makes of them.

    python3 make_exported_models.py FOLDER [--only REGEX] [--full] [--batch N]

Writes FOLDER/NAME.FORM/model.onnx with test_data_set_N/{input,output}_N.pb beside it, the layout of ONNX's own tests. Models
are those of torch_models.py by both of PyTorch's exporters, with all extents known and with free ones, some of these as int8
too, and those of tree_models.py. Those with free extents have a data set for each of three sizes.
Weights and inputs are seeded random numbers: nothing is downloaded. Models are small, or with --full of their usual size,
for one input at a time or for N of --batch. A model whose data sets are there is complete.
Exits with 77, and says what is absent, without the packages it needs.
"""

import argparse
import importlib
import importlib.util
import multiprocessing
import os
import re
import shutil
import sys
import traceback

NEEDED = ["numpy", "onnx", "onnxruntime", "onnxscript", "timm", "torch", "torchvision", "transformers"]
ABSENT = 77
JOBS = 2

# What torch.onnx.export is told.
EXPORTERS = {
    "torchscript17": {"dynamo": False, "opset_version": 17},
    "torchscript20": {"dynamo": False, "opset_version": 20},
    "dynamo18": {"dynamo": True, "opset_version": 18, "external_data": False},
    "dynamo25": {"dynamo": True, "opset_version": 25, "external_data": False},
}

FREE = ["torchscript17", "dynamo25"]  # The exporters of models with free axes.

# The extents that free axes have in turn. The second ones are those that exporters see.
SIZES = {
    "batch": (1, 3, 2),
    "seq": (2, 21, 9),
    "height": (64, 32, 96),
    "width": (32, 64, 96),
    "samples": (512, 1600, 3001),
}


def save(folder, path, data_sets):
    """The inputs of each data set, and what ONNX Runtime makes of them, node by node as ONNX says."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    for number, inputs in enumerate(data_sets):
        outputs = session.run(None, dict(zip(names, inputs)))
        data = os.path.join(folder, f"test_data_set_{number}")
        unfinished = data + ".unfinished"
        os.makedirs(unfinished, exist_ok=True)
        for kind, values in (("input", inputs[: len(names)]), ("output", outputs)):
            for i, value in enumerate(values):
                with open(os.path.join(unfinished, f"{kind}_{i}.pb"), "wb") as file:
                    file.write(onnx.numpy_helper.from_array(value).SerializeToString())
        shutil.rmtree(data, ignore_errors=True)
        os.replace(unfinished, data)


def export(folder, name, exporter, full, free=False, batch=1):
    import torch
    from torch_models import FREE_AXES, MODELS, outputs_of

    torch.manual_seed(7)
    module, inputs = MODELS[name](full)
    module.eval()
    settle(module, inputs, FREE_AXES[name])
    if batch != 1:
        inputs = batched(inputs, FREE_AXES[name], batch)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    settings = dict(EXPORTERS[exporter])
    data_sets = [inputs]
    if free:
        axes = FREE_AXES[name]
        data_sets = [sized(inputs, axes, turn) for turn in range(3)]
        if settings["dynamo"]:
            settings["dynamic_shapes"] = (tuple(axes),)
            module = outputs_of(module, lambda made: made)  # Its inputs are one list.
        else:
            settings["input_names"] = [f"input_{i}" for i in range(len(inputs))]
            settings["dynamic_axes"] = dict(zip(settings["input_names"], axes))
        inputs = data_sets[1]
    with torch.no_grad():
        torch.onnx.export(module, inputs, path, **settings)
    save(folder, path, [[tensor.numpy() for tensor in data_set] for data_set in data_sets])


def settle(module, inputs, axes):
    """Gives batch normalizations the statistics of what they get, as training does, and what they get a size that they can
    enlarge: else activations vanish or overflow."""
    import torch

    normalizations = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not normalizations:
        return
    for inner in module.modules():
        if isinstance(inner, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(inner.weight)
    for normalization in normalizations:
        normalization.train()
        normalization.reset_running_stats()
        normalization.momentum = None  # The mean of what was seen.
    together, times = (8, 1) if axes[0].get(0) == "batch" else (1, 8)
    with torch.no_grad():
        for _ in range(times):
            module(*[torch.randn(together, *tensor.shape[1:]) for tensor in inputs])
    module.eval()


def sized(inputs, axes, turn):
    """`inputs` with the free axes of the extents that they have in a turn, made of the same elements."""
    import torch

    made = []
    for tensor, free in zip(inputs, axes):
        shape = list(tensor.shape)
        for axis, name in free.items():
            shape[axis] = SIZES[name][turn]
        made.append(tensor.flatten()[torch.randint(tensor.numel(), shape)] if free else tensor)
    return tuple(made)


def batched(inputs, axes, batch):
    """`inputs` for `batch` of them at a time, made of the same elements."""
    import torch

    made = []
    for tensor, free in zip(inputs, axes):
        if free.get(0) != "batch":
            raise ValueError("it takes one input at a time")
        made.append(tensor.flatten()[torch.randint(tensor.numel(), (batch, *tensor.shape[1:]))])
    return tuple(made)


def make_trees(folder, name):
    import onnx
    from tree_models import MODELS

    model, data_sets = MODELS[name]()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    save(folder, path, data_sets)


def quantize(folder, source, form):
    """An int8 form of a model that has been exported beside it."""
    import onnxruntime.quantization as quantization
    from onnx import numpy_helper, load_tensor

    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    source = os.path.join(os.path.dirname(folder), source)
    data = os.path.join(source, "test_data_set_0")
    inputs = [numpy_helper.to_array(load_tensor(os.path.join(data, file))) for file in sorted(os.listdir(data)) if file.startswith("input")]
    source = os.path.join(source, "model.onnx")
    if form == "dynamic":
        quantization.quantize_dynamic(source, path)
    else:
        import onnxruntime
        from onnxruntime.quantization.shape_inference import quant_pre_process

        quant_pre_process(source, path)
        source = path

        names = [value.name for value in onnxruntime.InferenceSession(source).get_inputs()]

        class Once(quantization.CalibrationDataReader):
            def __init__(self):
                self.rows = iter([dict(zip(names, inputs))])

            def get_next(self):
                return next(self.rows, None)

        quantization.quantize_static(source, path, Once(), quant_format=quantization.QuantFormat[form])
    save(folder, path, [inputs])


QUANTIZED = {  # From what, and how.
    "mobilenet_v3.qdq": ("mobilenet_v3.torchscript17", "QDQ"),
    "mobilenet_v3.qoperator": ("mobilenet_v3.torchscript17", "QOperator"),
    "bert.dynamic": ("bert.torchscript17", "dynamic"),
    "mobilenet_v2.qdq": ("mobilenet_v2.torchscript17", "QDQ"),
    "resnet.qdq": ("resnet.torchscript17", "QDQ"),
}


def attempt(task):
    """Does a task: the name of a model, a function and what it takes after the folder. None, or what went wrong."""
    folder, name, function, rest = task
    try:
        function(os.path.join(folder, name), *rest)
        return name, None
    except Exception as error:
        traceback.print_exc()
        return name, f"{type(error).__name__}: {str(error)[:300]}"


def tasks(full, batch):
    """Those that need nothing, and those that need models of the first."""
    import torch_models
    import tree_models

    made = [(name, make_trees, (name,)) for name in tree_models.MODELS]
    for name in torch_models.MODELS:
        for exporter, settings in EXPORTERS.items():
            if settings["dynamo"] and name in torch_models.SCRIPTS:
                continue
            made.append((f"{name}.{exporter}", export, (name, exporter, full, False, batch)))
            if exporter in FREE:
                made.append((f"{name}.{exporter}.free", export, (name, exporter, full, True)))
    return made, [(name, quantize, (source, form)) for name, (source, form) in QUANTIZED.items()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--batch", type=int, default=1)
    arguments = parser.parse_args()
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print("not installed: " + ", ".join(absent))
        return ABSENT
    for name in NEEDED:
        importlib.import_module(name)
    # PyTorch prints what it likes; the names of models that are written are all that is printed here.
    progress = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    failed = False
    for group in tasks(arguments.full, arguments.batch):
        # A process for each: what an export leaves in PyTorch changes those after it.
        with multiprocessing.get_context("fork").Pool(JOBS, maxtasksperchild=1) as pool:
            chosen = [(arguments.folder, *task) for task in group if re.search(arguments.only, task[0])]
            for name, error in pool.imap(attempt, chosen, chunksize=1):
                print(name if error is None else f"{name}: {error}", file=progress, flush=True)
                failed |= error is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
