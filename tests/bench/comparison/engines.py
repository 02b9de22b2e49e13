"""The engines that are compared, behind one face: load, take, outputs, unload, close. All raise Failed."""

import json
import os
import tempfile

import environments
from processes import Failed, JsonProcess, brief

PEERS = {'onnxruntime': 'ONNX Runtime', 'openvino': 'OpenVINO', 'tvm': 'TVM', 'iree': 'IREE'}
TITLES = {'slipway': 'Slipway', **PEERS}

LOAD_SECONDS = 900
TURN_SECONDS = 300


def precision_flags(precision, model):
    """What `slipway compile` is told for a precision. In int8 the inputs are its examples, as they are the peers'."""
    if precision == 'f32':
        return []
    if precision != 'int8':
        return ['--precision', precision]
    return ['--precision', precision, '--examples', model.example()]


class Setting:
    """What all engines are given alike."""

    def __init__(self, threads, precision, cpus):
        self.threads = threads
        self.precision = precision
        self.cpus = cpus


class Peer:
    """Another engine, in a Python of its own."""

    def __init__(self, name, python, setting):
        self.name = name
        self.version = None
        self._setting = setting
        self._command = [python, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                              'peers/worker.py'), name]
        self._process = None

    def _ask(self, timeout, **question):
        if self._process is None:
            environment = dict(os.environ, TVM_NUM_THREADS=str(self._setting.threads))
            self._process = JsonProcess(self._command, self._setting.cpus, environment)
        try:
            answer = self._process.ask(json.dumps(question), timeout)
        except Failed:
            self._process = None
            raise
        if 'error' in answer:
            raise Failed(brief(answer['error']))
        return answer

    def load(self, model):
        path = model.int8_path if self._setting.precision == 'int8' else model.path
        if path is None:
            raise Failed('the model has no int8 form')
        answer = self._ask(LOAD_SECONDS, do='load', model=path, inputs=model.inputs,
                           threads=self._setting.threads, precision=self._setting.precision)
        self.version = answer['version']

    def take(self, samples):
        answer = self._ask(TURN_SECONDS, do='time', samples=samples)
        calls = answer['iterations_per_sample']
        return [ns / calls for ns in answer['samples_ns']], calls

    def outputs(self):
        import numpy
        with tempfile.TemporaryDirectory() as folder:
            return [numpy.load(file) for file in
                    self._ask(TURN_SECONDS, do='outputs', folder=folder)['files']]

    def unload(self):
        if self._process is not None:
            self._ask(TURN_SECONDS, do='unload')

    def close(self):
        if self._process is not None:
            self._process.close()
            self._process = None


class Slipway:
    """`slipway compile`, then `slipway session`: the device's own runner calls and measures."""

    name = 'slipway'

    def __init__(self, command, setting, run, say=lambda line: None):
        self.version = None
        self._command = command
        self._setting = setting
        self._run = run
        self._say = say
        self._process = None
        self._outputs = []
        self._inputs = []
        self._scratch = tempfile.TemporaryDirectory()

    def _ask(self, line, timeout):
        if self._process is None:
            self._process = JsonProcess([self._command, 'session', '--local', '--json'],
                                        self._setting.cpus)
        try:
            return self._process.ask(line, timeout)
        except Failed:
            self._process = None
            raise

    def load(self, model):
        """Returns what compiling took and made, as `slipway compile --json` says it."""
        flags = precision_flags(self._setting.precision, model)
        program = os.path.join(self._scratch.name, 'model.slip')
        command = [self._command, 'compile', model.path, '--output', program, '--local', '--json']
        done = self._run(command + flags, LOAD_SECONDS)
        loaded = self._ask(f'model = load {program} threads={self._setting.threads}', LOAD_SECONDS)
        self._inputs = [f'in{number}' for number in range(len(model.inputs))]
        for name, path in zip(self._inputs, model.inputs):
            self._ask(f'{name} = put "{path}"', TURN_SECONDS)
        self._outputs = [f'out{number}' for number in range(len(loaded['functions'][0]['outputs']))]
        self._ask(' '.join([', '.join(self._outputs), '= call model', *self._inputs]), TURN_SECONDS)
        return done

    def take(self, samples):
        # The runner's own warm-up is a sample, as a peer's.
        line = ' '.join(['time model', *self._inputs, f'samples={samples} warmup=0'])
        answer = self._ask(line, TURN_SECONDS)
        calls = answer['iterations_per_sample']
        return [ns / calls for ns in answer['samples_ns']], calls

    def outputs(self):
        import numpy
        arrays = []
        for number, name in enumerate(self._outputs):
            path = os.path.join(self._scratch.name, f'output_{number}.npy')
            self._ask(f'get {name} {path}', TURN_SECONDS)
            arrays.append(numpy.load(path))
        return arrays

    def steps(self):
        """What each step of a call took, as `profile` says it."""
        return self._ask(' '.join(['profile model', *self._inputs]), TURN_SECONDS)['steps']

    def unload(self):
        """Ends the session: while it holds the device, the machine is its own, and nobody compiles."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def close(self):
        self.unload()
        self._scratch.cleanup()


class Machine:
    """Measures the machine's peaks, in turns as the engines have them."""

    name = 'machine'

    def __init__(self, command, setting, precision, bytes_read):
        self._process = JsonProcess(
            [command, '--threads', str(setting.threads), '--type', precision], setting.cpus)
        self._bytes = bytes_read
        self.peak = 0.0
        self.read_ns = None
        self.target = None

    def take(self, samples):
        answer = self._process.ask(str(self._bytes), TURN_SECONDS)
        self.target = answer['target']
        self.peak = max(self.peak, answer['operations_per_second'])
        self.read_ns = min(self.read_ns or answer['read_ns'], answer['read_ns'])
        return [answer['read_ns']], 1

    def close(self):
        self._process.close()


def open_peers(names, cache, setting, say):
    """The peers that can be had, and {name: why not} of the others."""
    peers, missing = [], {}
    for name in names:
        try:
            peers.append(Peer(name, environments.ensure(name, cache, say), setting))
        except environments.Missing as reason:
            missing[name] = str(reason)
    return peers, missing
