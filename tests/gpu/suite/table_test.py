#!/usr/bin/env python3
"""What is made of a result: text, and the page of tests/gpu/results."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, '..', 'results')
sys.path.insert(0, HERE)
import table  # noqa: E402


PEAKS = {'arithmetic': {'f32': 6e12, 'f16': 1e13}, 'reading': {'L2': 5e12, 'memory': 2e12}, 'copying': {}}


def report(date, **more):
    torch = {'part': 'torch', 'name': 'bert', 'verdict': 'passed', 'host_ns': 9e6}
    return {
        'date': date, **more, 'suite': {'target': 'x86-64-linux,cuda-sm90', 'commit': 'abc'},
        'machine': {'gpus': ['A GPU, sm90'], 'devices': [], 'system': 'Linux'},
        'cases': [
            {'part': 'graphs', 'name': 'a', 'verdict': 'passed'},
            {'part': 'graphs', 'name': 'b', 'verdict': 'crashed', 'reason': 'SIGSEGV'},
            {'part': 'graphs', 'name': 'c', 'verdict': 'skipped', 'reason': 'no time left'},
            {'part': 'models', 'name': 'bert', 'verdict': 'passed', 'target': 'x86-64-linux,cuda-sm90', 'share': 2e-6,
             'host_ns': 5e6, 'device_ns': 4e6, 'kernels_ns': 2e6, 'flops': 3e9, 'bytes': 1e9,
             'libraries': [{'used': True, 'own_ns': 1000000, 'library_ns': 800000}, {'used': False, 'own_ns': 500000, 'library_ns': 600000},
                           {'used': False, 'own_ns': 500000, 'library_ns': 0}]},
            {'part': 'models', 'name': 'bert_f16', 'like': 'bert', 'precision': 'f16', 'verdict': 'passed',
             'target': 'x86-64-linux,cuda-sm90', 'share': 2e-3, 'host_ns': 3e6, 'device_ns': 2e6, 'kernels_ns': 1e6, 'flops': 3e9,
             'bytes': 1e9},
            {'part': 'models', 'name': 'vit', 'verdict': 'failed', 'reason': 'output 0'},
            dict(torch, precision='f32', device_ns=8e6), dict(torch, precision='tf32', device_ns=2e6)]}


class TableTest(unittest.TestCase):

    def test_a_model_has_its_rates_and_ratios(self):
        self.assertEqual(table.measured_rows(report('', peaks=PEAKS)), [
            ['bert', 'cuda-sm90', 'f32', '2.0e-06', '5', '4', '2', '1.5', '25 %', '25 %', '93 % (1 of 2 by it)', '8 (2.00)', '2 (0.50)', '-'],
            ['bert', 'cuda-sm90', 'f16', '2.0e-03', '3', '2', '1', '3', '30 %', '50 %', '-', '8 (4.00)', '2 (1.00)', '-']])
        self.assertEqual(table.measured_rows(report(''))[0][8:10], ['-', '-'])

    def test_what_went_wrong_is_named(self):
        text = table.as_text(report('2026-12-01'))
        self.assertIn('crashed: graphs b: SIGSEGV', text)
        self.assertIn('failed: models vit: output 0', text)
        self.assertNotIn('no time left', text)
        self.assertIn('graphs 1 of 3', table.as_markdown(report('2026-12-01')))

    def test_the_page_of_results_is_current(self):
        subprocess.run([sys.executable, os.path.join(RESULTS, 'make_readme.py'), '--check'], check=True)

    def test_a_page_has_the_newest_first(self):
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, 'results')
            os.mkdir(results)
            shutil.copy(os.path.join(RESULTS, 'make_readme.py'), results)
            os.mkdir(os.path.join(folder, 'suite'))
            shutil.copy(os.path.join(HERE, 'table.py'), os.path.join(folder, 'suite'))
            for name, date in [('a', '2026-12-01'), ('b', '2026-12-03'), ('c', '2026-12-02')]:
                with open(os.path.join(results, name + '.json'), 'w') as file:
                    json.dump(report(date), file)
            make = [sys.executable, os.path.join(results, 'make_readme.py')]
            subprocess.run(make, check=True)
            subprocess.run(make + ['--check'], check=True)
            with open(os.path.join(results, 'README.md')) as file:
                text = file.read()
            self.assertLess(text.index('## b'), text.index('## c'))
            self.assertLess(text.index('## c'), text.index('## a'))
            os.remove(os.path.join(results, 'b.json'))
            stale = subprocess.run(make + ['--check'], stderr=subprocess.PIPE)
            self.assertEqual(stale.returncode, 1)


if __name__ == '__main__':
    unittest.main()
