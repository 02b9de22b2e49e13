"""Runs cases through Slipway's engines, by onnx_backend_test."""

import json
import os
import subprocess

import onnx
from onnx import numpy_helper

ENGINES = ('reference', 'compiled')


def write_case(case, folder, expected=()):
    """Writes a case in the layout of ONNX's own tests."""
    data = os.path.join(folder, case.name, 'test_data_set_0')
    os.makedirs(data, exist_ok=True)
    with open(os.path.join(folder, case.name, 'model.onnx'), 'wb') as file:
        file.write(case.model.SerializeToString())
    for kind, arrays in (('input', case.inputs.values()), ('output', expected)):
        for i, array in enumerate(arrays):
            with open(os.path.join(data, f'{kind}_{i}.pb'), 'wb') as file:
                file.write(numpy_helper.from_array(array, f'{kind}_{i}').SerializeToString())


def _read_outputs(folder):
    arrays = []
    while os.path.exists(path := os.path.join(folder, f'output_{len(arrays)}.pb')):
        tensor = onnx.TensorProto()
        with open(path, 'rb') as file:
            tensor.ParseFromString(file.read())
        arrays.append(numpy_helper.to_array(tensor))
    return arrays


def run(runner, engine, folder, outputs, deadline=60):
    """What `engine` makes of the cases in `folder`: by name (arrays, None) or (None, why there are none)."""
    os.makedirs(outputs, exist_ok=True)
    results = os.path.join(outputs, 'results.json')
    subprocess.run([runner, '--data', folder, '--engine', engine, '--json', results, '--outputs', outputs,
                    '--deadline', f'{deadline}s'], check=False, stdout=subprocess.DEVNULL)
    with open(results, encoding='utf-8') as file:
        cases = json.load(file)['cases']
    made = {}
    for case in cases:
        arrays = _read_outputs(os.path.join(outputs, case['name']))
        refused = case['verdict'] in ('unsupported', 'crashed', 'hung') or not arrays
        made[case['name']] = (None, case['reason']) if refused else (arrays, None)
    return made
