"""The package is annotated: mypy --strict finds nothing, and shows users the types of what they call."""

import os
import subprocess
import sys

import processes

PACKAGE = os.path.join(processes.RUNFILES, 'client', 'python')


def mypy(*arguments, cwd=PACKAGE):
    return subprocess.run([sys.executable, '-m', 'mypy', '--cache-dir=/dev/null', *arguments], cwd=cwd,
                          stdout=subprocess.PIPE, text=True, check=False)


def test_strict():
    done = mypy('--strict', '--config-file=pyproject.toml', 'slipway')
    assert done.returncode == 0, done.stdout


def test_methods_have_the_types_of_their_work(tmp_path):
    user = tmp_path / 'user.py'
    user.write_text('import slipway\n'
                    'reveal_type(slipway.bench("net.onnx").p50_ns)\n'
                    'slipway.bench("net.onnx", samples="many")\n'
                    'reveal_type(slipway.Client().compile("net.onnx"))\n')
    shown = mypy('--ignore-missing-imports', str(user), cwd=PACKAGE).stdout
    assert 'Revealed type is "builtins.float"' in shown
    assert 'Argument "samples"' in shown and 'expected "Optional[int]"' in shown
    assert 'Revealed type is "slipway._results.Compilation"' in shown
