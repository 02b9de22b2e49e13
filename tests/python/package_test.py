"""What newcomers do: build a wheel, install it into a fresh environment, and measure a model in three lines. Without a network:
what the package needs is Debian's."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import processes

BENCH = '''
import slipway
result = slipway.bench('digits.onnx')
print(result)
'''
PIP = ['-m', 'pip', '--disable-pip-version-check', '--no-input']


def run(*argv, cwd, **variables):
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    environment.update(variables)
    done = subprocess.run(argv, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope='module')
def clone(tmp_path_factory):
    """What of a clone the package is built of; nothing that was generated."""
    root = tmp_path_factory.mktemp('clone')
    for folder in ('client/python', 'proto/slipway'):
        shutil.copytree(os.path.join(processes.RUNFILES, folder), root / folder,
                        ignore=shutil.ignore_patterns('tests', 'build', 'protocol.binpb', '__pycache__', '*.egg-info'))
    return root


@pytest.fixture(scope='module')
def environment(tmp_path_factory):
    """A fresh one, with Debian's packages; returns its Python."""
    folder = tmp_path_factory.mktemp('venv')
    run(sys.executable, '-m', 'venv', '--system-site-packages', str(folder), cwd=folder)
    return str(folder / 'bin' / 'python')


def wheel(python, source, out, *options):
    run(python, *PIP, 'wheel', '--no-build-isolation', '--no-index', '--no-deps', '-w', str(out), *options, str(source),
        cwd=out)
    found = [name for name in os.listdir(out) if name.endswith('.whl')]
    assert len(found) == 1
    return str(out / found[0])


def test_three_lines_after_pip_install(clone, environment, tmp_path):
    run(environment, *PIP, 'install', '--no-build-isolation', '--no-index', './client/python', cwd=clone)
    shutil.copy(processes.DIGITS, tmp_path)
    shown = run(environment, '-c', BENCH, cwd=tmp_path)
    assert shown.startswith('digits.onnx on local, 1 thread, 100 samples')
    where = run(environment, '-c', 'import slipway; print(slipway.__file__)', cwd=tmp_path)
    assert where.startswith(os.path.dirname(os.path.dirname(environment)))


def test_what_is_in_a_wheel(clone, environment, tmp_path):
    made = wheel(environment, clone / 'client' / 'python', tmp_path)
    assert made.endswith('-py3-none-any.whl')
    names = zipfile.ZipFile(made).namelist()
    assert {'slipway/__init__.py', 'slipway/py.typed', 'slipway/_proto/protocol.binpb'} < set(names)
    assert not [name for name in names if name.endswith(('_pb2.py', '_test.py'))]
    metadata = zipfile.ZipFile(made).read('slipway-0.1.0.dist-info/METADATA').decode()
    required = [line for line in metadata.split('\n') if line.startswith('Requires-Dist') and 'extra' not in line]
    assert sorted(line.split()[1].partition('>')[0] for line in required) == ['grpcio', 'numpy', 'protobuf']
    assert 'Requires-Python: >=3.10' in metadata


def test_a_source_distribution_builds_without_the_clone(clone, environment, tmp_path):
    code = 'import sys; sys.path.insert(0, "build_backend"); import slipway_build; print(slipway_build.build_sdist(sys.argv[1]))'
    run(environment, '-c', code, str(tmp_path), cwd=clone / 'client' / 'python')
    archive = tmp_path / 'slipway-0.1.0.tar.gz'
    out = tmp_path / 'out'
    out.mkdir()
    made = wheel(environment, archive, out)
    assert 'slipway/_proto/protocol.binpb' in zipfile.ZipFile(made).namelist()


def test_a_wheel_with_binaries_needs_nothing_else(clone, environment, tmp_path):
    out = tmp_path / 'out'
    out.mkdir()
    made = wheel(environment, clone / 'client' / 'python', out,
                 f'--config-settings=--with-binaries={processes.RUNFILES}')
    assert '-py3-none-linux_' in made
    run(environment, *PIP, 'install', '--force-reinstall', '--no-index', '--no-deps', made, cwd=tmp_path)
    shutil.copy(processes.DIGITS, tmp_path)
    shown = run(environment, '-c', BENCH, cwd=tmp_path, SLIPWAY_SERVER_BINARY='', SLIPWAY_AGENT_BINARY='', PATH='/bin')
    assert shown.startswith('digits.onnx on local')
    # The next wheel from this clone has none.
    again = tmp_path / 'again'
    again.mkdir()
    assert wheel(environment, clone / 'client' / 'python', again).endswith('-py3-none-any.whl')
