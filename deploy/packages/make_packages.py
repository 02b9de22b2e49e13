#!/usr/bin/env python3
"""Makes the .deb files of Slipway from what was built.

Usage: make_packages.py --binary NAME=FILE... --library FOLDER --out FOLDER
                        --python FOLDER --protocol FILE
                        --maintainer "NAME <ADDRESS>" --epoch SECONDS

The same files and the same --epoch give the same packages, to the byte.
FOLDER of --python is client/python, FILE of --protocol its descriptors; that of --library has libslipway.a, slipway.link_flags and slipway_headers.tar.
"""

import argparse
import dataclasses
import datetime
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import completions  # pylint: disable=wrong-import-position
import help_pages  # pylint: disable=wrong-import-position
import manual  # pylint: disable=wrong-import-position

# What a project outside of this one may include, and all that these include.
PUBLIC_HEADERS = [
    'client/client.h',
    'client/session.h',
    'core/artifact/slip_file.h',
    'core/exporters/onnx/onnx_exporter.h',
    'core/graph/builder.h',
    'core/graph/edit.h',
    'core/graph/graph.h',
    'core/graph/text.h',
    'core/graph/verifier.h',
    'core/importers/onnx/onnx_importer.h',
    'core/operators/register_all.h',
    'core/passes/pass.h',
    'core/passes/pipeline.h',
]

# Debian's packages of the archives in link_flags, and of the headers that ours include.
LIBRARY_PACKAGES = [
    'libabsl-dev', 'libc-ares-dev', 'libgrpc++-dev', 'libgrpc-dev',
    'libprotobuf-dev', 'libre2-dev', 'libssl-dev', 'zlib1g-dev'
]


@dataclasses.dataclass(frozen=True)
class Package:
    """`binaries` are (name, section of its manual); `units` services."""
    name: str
    summary: str
    description: str
    binaries: tuple = ()
    units: tuple = ()
    depends: tuple = ()
    recommends: tuple = ()
    section: str = 'science'
    library: bool = False
    python: bool = False


PACKAGES = [
    Package('slipway',
            'compile ML models, run them on devices and measure them',
            'The command: it compiles ONNX models on a Slipway server, runs '
            'them on devices and reports what they measured; with slipwayd and '
            'slipway-agent on the same machine it needs no server.',
            binaries=(('slipway', 1),),
            recommends=('slipwayd', 'slipway-agent')),
    Package('slipwayd',
            'compile server for ML models and their devices',
            'The server with its compiler and its page: it takes ONNX models over gRPC, '
            'compiles them to native code and keeps jobs, artifacts and '
            'devices; browsers show what it does. Server and page run as users of '
            'their own.',
            binaries=(('slipwayd', 8), ('slipway-compile-worker', 8),
                      ('slipway-web', 8)),
            units=('slipwayd', 'slipway-web'),
            # The compiler links kernels.
            depends=('lld-14', 'llvm-14')),
    Package('slipway-agent',
            'runs and measures ML models on a device',
            'The agent: one file that needs the C library alone. It fetches '
            'what its server has compiled, runs it in a process that is '
            'confined, and reports what it measured.',
            binaries=(('slipway-agent', 8),),
            units=('slipway-agent',)),
    Package('libslipway-dev',
            'C++ library of Slipway: jobs, sessions and graphs',
            'Headers and a static library for programs that compile and run '
            'models on a Slipway server, hold its devices in sessions, or read, '
            'change and write graphs of models; with files for pkg-config and '
            'CMake.',
            depends=tuple(LIBRARY_PACKAGES),
            section='libdevel',
            library=True),
    Package('python3-slipway',
            'compile, run and measure ML models from Python',
            'The Python package: it compiles and runs models on a Slipway '
            'server, or on this machine alone with slipwayd and slipway-agent, '
            'and takes and gives NumPy arrays; with a plug-in for pytest.',
            depends=('python3 (>= 3.10)', 'python3-grpcio', 'python3-numpy',
                     'python3-protobuf'),
            recommends=('slipwayd', 'slipway-agent'),
            section='python',
            python=True),
]

LICENSE = ' Apache-2.0. The text is in /usr/share/common-licenses/Apache-2.0.'


def run(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          text=True, **options).stdout


