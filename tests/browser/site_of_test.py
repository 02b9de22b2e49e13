"""A server, devices and the page as the real processes, for tests and pictures of the page."""

import contextlib
import os
import subprocess
import sys
import tempfile

RUNFILES = os.environ.get('SLIPWAY_TEST_RUNFILES') or os.path.join(
    os.environ['TEST_SRCDIR'], os.environ['TEST_WORKSPACE'])
WEB = os.path.join(RUNFILES, 'server', 'web', 'slipway-web')
COMMAND = os.path.join(RUNFILES, 'client', 'slipway')
os.environ['SLIPWAY_TEST_RUNFILES'] = RUNFILES
os.environ['SLIPWAY_SERVER_BINARY'] = os.path.join(RUNFILES, 'server', 'slipwayd')
os.environ['SLIPWAY_AGENT_BINARY'] = os.path.join(RUNFILES, 'device_agent', 'slipway-agent')
sys.path.append(os.path.join(RUNFILES, 'tests', 'python'))
import processes  # pylint: disable=wrong-import-position

DIGITS = processes.DIGITS

# Drops a file on the page as a user's hand does.
DROP = '''
const [text, name] = arguments;
const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name);
const data = new DataTransfer();
data.items.add(file);
const target = document.querySelector('.drop');
for (const kind of ['dragover', 'drop']) target.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
'''


class Site:
    """Until close(): `page` is the address of the page, `server` and `agents` are processes."""

    def __init__(self, agents=2, server_flags=(), web_flags=(), web_listen='127.0.0.1:0'):
        self._ends = contextlib.ExitStack()
        # Not below TEST_TMPDIR: a socket's path has at most 107 bytes.
        self.folder = self._ends.enter_context(tempfile.TemporaryDirectory(prefix='slipway-page'))
        for variable in ('HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'):
            os.environ[variable] = os.path.join(self.folder, variable.lower())
            os.makedirs(os.environ[variable], mode=0o700, exist_ok=True)
        # Over TLS, as servers are that tokens are shown to; an agent that says nothing is missed soon.
        self.server = self._ends.enter_context(processes.server(
            self.folder, '--accept-tokens', '--silence=3s', '--probe-every=0s', *server_flags))
        self.address = self.server.line
        self.server.argv = [argument.replace('127.0.0.1:0', self.address)
                            for argument in self.server.argv]
        self.agents = [self._ends.enter_context(processes.agent(self.folder, self.address, f'board-{i + 1}'))
                       for i in range(agents)]
        self.web = processes.Process(
            [WEB, f'--server={self.address}', f'--listen={web_listen}', *web_flags],
            f'{self.folder}/web.log')
        self._ends.callback(self.web.stop)
        self.page = self.web.line
        self.web.argv = [argument.replace('127.0.0.1:0', self.page.removeprefix('http://'))
                         for argument in self.web.argv]

    def token(self, roles, name):
        done = subprocess.run(
            [processes.SERVER, 'token', roles, name, '--server', self.address],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()

    def slipway(self, *arguments):
        """Runs the command as the server's user; what it printed."""
        done = subprocess.run([COMMAND, *arguments, '--server', self.address],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def log(self):
        with open(f'{self.folder}/web.log', encoding='utf-8') as file:
            return file.read()

    def close(self):
        self._ends.close()
