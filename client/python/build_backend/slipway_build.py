"""Builds the package: setuptools, after the protocol is made of proto/.

What is made is a set of descriptors, which any version of protobuf reads, and no code (DESIGN.md). From a clone it is made
of the .proto files there; a source distribution has it inside.

    pip wheel client/python --config-settings=--with-binaries=bazel-bin

also takes slipwayd, slipway-agent and slipway-compile-worker into the wheel, from a folder that holds them as Bazel leaves
them or side by side.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig

from setuptools import build_meta

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROTOS = os.path.join(ROOT, 'proto', 'slipway', 'v1')
MADE = os.path.join(HERE, 'slipway', '_proto', 'protocol.binpb')
BINARY_FOLDER = os.path.join(HERE, 'slipway', '_bin')

# Where Bazel leaves each, below the folder that is named.
BINARIES = {
    'slipwayd': 'server',
    'slipway-agent': 'device_agent',
    'slipway-compile-worker': os.path.join('server', 'compile_worker'),
}
WITH_BINARIES = '--with-binaries'


def _is_clone():
    return os.path.isdir(PROTOS)


def _protoc():
    """The command line of a compiler of .proto files; None where there is none."""
    if importlib.util.find_spec('grpc_tools') is not None:
        return [sys.executable, '-m', 'grpc_tools.protoc']
    found = shutil.which('protoc')
    return [found] if found else None


def _make_protocol():
    if not _is_clone():
        if not os.path.exists(MADE):
            raise RuntimeError(f'neither {PROTOS} nor {MADE} is there: build from a clone, or from a source distribution')
        return
    protoc = _protoc()
    if protoc is None:
        raise RuntimeError('there is no protoc: install protobuf-compiler of Debian, or grpcio-tools')
    names = sorted(os.path.join('proto', 'slipway', 'v1', name)
                   for name in os.listdir(PROTOS) if name.endswith('.proto'))
    made = MADE + '.new'
    subprocess.run([*protoc, f'-I{ROOT}', '--include_imports', f'--descriptor_set_out={made}', *names],
                   cwd=ROOT, check=True)
    os.replace(made, MADE)


def _take_binaries(folder):
    """Copies the binaries of `folder` to where the package has them; none without a folder."""
    for name in os.listdir(BINARY_FOLDER):
        if name != '__init__.py':
            os.remove(os.path.join(BINARY_FOLDER, name))
    if folder is None:
        return
    for name, below in BINARIES.items():
        places = [os.path.join(folder, name), os.path.join(folder, below, name)]
        found = next((place for place in places if os.path.isfile(place)), None)
        if found is None:
            raise RuntimeError(f'{WITH_BINARIES}={folder}: {name} is neither at ' + ' nor at '.join(places))
        copy = os.path.join(BINARY_FOLDER, name)
        shutil.copyfile(found, copy)
        os.chmod(copy, 0o755)


def _split(settings):
    """Parts what is said to this backend from what is said to setuptools."""
    rest = dict(settings or {})
    folder = rest.pop(WITH_BINARIES, None)
    if folder is not None:
        folder = os.path.abspath(os.path.join(os.environ.get('PWD', os.getcwd()), folder))
        platform = sysconfig.get_platform().replace('-', '_').replace('.', '_')
        rest['--build-option'] = ['--plat-name', platform]
    return folder, rest or None


def _requirements(asked):
    needs_tools = _is_clone() and _protoc() is None
    return asked + (['grpcio-tools'] if needs_tools else [])


def get_requires_for_build_wheel(config_settings=None):
    return _requirements(build_meta.get_requires_for_build_wheel(_split(config_settings)[1]))


def get_requires_for_build_sdist(config_settings=None):
    return _requirements(build_meta.get_requires_for_build_sdist(_split(config_settings)[1]))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, _split(config_settings)[1])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder, rest = _split(config_settings)
    _make_protocol()
    _take_binaries(folder)
    try:
        return build_meta.build_wheel(wheel_directory, rest, metadata_directory)
    finally:
        _take_binaries(None)


def build_sdist(sdist_directory, config_settings=None):
    _make_protocol()
    return build_meta.build_sdist(sdist_directory, _split(config_settings)[1])
