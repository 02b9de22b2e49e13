"""A long-lived process that is asked and answers in JSON."""

import collections
import json
import os
import select
import signal
import subprocess
import threading
import time


class Failed(Exception):
    """What an engine could not do, in a line."""


def brief(text, most=160):
    line = ' '.join(text.split())
    return line if len(line) <= most else line[:most - 3] + '...'


class JsonProcess:
    """Writes lines to a process and reads JSON values that it writes, however it breaks them into lines."""

    def __init__(self, command, cpus=None, environment=None):
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, start_new_session=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)
        self._unread = ''
        self._said = collections.deque(maxlen=50)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self._process.stderr:
            self._said.append(line.decode(errors='replace').strip())

    def ask(self, line, timeout):
        """The next value after a line; Failed with what it said last when it ends or is silent too long."""
        try:
            self._process.stdin.write((line + '\n').encode())
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None
        return self._read(time.monotonic() + timeout, timeout)

    def _read(self, deadline, timeout):
        decoder = json.JSONDecoder()
        while True:
            text = self._unread.lstrip()
            if text:
                try:
                    value, end = decoder.raw_decode(text)
                    self._unread = text[end:]
                    return value
                except ValueError:
                    pass
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self.kill()
                raise Failed(f'no answer for {timeout:.0f} s')
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                raise self._ended()
            self._unread += data.decode(errors='replace')

    def _ended(self):
        status = self._process.wait()
        self._release()
        said = [line for line in self._said if line]
        how = f'signal {-status}' if status < 0 else f'exit {status}'
        return Failed(brief(f'ended ({how}): {said[-1]}' if said else f'ended ({how})'))

    def close(self, timeout=20):
        """Lets it end by itself, and kills it otherwise."""
        try:
            self._process.stdin.close()
            self._process.wait(timeout)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()
        self._release()

    def kill(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._release()

    def _release(self):
        self._process.wait()
        self._listener.join(timeout=5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                pipe.close()
            except OSError:  # What was written before it ended is lost.
                pass