class Maker:
    """Makes packages in `staging`, of which nothing is left in them."""

    def __init__(self, arguments, staging):
        self.binaries = dict(item.split('=', 1) for item in arguments.binary)
        self.library = pathlib.Path(arguments.library)
        self.python = pathlib.Path(arguments.python)
        self.protocol = pathlib.Path(arguments.protocol)
        self.out = pathlib.Path(arguments.out)
        self.maintainer = arguments.maintainer
        self.epoch = arguments.epoch
        self.level = arguments.level
        self.staging = staging
        date = datetime.datetime.fromtimestamp(self.epoch, datetime.timezone.utc)
        self.date = date.strftime('%Y-%m-%d')
        self.stamp = date.strftime('%a, %d %b %Y %H:%M:%S +0000')
        self.version = run([self.binaries['slipway'], '--version']).split()[1]
        self.architecture = run(['dpkg', '--print-architecture']).strip()
        self.multiarch = run(['dpkg-architecture', '-qDEB_HOST_MULTIARCH']).strip()

    def write(self, path, text, mode=0o644):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)

    def write_gzip(self, path, text):
        self.write(path, gzip.compress(text.encode(), 9, mtime=0))

    def binary(self, name, section, root):
        target = root / 'usr/bin' / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.binaries[name], target)
        run(['strip', '--strip-unneeded', '--remove-section=.comment',
             '--remove-section=.note', target])
        target.chmod(0o755)
        pages = help_pages.read(name, self.binaries[name])
        for page in pages:
            self.write_gzip(
                root / f'usr/share/man/man{section}/{page.name}.{section}.gz',
                manual.manual(page, pages, section, self.version, self.date))
        share = root / 'usr/share'
        self.write(share / 'bash-completion/completions' / name,
                   completions.bash(pages))
        self.write(share / f'zsh/vendor-completions/_{name}',
                   completions.zsh(pages))
        self.write(share / f'fish/vendor_completions.d/{name}.fish',
                   completions.fish(pages))

    def services(self, package, root):
        units = HERE / 'units'
        for name in package.units:
            self.write(root / f'lib/systemd/system/{name}.service',
                       (units / f'{name}.service').read_text())
            self.write(root / f'usr/lib/sysusers.d/{name}.conf',
                       (units / f'{name}.sysusers').read_text())
            self.write(root / f'etc/slipway/{name}.conf',
                       (units / f'{name}.conf').read_text())
        self.write(root / 'DEBIAN/conffiles',
                   ''.join(f'/etc/slipway/{name}.conf\n' for name in package.units))
        for script in ('postinst', 'prerm', 'postrm'):
            text = (HERE / f'maintainer/{script}').read_text()
            self.write(root / 'DEBIAN' / script,
                       text.replace('@UNITS@', ' '.join(package.units)), 0o755)
        self.write(root / f'usr/share/doc/{package.name}/README.Debian',
                   (units / f'{package.name}.README').read_text())

    def included(self):
        """The public headers and all of ours that they include."""
        tree = self.staging / 'headers'
        shutil.unpack_archive(self.library / 'slipway_headers.tar', tree)
        found, waiting = set(), list(PUBLIC_HEADERS)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            text = (tree / name).read_text()
            waiting += [included for included in
                        re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
                        if (tree / included).exists()]
        return tree, sorted(found)

    def dev_files(self, root):
        tree, names = self.included()
        for name in names:
            self.write(root / 'usr/include/slipway' / name,
                       (tree / name).read_bytes())
        folder = root / 'usr/lib' / self.multiarch
        folder.mkdir(parents=True)
        archive = folder / 'libslipway.a'
        shutil.copyfile(self.library / 'libslipway.a', archive)
        archive.chmod(0o644)
        run(['strip', '--strip-debug', '--enable-deterministic-archives', archive])
        flags = (self.library / 'slipway.link_flags').read_text().split()
        # Other linkers than ours look through archives once, in their order.
        libraries = ['-Wl,--start-group', *flags, '-Wl,--end-group']
        values = {'VERSION': self.version, 'MULTIARCH': self.multiarch,
                  'FLAGS': ' '.join(libraries), 'CMAKE_FLAGS': ';'.join(libraries)}
        for source, target in [
                ('slipway.pc', f'usr/lib/{self.multiarch}/pkgconfig/slipway.pc'),
                ('slipway-config.cmake',
                 f'usr/lib/{self.multiarch}/cmake/slipway/slipway-config.cmake'),
                ('slipway-config-version.cmake',
                 f'usr/lib/{self.multiarch}/cmake/slipway/'
                 'slipway-config-version.cmake')]:
            text = (HERE / 'dev' / source).read_text()
            for name, value in values.items():
                text = text.replace(f'@{name}@', value)
            self.write(root / target, text)

    def python_files(self, root):
        """The package as pip would install it, and what pip would know of it."""
        folder = root / 'usr/lib/python3/dist-packages'
        for file in sorted((self.python / 'slipway').rglob('*')):
            if file.suffix == '.py' or file.name == 'py.typed':
                self.write(folder / file.relative_to(self.python), file.read_bytes())
        self.write(folder / 'slipway/_proto/protocol.binpb', self.protocol.read_bytes())
        project = tomllib.loads((self.python / 'pyproject.toml').read_text())['project']
        if project['version'] != self.version:
            raise ValueError(f'the Python package is {project["version"]}, all else '
                             f'{self.version}')
        known = folder / f'slipway-{self.version}.dist-info'
        self.write(known / 'METADATA',
                   f'Metadata-Version: 2.1\nName: slipway\nVersion: {self.version}\n'
                   f'Summary: {project["description"]}\n'
                   f'Requires-Python: {project["requires-python"]}\n' +
                   ''.join(f'Requires-Dist: {name}\n' for name in project['dependencies']))
        self.write(known / 'INSTALLER', 'dpkg\n')
        self.write(known / 'entry_points.txt', ''.join(
            f'[{group}]\n' + ''.join(f'{name} = {value}\n'
                                     for name, value in points.items())
            for group, points in project['entry-points'].items()))
        for script in ('postinst', 'prerm'):
            self.write(root / 'DEBIAN' / script,
                       (HERE / f'maintainer/python.{script}').read_text(), 0o755)

    def architecture_of(self, package):
        return 'all' if package.python else self.architecture

    def shared_libraries(self, package, root):
        """What its binaries link, as dependencies on Debian's packages."""
        files = sorted((root / 'usr/bin').glob('*')) if package.binaries else []
        if not files:
            return []
        folder = self.staging / 'shlibdeps'
        self.write(folder / 'debian/control', f'Source: {package.name}\n\n'
                   f'Package: {package.name}\nArchitecture: any\n')
        line = run(['dpkg-shlibdeps', '-O', *[f'-e{file}' for file in files]],
                   cwd=folder, stderr=subprocess.DEVNULL)
        return line.strip().removeprefix('shlibs:Depends=').split(', ')

    def control(self, package, root):
        depends = self.shared_libraries(package, root) + list(package.depends)
        if package.units:
            depends.append('systemd | systemd-standalone-sysusers')
        size = sum((file.stat().st_size + 1023) // 1024
                   for file in root.rglob('*')
                   if file.is_file() and 'DEBIAN' not in file.parts)
        fields = [('Package', package.name), ('Version', self.version),
                  ('Architecture', self.architecture_of(package)),
                  ('Maintainer', self.maintainer),
                  ('Installed-Size', str(size)),
                  ('Depends', ', '.join(depends)),
                  ('Recommends', ', '.join(package.recommends)),
                  ('Section', package.section), ('Priority', 'optional')]
        text = ''.join(f'{name}: {value}\n' for name, value in fields if value)
        words, line, lines = package.description.split(), '', []
        for word in words:
            if line and len(line) + len(word) > 76:
                lines.append(line)
                line = ''
            line = f'{line} {word}' if line else f' {word}'
        lines.append(line)
        text += f'Description: {package.summary}\n' + '\n'.join(lines) + '\n'
        self.write(root / 'DEBIAN/control', text)

    def documents(self, package, root):
        folder = root / 'usr/share/doc' / package.name
        self.write(folder / 'copyright',
                   'Format: https://www.debian.org/doc/packaging-manuals/'
                   'copyright-format/1.0/\nUpstream-Name: slipway\n\n'
                   'Files: *\nCopyright: 2026 The authors of Slipway\n'
                   f'License: Apache-2.0\n{LICENSE}\n')
        self.write_gzip(folder / 'changelog.gz',
                        f'slipway ({self.version}) unstable; urgency=medium\n\n'
                        f'  * Slipway {self.version}.\n\n'
                        f' -- {self.maintainer}  {self.stamp}\n')

    def overrides(self, package, root):
        """Why what lintian finds is meant."""
        if not package.binaries:
            return
        lines = ['# Binaries are linked statically: each needs the C library alone, '
                 'and a device nothing else.\n']
        for file in sorted((root / 'usr/bin').glob('*')):
            # The command alone has a line editor.
            for library in ('ncurses', 'zlib') if file.name == 'slipway' else ('zlib',):
                lines.append(f'{package.name}: embedded-library {library} '
                             f'[usr/bin/{file.name}]\n')
        self.write(root / 'usr/share/lintian/overrides' / package.name,
                   ''.join(lines))

    def checksums(self, root):
        lines = []
        for file in sorted(root.rglob('*')):
            name = file.relative_to(root)
            if file.is_file() and name.parts[0] not in ('DEBIAN', 'etc'):
                digest = hashlib.md5(file.read_bytes()).hexdigest()
                lines.append(f'{digest}  {name}\n')
        self.write(root / 'DEBIAN/md5sums', ''.join(lines))

    def make(self, package):
        root = self.staging / package.name
        root.mkdir()
        for name, section in package.binaries:
            self.binary(name, section, root)
        if package.units:
            self.services(package, root)
        if package.library:
            self.dev_files(root)
        if package.python:
            self.python_files(root)
        self.documents(package, root)
        self.overrides(package, root)
        self.control(package, root)
        self.checksums(root)
        for path in [root, *root.rglob('*')]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (self.epoch, self.epoch))
        target = self.out / (f'{package.name}_{self.version}_'
                             f'{self.architecture_of(package)}.deb')
        run(['dpkg-deb', '--build', '--root-owner-group', '--threads-max=1',
             '-Zxz', f'-z{self.level}', root, target],
            env={**os.environ, 'SOURCE_DATE_EPOCH': str(self.epoch)})
        return target


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--binary', action='append', required=True)
    parser.add_argument('--library', required=True)
    parser.add_argument('--python', required=True)
    parser.add_argument('--protocol', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('--maintainer', required=True)
    parser.add_argument('--epoch', type=int, required=True)
    parser.add_argument('--level', type=int, default=6, help='of xz')
    arguments = parser.parse_args()
    os.umask(0o022)
    pathlib.Path(arguments.out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(arguments, pathlib.Path(folder))
        for package in PACKAGES:
            print(maker.make(package))


if __name__ == '__main__':
    main()
