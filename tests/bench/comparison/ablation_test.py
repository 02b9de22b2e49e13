#!/usr/bin/env python3
"""Shows what models are compiled without, and what is told of it."""

import json
import os
import sys
import tempfile
import unittest

import numpy

import ablation
import engines
from processes import Failed

CONFIG = '''# slipway compile
target: ""
winograd: true
shared_nodes: true
priority: 0
detach: false
'''

# A session that knows how long programs take by what they were compiled without.
FAKE_SLIPWAY = '''#!{python}
import json, sys
import numpy
times = {{"all": 100, "winograd": 150, "shared_nodes": 100}}
for line in sys.stdin:
    print(line.strip(), file=open({log!r}, "a"))
    words = line.split()
    if words[0] == "get":
        numpy.save(words[2], numpy.ones(2, numpy.float32))
    name = words[1].replace("model_", "") if words[0] == "time" else ""
    print(json.dumps({{"functions": [{{"outputs": [1]}}], "samples_ns": [times.get(name, 1) * 10],
                      "iterations_per_sample": 10}}), flush=True)
'''


class FakeModel:
    name, path, inputs, is_int8 = 'net', 'net.onnx', ['a.pb'], False

    def __init__(self, expected=1):
        self._expected = expected

    def expected(self):
        return [numpy.full(2, self._expected, numpy.float32)]


class AblationTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self._log = os.path.join(self._folder.name, 'log')
        self._command = os.path.join(self._folder.name, 'slipway')
        with open(self._command, 'w', encoding='utf-8') as file:
            file.write(FAKE_SLIPWAY.format(python=sys.executable, log=self._log))
        os.chmod(self._command, 0o755)
        self._compiled = []

    def _run(self, command, timeout):
        self._compiled.append(command[6:])
        if '--no-shared-nodes' in command and self._fails:
            raise Failed('UNIMPLEMENTED: no')
        return {}

    def _ablate(self, model, fails=False):
        self._fails = fails
        return ablation.ablate(model, self._command, ['winograd', 'shared-nodes'],
                               engines.Setting(2, 'f32', None), self._run, 2, 0.001, lambda number: None)

    def test_switches_are_what_the_command_says(self):
        self.assertEqual(ablation.switches(CONFIG), ['winograd', 'shared-nodes'])

    def test_each_is_left_out_once_and_they_take_turns(self):
        row = self._ablate(FakeModel())
        self.assertEqual(self._compiled, [['--json'], ['--json', '--no-winograd'],
                                          ['--json', '--no-shared-nodes']])
        self.assertEqual(row['brings'], {'winograd': 1.5, 'shared-nodes': 1.0})
        with open(self._log, encoding='utf-8') as file:
            timed = [line.split()[1] for line in file if line.startswith('time')]
        self.assertEqual(timed, ['model_all', 'model_winograd', 'model_shared_nodes'] * 2)
        json.dumps(row)

    def test_what_fails_without_one_is_told(self):
        row = self._ablate(FakeModel(), fails=True)
        self.assertEqual(row['brings'], {'winograd': 1.5})
        text = ablation.table([row], ['winograd', 'shared-nodes'])
        self.assertIn('net, no shared-nodes: UNIMPLEMENTED: no', text)
        self.assertFalse(ablation.wrong([row]))

    def test_what_makes_something_else_is_wrong(self):
        row = self._ablate(FakeModel(expected=2))
        self.assertTrue(ablation.wrong([row]))
        self.assertIn('net, all optimizations: WRONG', ablation.table([row], ['winograd', 'shared-nodes']))

    def test_a_line_a_model_and_the_means(self):
        rows = [self._ablate(FakeModel()),
                {'name': 'b', 'forms': {'all': {'min_ns': 2e6}}, 'brings': {'winograd': 6.0}}]
        lines = ablation.table(rows, ['winograd', 'shared-nodes']).split('\n')
        self.assertEqual(lines[0].split('  ')[0], 'MODEL')
        self.assertEqual(lines[2].split(), ['b', '2.000', '6.00', '-'])
        self.assertEqual(lines[3].split(), ['geometric', 'mean', '3.00', '1.00'])


if __name__ == '__main__':
    unittest.main()
