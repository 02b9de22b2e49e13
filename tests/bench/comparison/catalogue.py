"""The models there are, and what each is made of. Nothing is downloaded."""

import fnmatch
import os

# By tests/models/make_exported_models.py, in their usual size. NAME.FORM names another form of it.
EXPORTED = [
    'resnet', 'densenet', 'vgg', 'mobilenet_v2', 'mobilenet_v2_padded', 'mobilenet_v3', 'efficientnet',
    'efficientnet_padded', 'convnext', 'vit', 'yolo', 'ssd', 'unet', 'segformer', 'bert', 'gpt2', 'lstm',
    'gru', 'mlp']
FORM = 'torchscript17'
QUANTIZED = ['resnet.qdq', 'mobilenet_v2.qdq']

# By tests/models/make_models.py, in the same layout as a folder of models.
WRITTEN = {'resnet50.written': 'resnet50', 'mobilenet_v2.written': 'mobilenet_v2'}


class Source:
    """Where a model comes from: `kind` is exported, written or file."""

    def __init__(self, name, kind, what):
        self.name = name
        self.kind = kind
        self.what = what  # NAME.FORM, the name of make_models.py, or a path.

    def is_int8(self):
        return self.what.endswith(('.qdq', '.qoperator'))


def in_folder(folder):
    """Every .onnx below a folder, by its name, or by its folder's where the file is model.onnx."""
    found = []
    for path, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            if not file.endswith('.onnx'):
                continue
            name = os.path.basename(path) if file == 'model.onnx' else file.removesuffix('.onnx')
            found.append(Source(name, 'file', os.path.join(path, file)))
    return found


def sources(folders=()):
    """{name: Source}; a folder's names go before ours."""
    rows = [Source(name, 'exported', f'{name}.{FORM}') for name in EXPORTED]
    rows += [Source(name, 'exported', name) for name in QUANTIZED]
    rows += [Source(name, 'written', what) for name, what in WRITTEN.items()]
    for folder in folders:
        rows += in_folder(folder)
    return {row.name: row for row in rows}


def chosen(known, wanted):
    """The sources that `wanted` names, each once, in its order: names, patterns with *, or NAME.FORM.

    KeyError has what is unknown.
    """
    if not wanted:
        return list(known.values())
    made = {}
    for pattern in wanted:
        names = fnmatch.filter(known, pattern)
        name, _, form = pattern.partition('.')
        if not names and form and name in EXPORTED:
            made[pattern] = Source(pattern, 'exported', pattern)
        elif not names:
            raise KeyError(pattern)
        for name in names:
            made[name] = known[name]
    return list(made.values())
