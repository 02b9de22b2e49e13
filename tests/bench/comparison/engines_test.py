#!/usr/bin/env python3
"""Shows how processes are asked, what Slipway's command is told, and what is installed."""

import json
import os
import sys
import tempfile
import unittest

import numpy

import engines
import environments
from peers import worker
from processes import Failed, JsonProcess, brief


def python(text):
    return JsonProcess([sys.executable, '-u', '-c', text])


class ProcessesTest(unittest.TestCase):

    def test_answers_may_have_any_lines(self):
        process = python('input()\nprint("{\\n \\"a\\":\\n 1}")\n'
                         'input()\nprint(\'{"b": 2} {"c": 3}\')\ninput()')
        self.assertEqual(process.ask('x', 60), {'a': 1})
        self.assertEqual(process.ask('x', 60), {'b': 2})
        self.assertEqual(process.ask('x', 60), {'c': 3})
        process.close()

    def test_who_ends_is_quoted(self):
        process = python('import sys\ninput()\nprint("out of wool", file=sys.stderr)\nsys.exit(3)')
        with self.assertRaisesRegex(Failed, r'ended \(exit 3\): out of wool'):
            process.ask('x', 60)

    def test_who_is_killed_is_told_by_the_signal(self):
        process = python('import os\ninput()\nos.kill(os.getpid(), 9)')
        with self.assertRaisesRegex(Failed, 'signal 9'):
            process.ask('x', 60)

    def test_who_is_silent_is_killed(self):
        process = python('input()\nimport time\ntime.sleep(3600)')
        with self.assertRaisesRegex(Failed, 'no answer'):
            process.ask('x', 0.2)
        with self.assertRaises(Failed):
            process.ask('x', 60)

    def test_brief(self):
        self.assertEqual(brief('a\n  b'), 'a b')
        self.assertEqual(brief('abcdef', 5), 'ab...')


class FakeCall:
    def __init__(self, left):
        self.calls, self._left = 0, left

    def run(self):
        self.calls += 1
        sum(range(self._left))

    def outputs(self):
        return [numpy.arange(3)]


class WorkerTest(unittest.TestCase):

    def test_a_sample_of_something_short_is_many_calls(self):
        asked = worker.Worker(None)
        asked._call = FakeCall(1)
        answer = asked.time(3)
        self.assertEqual(len(answer['samples_ns']), 3)
        self.assertGreater(answer['iterations_per_sample'], 10)
        self.assertGreaterEqual(asked._call.calls, 3 * answer['iterations_per_sample'])

    def test_a_sample_of_something_long_is_a_call(self):
        asked = worker.Worker(None)
        asked._call = FakeCall(3_000_000)
        self.assertEqual(asked.time(2)['iterations_per_sample'], 1)
        self.assertEqual(asked._call.calls, 3)

    def test_outputs_are_files(self):
        asked = worker.Worker(None)
        asked._call = FakeCall(1)
        with tempfile.TemporaryDirectory() as folder:
            files = asked.outputs(folder)['files']
            self.assertEqual(numpy.load(files[0]).tolist(), [0, 1, 2])


# Says what it was told, as the command would; `get` writes a file.
FAKE_SLIPWAY = '''#!{python}
import json, sys
import numpy
log = open({log!r}, "a")
print(*sys.argv[1:], file=log, flush=True)
for line in sys.stdin if sys.argv[1] == "session" else []:
    print(line.strip(), file=log, flush=True)
    words = line.split()
    if words[0] == "get":
        numpy.save(words[2], numpy.ones(2))
    print(json.dumps({{"functions": [{{"outputs": [1, 2]}}], "samples_ns": [40, 20],
                      "iterations_per_sample": 10, "steps": []}}, indent=1), flush=True)
'''


class FakeModel:
    path = 'net.onnx'
    inputs = ['a.pb', 'b.pb']

    def example(self):
        return 'all.npz'


class SlipwayTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self._log = os.path.join(self._folder.name, 'log')
        self._command = os.path.join(self._folder.name, 'slipway')
        with open(self._command, 'w', encoding='utf-8') as file:
            file.write(FAKE_SLIPWAY.format(python=sys.executable, log=self._log))
        os.chmod(self._command, 0o755)
        self._compiled = []

    def tearDown(self):
        self._folder.cleanup()

    def engine(self, precision='f32'):
        def run(command, timeout):
            self._compiled.append(command)
            return {'kernels': 3}
        return engines.Slipway(self._command, engines.Setting(2, precision, None), run)

    def told(self):
        with open(self._log, encoding='utf-8') as file:
            return file.read().splitlines()

    def test_compiles_and_drives_a_session(self):
        engine = self.engine()
        self.assertEqual(engine.load(FakeModel()), {'kernels': 3})
        self.assertEqual(engine.take(5), ([4, 2], 10))
        self.assertEqual([array.tolist() for array in engine.outputs()], [[1, 1]] * 2)
        self.assertEqual(engine.steps(), [])
        engine.unload()
        engine.load(FakeModel())
        engine.close()
        self.assertEqual(self._compiled[0][1:3], ['compile', 'net.onnx'])
        told = self.told()
        self.assertEqual(told[0], 'session --local --json')
        self.assertRegex(told[1], r'^model = load \S+\.slip threads=2$')
        self.assertEqual(told[2:6], ['in0 = put "a.pb"', 'in1 = put "b.pb"', 'out0, out1 = call model in0 in1',
                                     'time model in0 in1 samples=5 warmup=0'])
        self.assertRegex(told[7], r'^get out1 \S+output_1\.npy$')
        self.assertEqual(told[8], 'profile model in0 in1')
        self.assertEqual(told[9:], told[:5])  # Another session.

    def test_asks_for_the_precision(self):
        engine = self.engine('bf16')
        engine.load(FakeModel())
        engine.close()
        engine = self.engine('int8')
        engine.load(FakeModel())
        engine.close()
        self.assertEqual(self._compiled[0][-2:], ['--precision', 'bf16'])
        self.assertEqual(self._compiled[1][-4:], ['--precision', 'int8', '--examples', 'all.npz'])


class PeerTest(unittest.TestCase):

    def test_computes_no_f32_for_int8(self):
        peer = engines.Peer('onnxruntime', sys.executable, engines.Setting(1, 'int8', None))
        model = FakeModel()
        model.int8_path = None
        with self.assertRaisesRegex(Failed, 'no int8 form'):
            peer.load(model)

    def test_what_it_cannot_do_is_a_failure_and_it_is_asked_again(self):
        # Debian has none of the peers, and its Python says so.
        peer = engines.Peer('iree', sys.executable, engines.Setting(1, 'f32', None))
        for _ in range(2):
            with self.assertRaisesRegex(Failed, 'No module named'):
                peer.load(FakeModel())
        peer.close()


class EnvironmentsTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self._requirements = os.path.join(self._folder.name, 'requirements')
        os.mkdir(self._requirements)
        self.require('thing==1')
        self._ran = []

    def tearDown(self):
        self._folder.cleanup()

    def require(self, text):
        with open(os.path.join(self._requirements, 'thing.txt'), 'w', encoding='utf-8') as file:
            file.write(text)

    def ensure(self, name='thing', run=None):
        def make(command):
            self._ran.append(command)
            os.makedirs(command[-1], exist_ok=True) if 'venv' in command else None
        return environments.ensure(name, self._folder.name, lambda line: None, run=run or make,
                                   requirements=self._requirements)

    def test_is_made_once(self):
        path = self.ensure()
        self.assertEqual(len(self._ran), 2)
        self.assertEqual(self.ensure(), path)
        self.assertEqual(len(self._ran), 2)

    def test_other_pins_are_another_one(self):
        path = self.ensure()
        self.require('thing==2')
        self.assertNotEqual(self.ensure(), path)

    def test_what_does_not_install_leaves_nothing(self):
        def fail(command):
            raise environments.Missing('no such version')
        with self.assertRaisesRegex(environments.Missing, 'thing cannot be installed: no such version'):
            self.ensure(run=fail)
        self.assertEqual(os.listdir(self._folder.name), ['requirements'])

    def test_what_nobody_knows_is_missing(self):
        with self.assertRaisesRegex(environments.Missing, 'other.txt'):
            self.ensure('other')

    def test_all_that_can_be_had_are_pinned(self):
        for name in [*engines.PEERS, 'exporters']:
            with open(os.path.join(environments.REQUIREMENTS, name + '.txt'), encoding='utf-8') as file:
                for line in file.read().splitlines():
                    self.assertIn('==', line)


if __name__ == '__main__':
    unittest.main()
