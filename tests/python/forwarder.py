"""A forwarder between a client and a server, which breaks connections, or holds up what passes, when a test says so."""

import socket
import threading


class Forwarder:
    """Listens at a socket and forwards to another."""

    def __init__(self, folder, address):
        self.path = f'{folder}/forwarder'
        self.line = f'unix:{self.path}'
        self._target = address
        self._open = []
        self._lock = threading.Lock()
        self._passes = threading.Event()
        self._passes.set()
        self.accepted = 0
        self.bytes = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def _connect(self):
        if self._target.startswith('unix:'):
            there = socket.socket(socket.AF_UNIX)
            there.connect(self._target[5:])
            return there
        host, _, port = self._target.rpartition(':')
        return socket.create_connection((host, int(port)))

    def _accept(self):
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            try:
                there = self._connect()
            except OSError:
                here.close()
                continue
            with self._lock:
                self.accepted += 1
                self._open.append((here, there))
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one, other):
        try:
            while data := one.recv(1 << 16):
                self._passes.wait()
                self.bytes += len(data)
                other.sendall(data)
        except OSError:
            pass
        for each in (one, other):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold(self):
        """Nothing passes, and nobody is told."""
        self._passes.clear()

    def let_pass(self):
        self._passes.set()

    def break_all(self):
        with self._lock:
            broken, self._open = self._open, []
        for pair in broken:
            for each in pair:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self._listener.close()
        self.let_pass()
        self.break_all()
