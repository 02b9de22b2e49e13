"""Real servers and agents for tests, on port 0 or a socket of their own."""

import contextlib
import os
import signal
import subprocess
import time

SERVER = os.environ['SLIPWAY_SERVER_BINARY']
AGENT = os.environ['SLIPWAY_AGENT_BINARY']
RUNFILES = os.environ['SLIPWAY_TEST_RUNFILES']
DIGITS = os.path.join(RUNFILES, 'client', 'examples', 'digits', 'digits.onnx')


def image(digit):
    return os.path.join(RUNFILES, 'client', 'examples', 'digits', 'images', f'{digit}.npy')


class Process:
    """A program of ours that is ready."""

    def __init__(self, argv, log):
        self.argv = argv
        self.log = log
        self._start()

    def _start(self):
        ready, tell = os.pipe()
        with open(self.log, 'ab') as output:
            self.process = subprocess.Popen([*self.argv, f'--ready-fd={tell}'], pass_fds=[tell], stdout=output,
                                            stderr=output)
        os.close(tell)
        with os.fdopen(ready) as lines:
            self.line = lines.readline().strip()
        with open(self.log, encoding='utf-8') as file:
            assert self.line or self.process.poll() is None, file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def suspend(self):
        """SIGSTOP; returns when all of its threads are stopped, which the signal alone does not wait for."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = f'/proc/{self.process.pid}/task'
        while True:
            states = set()
            for task in os.listdir(tasks):
                with open(f'{tasks}/{task}/stat', encoding='ascii', errors='replace') as file:
                    states.add(file.read().rpartition(')')[2].split()[0])
            if states == {'T'}:
                return
            time.sleep(0.001)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def restart(self):
        self._start()


@contextlib.contextmanager
def server(folder, *flags, listen='127.0.0.1:0'):
    """slipwayd; its address is `line`."""
    process = Process([SERVER, f'--listen={listen}', f'--data-dir={folder}/server', f'--blob-dir={folder}/blobs',
                       f'--cache-dir={folder}/cache', *flags], f'{folder}/server.log')
    try:
        yield process
    finally:
        process.stop()


@contextlib.contextmanager
def agent(folder, address, name='board-1', *flags):
    """slipway-agent of a server."""
    process = Process([AGENT, f'--server={address}', f'--state-dir={folder}/{name}', f'--cache-dir={folder}/agents',
                       f'--id={name}', *flags], f'{folder}/{name}.log')
    try:
        yield process
    finally:
        process.stop()


@contextlib.contextmanager
def listening_agent(folder, address, *flags):
    """slipway-agent without a server, that takes sessions itself."""
    process = Process([AGENT, f'--listen={address}', '--insecure', f'--state-dir={folder}/listening',
                       f'--cache-dir={folder}/listening-cache', *flags], f'{folder}/listening.log')
    try:
        yield process
    finally:
        process.stop()
