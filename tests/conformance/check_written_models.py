"""Writes published cases that have bodies with graph_opt, and runs what it wrote.

    check_written_models.py GRAPH_OPT CASES

Every model below the folder CASES with a body (If, Loop, Scan), but those of
sequences, is written to ONNX again: onnx.checker must accept it, and ONNX Runtime must make the case's
results of it. Prints a line a case. Exit code 1 where one is wrong, 77 where a
package is absent.
"""

import glob
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError as error:
    print("not installed: %s" % error.name)
    sys.exit(77)

OPSET = 21


def has_body(graph):
    return any(a.HasField("g") for node in graph.node for a in node.attribute)


def tensors(folder, kind):
    made = []
    while os.path.exists(os.path.join(folder, "%s_%d.pb" % (kind, len(made)))):
        tensor = onnx.TensorProto()
        with open(os.path.join(folder, "%s_%d.pb" % (kind, len(made))), "rb") as file:
            tensor.ParseFromString(file.read())
        made.append(numpy_helper.to_array(tensor))
    return made


def problem_of(graph_opt, case, path):
    """What is wrong with the case, or None."""
    written = subprocess.run(
        [graph_opt, os.path.join(case, "model.onnx"), "--passes", "InferType", "--to", "onnx",
         "--opset", str(OPSET), "--output", path, "--no-table"],
        capture_output=True, text=True)
    if written.returncode != 0:
        return written.stderr
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for data in sorted(glob.glob(os.path.join(case, "test_data_set_*"))):
        inputs = tensors(data, "input")
        feeds = {put.name: value for put, value in zip(session.get_inputs(), inputs)}
        for made, wanted in zip(session.run(None, feeds), tensors(data, "output"), strict=True):
            if made.shape != wanted.shape or not np.allclose(made, wanted, rtol=1e-4, atol=1e-5):
                return "makes other results"
    return None


def main():
    graph_opt, cases = sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(cases, "*", "model.onnx"))):
            model = onnx.load(path)
            # Of sequences a graph does not know the elements' types.
            sequences = any(not value.type.HasField("tensor_type")
                            for value in [*model.graph.input, *model.graph.output])
            if not has_body(model.graph) or sequences:
                continue
            case = os.path.dirname(path)
            name = os.path.basename(case)
            try:
                problem = problem_of(graph_opt, case, os.path.join(folder, "again.onnx"))
            except Exception as error:  # Of the checker and the runtime, whatever it is.
                problem = str(error)
            wrong += problem is not None
            print(name, problem or "passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
