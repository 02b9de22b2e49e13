#!/usr/bin/env python3
"""Runs models in another engine, as its lines on standard input ask; runs in that engine's environment.

    python worker.py onnxruntime|openvino|tvm|iree

Each line is a JSON object, and so is each answer:

    {"do": "load", "model": FILE, "inputs": [FILE.pb], "threads": N, "precision": P}   {"version": TEXT}
    {"do": "time", "samples": N}              {"samples_ns": [of a sample], "iterations_per_sample": N}
    {"do": "outputs", "folder": FOLDER}       {"files": [FILE.npy]}
    {"do": "unload"}                          {}

{"error": TEXT} says why not. A sample is as Slipway's own: a call, or as many as take a millisecond.
"""

import importlib
import json
import os
import sys
import time

MIN_SAMPLE_NS = 1_000_000


def sample(call, iterations):
    begin = time.perf_counter_ns()
    for _ in range(iterations):
        call()
    return time.perf_counter_ns() - begin


class Worker:

    def __init__(self, peer):
        self._peer = peer
        self._call = None

    def load(self, model, inputs, threads, precision):
        import onnx
        arrays = []
        for path in inputs:
            tensor = onnx.TensorProto()
            with open(path, 'rb') as file:
                tensor.ParseFromString(file.read())
            arrays.append(onnx.numpy_helper.to_array(tensor))
        self._call = self._peer.Model(model, arrays, threads, precision)
        return {'version': self._peer.VERSION}

    def time(self, samples):
        iterations = 1
        while (took := sample(self._call.run, iterations)) < MIN_SAMPLE_NS:
            iterations = min(10 * iterations, iterations * MIN_SAMPLE_NS // max(took, 1) + 1)
        return {'samples_ns': [sample(self._call.run, iterations) for _ in range(samples)],
                'iterations_per_sample': iterations}

    def outputs(self, folder):
        import numpy
        self._call.run()
        files = []
        for number, array in enumerate(self._call.outputs()):
            files.append(os.path.join(folder, f'output_{number}.npy'))
            numpy.save(files[-1], array)
        return {'files': files}

    def unload(self):
        self._call = None
        return {}


def main():
    # Engines print what they like; answers go where standard output was.
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    worker = Worker(importlib.import_module(sys.argv[1] + '_peer'))
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(worker, question.pop('do'))(**question)
        except Exception as error:
            answer = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == '__main__':
    main()
