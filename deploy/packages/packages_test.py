#!/usr/bin/env python3
"""The packages: made twice alike, complete, and used as users use them.

Usage: packages_test.py BINARY... LIBRARY_FILE... MODEL

Everything happens below a folder of its own, without the network.
"""

import glob
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BINARIES = ['slipway', 'slipwayd', 'slipway-compile-worker', 'slipway-agent', 'slipway-web']
PACKAGES = ['slipway', 'slipwayd', 'slipway-agent', 'libslipway-dev', 'python3-slipway']
UNITS = ['slipwayd', 'slipway-web', 'slipway-agent']
GIVEN = {pathlib.Path(path).name: os.path.abspath(path) for path in sys.argv[1:]}
# What a unit that is exposed no more than this has left open, it needs (systemd-analyze security).
MOST_EXPOSED = 3.0


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != status:
        raise AssertionError(f'{command}: exit code {done.returncode}\n{done.stdout}')
    return done.stdout


def make(out):
    command = [sys.executable, str(HERE / 'make_packages.py'), '--out', str(out), '--epoch',
               '1764000000', '--maintainer', 'Slipway <packages@slipway.dev>',
               '--level', '0', '--library',
               os.path.dirname(GIVEN['libslipway.a']), '--python',
               os.path.dirname(GIVEN['pyproject.toml']), '--protocol', GIVEN['protocol.binpb']]
    for name in BINARIES:
        command += ['--binary', f'{name}={GIVEN[name]}']
    run(*command)


class PackagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # Sockets of a server have short names alone.
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='packages-', dir='/tmp'))
        cls.debs = cls.folder / 'debs'
        make(cls.debs)
        cls.files = {name: glob.glob(f'{cls.debs}/{name}_*.deb')[0] for name in PACKAGES}
        cls.tree = cls.folder / 'tree'
        for file in cls.files.values():
            run('dpkg-deb', '-x', file, cls.tree)
        cls.bin = cls.tree / 'usr/bin'

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_the_same_files_give_the_same_packages(self):
        again = self.folder / 'again'
        make(again)
        for file in self.files.values():
            name = pathlib.Path(file).name
            self.assertEqual((again / name).read_bytes(), pathlib.Path(file).read_bytes(), name)

    def test_lintian_finds_nothing(self):
        for name, file in self.files.items():
            with self.subTest(name):
                run('lintian', '--allow-root', '--fail-on', 'error,warning', file)

    def test_the_agent_is_one_file_that_needs_the_c_library_alone(self):
        needed = re.findall(r'NEEDED +(\S+)', run('objdump', '-p', self.bin / 'slipway-agent'))
        self.assertEqual(set(needed) - {'libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2'}, set())
        depends = run('dpkg-deb', '-f', self.files['slipway-agent'], 'Depends')
        self.assertRegex(depends, r'^libc6 \([^)]*\), systemd \|[^,]*\n$')

    def test_every_verb_and_flag_has_its_manual_and_completions(self):
        binary = self.bin / 'slipway'
        table = re.findall(r'^  ([a-z]+) ', run(binary, 'help'), re.MULTILINE)
        verbs = [verb for verb in table if verb not in ('help', 'version')]
        self.assertGreater(len(verbs), 20)
        completions = {
            shell: (self.tree / 'usr/share' / path).read_text()
            for shell, path in [('bash', 'bash-completion/completions/slipway'),
                                ('zsh', 'zsh/vendor-completions/_slipway'),
                                ('fish', 'fish/vendor_completions.d/slipway.fish')]}
        for verb in verbs:
            page = run('gzip', '-dc', self.tree / f'usr/share/man/man1/slipway-{verb}.1.gz')
            flags = re.findall(r'^  --([a-z-]+)', run(binary, verb, '--help'), re.MULTILINE)
            for flag in flags:
                typed = flag.replace('-', '\\-')
                self.assertIn(f'\\fB\\-\\-{typed}\\fR', page, f'{verb} --{flag}')
                for shell, text in completions.items():
                    self.assertRegex(text, rf'\b(no-)?{flag}\b', f'{shell}: {verb} --{flag}')

    def test_manuals_are_well_formed(self):
        for page in self.tree.rglob('man/man*/*.gz'):
            text = subprocess.run(['gzip', '-dc', page], check=True, stdout=subprocess.PIPE).stdout
            done = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning'], input=text, check=False,
                                  stdout=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (0, b''), page)

    def test_bash_completes(self):
        script = f'''source {self.tree}/usr/share/bash-completion/completions/slipway
            try() {{ COMP_WORDS=("$@"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _slipway; echo "${{COMPREPLY[*]}}"; }}
            cd {self.folder}; touch digits.onnx
            try slipway ben; try slipway bench --trac; try slipway bench --no-wino
            try slipway bench --trace digits.o; try slipway bench dig; try slipway bench --samples di
            try slipway lease ta; try slipway lease take --idl'''
        self.assertEqual(run('bash', '-c', script).splitlines(),
                         ['bench', '--trace', '--no-winograd', 'digits.onnx', 'digits.onnx', '',
                          'take', '--idle'])

    def test_fish_completes_and_zsh_reads(self):
        file = self.tree / 'usr/share/fish/vendor_completions.d/slipway.fish'
        script = (f'source {file}; complete -C "slipway ben"; complete -C "slipway bench --trac"; '
                  'complete -C "slipway lease tak"')
        found = run('fish', '--no-config', '-c', script,
                    env={**os.environ, 'HOME': str(self.folder)}).splitlines()
        self.assertEqual([line.split('\t')[0] for line in found], ['bench', '--trace', 'take'])
        for name in BINARIES:
            run('zsh', '-n', self.tree / f'usr/share/zsh/vendor-completions/_{name}')

    def test_units_are_right_and_closed(self):
        root = self.folder / 'systemd'
        shutil.copytree(self.tree / 'lib/systemd/system', root / 'lib/systemd/system')
        shutil.copytree(self.bin, root / 'usr/bin')
        # What every unit stands on.
        for target in glob.glob('/lib/systemd/system/*.target'):
            shutil.copy(target, root / 'lib/systemd/system')
        for unit in UNITS:
            said = run('systemd-analyze', 'verify', f'--root={root}', '--man=no',
                       f'{unit}.service')
            self.assertNotIn(unit, said)
            exposed = run('systemd-analyze', 'security', '--offline=yes', f'--root={root}',
                          f'{unit}.service')
            self.assertLessEqual(float(re.search(r'level for \S+ ([0-9.]+)', exposed)[1]),
                                 MOST_EXPOSED)

    def test_installed_and_purged(self):
        root = self.folder / 'root'
        for name in ['var/lib/dpkg/updates', 'var/lib/dpkg/info', 'etc', 'usr/lib', 'lib', 'tmp']:
            (root / name).mkdir(parents=True)
        for name in ['var/lib/dpkg/status', 'var/lib/dpkg/available', 'etc/passwd', 'etc/group']:
            (root / name).touch()
        # Scripts see the root as $DPKG_ROOT. What they depend on is this machine's.
        dpkg = ['dpkg', f'--root={root}', '--force-script-chrootless', '--force-depends',
                '--log=/dev/null']
        if os.getuid() != 0:
            dpkg = ['unshare', '--map-root-user', *dpkg]
        environment = {**os.environ, 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}
        before = self.names(root)
        run(*dpkg, '--install', *self.files.values(), env=environment)
        passwd = (root / 'etc/passwd').read_text()
        for unit in UNITS:
            self.assertRegex(passwd, rf'(?m)^{unit}:x:\d+:\d+:[^:]*:/var/lib/{unit}:')
            wants = root / f'etc/systemd/system/multi-user.target.wants/{unit}.service'
            self.assertTrue(wants.is_symlink())
            home = root / f'var/lib/{unit}'
            self.assertEqual(home.stat().st_mode & 0o777, 0o700)
            (root / f'var/lib/{unit}/state').touch()
        self.assertIn('slipway ', run(root / 'usr/bin/slipway', '--version'))
        run(*dpkg, '--purge', *self.files, env=environment)
        # Users stay, and what dpkg and systemd's helper write down.
        kept = re.compile(r'etc/(passwd|group|shadow|gshadow|\.pwd\.lock)-?$|var/lib/(dpkg|systemd)(/|$)')
        left = {name for name in self.names(root) - before if not kept.search(name)}
        self.assertEqual({name for name in left if (root / name).is_file()}, set())
        self.assertEqual({name for name in left if 'slipway' in name}, set())

    def names(self, root):
        return {str(path.relative_to(root)) for path in root.rglob('*')}

    def environment(self):
        home = self.folder / 'home'
        return {'HOME': str(home), 'PATH': '/usr/bin:/bin', 'TMPDIR': str(self.folder)}

    def test_the_command_finds_server_and_agent_beside_it(self):
        said = run(self.bin / 'slipway', 'bench', GIVEN['digits.onnx'], '--samples=5',
                   env=self.environment(), cwd=self.folder)
        self.assertRegex(said, r'(?m)^device +local, 1 thread$')

    def test_three_lines_of_python(self):
        environment = {**self.environment(), 'PATH': f'{self.bin}:/usr/bin:/bin',
                       'PYTHONPATH': str(self.tree / 'usr/lib/python3/dist-packages')}
        said = run('/usr/bin/python3', '-c', 'import slipway\n'
                   f'result = slipway.bench({GIVEN["digits.onnx"]!r})\nprint(result)\n',
                   env=environment, cwd=self.folder)
        self.assertIn('digits.onnx', said)
        listed = run('/usr/bin/python3', '-c', 'import importlib.metadata as m; '
                     'print(m.version("slipway"), [e.name for e in m.entry_points(group="pytest11")])',
                     env=environment)
        self.assertIn("'slipway'", listed)

    def test_the_server_tells_systemd_when_it_serves(self):
        address = str(self.folder / 'notify')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(60)
            state = self.folder / 'state'
            # As the unit has it, with its own configuration but for where things are.
            configuration = (self.tree / 'etc/slipway/slipwayd.conf').read_text()
            configuration = re.sub(r'"/var/(lib|cache)/slipwayd', f'"{state}/\\1', configuration)
            file = self.folder / 'slipwayd.conf'
            file.write_text(configuration + f'listen: "unix:{self.folder}/s"\n')
            (state / 'lib').mkdir(parents=True, mode=0o700)
            (state / 'cache').mkdir(mode=0o700)
            with subprocess.Popen([self.bin / 'slipwayd', '--config', file],
                                  env={**self.environment(), 'NOTIFY_SOCKET': address}) as server:
                try:
                    self.assertEqual(manager.recv(4096).decode(),
                                     f'READY=1\nSTATUS=serving at unix:{self.folder}/s')
                finally:
                    server.terminate()
                self.assertEqual(manager.recv(4096), b'STOPPING=1')
                self.assertEqual(server.wait(60), 0)

    def test_a_project_elsewhere_uses_the_library(self):
        build = self.folder / 'consumer'
        prefix = self.tree / 'usr'
        run('cmake', '-S', HERE / 'consumer', '-B', build, f'-DCMAKE_PREFIX_PATH={prefix}',
            '-DCMAKE_CXX_COMPILER=/usr/bin/g++')
        run('cmake', '--build', build)
        self.assertIn('client UNAVAILABLE', run(build / 'consumer'))
        # The same by pkg-config, which is asked as for another root.
        flags = run('pkg-config', '--define-variable=prefix=' + str(prefix), '--cflags', '--libs',
                    'slipway', env={**os.environ, 'PKG_CONFIG_PATH': os.path.dirname(
                        glob.glob(f'{prefix}/lib/*/pkgconfig/slipway.pc')[0])}).split()
        run('g++', '-std=c++20', HERE / 'consumer/main.cc', *flags, '-o', self.folder / 'by_pc')
        self.assertIn('session ', run(self.folder / 'by_pc'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
