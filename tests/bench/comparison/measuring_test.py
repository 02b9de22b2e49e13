#!/usr/bin/env python3
"""Shows what is computed of samples and outputs, and in which order engines have their turns."""

import unittest

import numpy

import agreement
import comparing
import figures
import rounds
from processes import Failed


class FiguresTest(unittest.TestCase):

    def test_median_is_a_sample(self):
        self.assertEqual(figures.median([5, 1, 9]), 5)
        self.assertEqual(figures.median([7, 1, 9, 3]), 3)

    def test_geometric_mean(self):
        self.assertAlmostEqual(figures.geometric_mean([2, 0.5]), 1)
        self.assertAlmostEqual(figures.geometric_mean([1, 4]), 2)
        self.assertIsNone(figures.geometric_mean([]))

    def test_fastest(self):
        self.assertEqual(figures.fastest({'a': 3, 'b': 2}), 'b')
        self.assertIsNone(figures.fastest({}))

    def test_bound_by_operations(self):
        self.assertEqual(figures.operations_ns(2e9, 1e9), 2e9)
        self.assertIsNone(figures.operations_ns(None, 1e9))
        self.assertIsNone(figures.operations_ns(2e9, 0))

    def test_samples_fill_a_turn(self):
        self.assertEqual(figures.samples_in(0.2, None, 1), 1)
        self.assertEqual(figures.samples_in(0.2, 50e6, 1), 4)
        self.assertEqual(figures.samples_in(0.2, 5e6, 10), 4)
        self.assertEqual(figures.samples_in(0.2, 900e6, 1), 1)
        self.assertEqual(figures.samples_in(0.2, 10, 1), 200)


class AgreementTest(unittest.TestCase):

    def difference(self, made, expected, kind=numpy.float32):
        return agreement.difference([numpy.array(made, kind)], [numpy.array(expected, kind)])

    def test_is_a_share_of_the_largest_number(self):
        self.assertEqual(self.difference([1, 2, 4], [1, 2, 4]), 0)
        self.assertAlmostEqual(self.difference([1, 2.5, 4], [1, 2, 4]), 0.125)

    def test_the_worst_output_counts(self):
        one, other = numpy.ones(2, numpy.float32), numpy.zeros(2, numpy.float32)
        self.assertAlmostEqual(agreement.difference([one, one], [one, one * 2]), 0.5)
        self.assertEqual(agreement.difference([other], [other]), 0)
        self.assertGreater(agreement.difference([one], [other]), 1e20)

    def test_what_cannot_be_compared_is_infinitely_wrong(self):
        one = numpy.ones((1, 2), numpy.float32)
        for made in [[], [one, one], [one.reshape(2)], [one * numpy.nan], [one * numpy.inf]]:
            self.assertEqual(agreement.difference(made, [one]), float('inf'))
        self.assertEqual(self.difference([1, 2], [1, 3], numpy.int64), float('inf'))
        self.assertEqual(self.difference([1, 3], [1, 3], numpy.int64), 0)

    def test_what_is_not_finite_must_be_the_same(self):
        self.assertEqual(self.difference([numpy.inf, 1], [numpy.inf, 1]), 0)
        self.assertEqual(self.difference([-numpy.inf, 1], [numpy.inf, 1]), float('inf'))
        self.assertEqual(self.difference([numpy.nan, 1], [numpy.nan, 1]), 0)
        self.assertEqual(self.difference([0, 1], [numpy.nan, 1]), float('inf'))


class FakeParticipant:

    def __init__(self, name, log, ns=50e6, fails_at=None):
        self.name, self._log, self._ns, self._left = name, log, ns, fails_at

    def take(self, samples):
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Failed('it is broken')
        self._log.append((self.name, samples))
        return [self._ns] * samples, 1


class RoundsTest(unittest.TestCase):

    def interleave(self, participants, number):
        self.done = []
        return rounds.interleave(participants, number, 0.2, self.done.append, sleep=lambda seconds: None)

    def test_takes_turns(self):
        log = []
        taken = self.interleave([FakeParticipant('a', log), FakeParticipant('b', log, 100e6)], 2)
        self.assertEqual(log, [('a', 1), ('b', 1), ('a', 4), ('b', 2)])
        self.assertEqual(len(taken['a'].samples_ns), 5)
        self.assertEqual(self.done, [1, 2])

    def test_who_fails_is_left_out_and_the_others_go_on(self):
        log = []
        taken = self.interleave([FakeParticipant('a', log, fails_at=1), FakeParticipant('b', log)], 3)
        self.assertEqual([name for name, _ in log], ['a', 'b', 'b', 'b'])
        self.assertEqual(taken['a'].failure, 'it is broken')
        self.assertIsNone(taken['b'].failure)


class FakeModel:
    name = 'net'
    is_int8 = False

    def expected(self):
        return [numpy.ones(3, numpy.float32)]


class FakeEngine(FakeParticipant):

    def __init__(self, name, ns, makes=1.0, refuses=False):
        super().__init__(name, [], ns)
        self._makes, self._refuses = makes, refuses

    def load(self, model):
        if self._refuses:
            raise Failed('no such operator')

    def outputs(self):
        return [numpy.full(3, self._makes, numpy.float32)]

    def steps(self):
        return [{'name': 'conv1', 'operators': ['Conv', 'Relu'], 'ns': 30},
                {'name': 'conv2', 'operators': ['Conv', 'Relu'], 'ns': 40},
                {'name': 'pool', 'operators': [], 'ns': 30}]

    def unload(self):
        pass


class FakeMachine(FakeParticipant):
    peak = 100e9
    read_ns = 1e6

    def __init__(self):
        super().__init__('machine', [])


class ComparingTest(unittest.TestCase):

    COST = {'operations': 4_000_000_000, 'constant_bytes': 10, 'input_bytes': 2, 'output_bytes': 1}

    def compare(self, *engines):
        return comparing.compare(FakeModel(), engines, FakeMachine(), self.COST, 2, 0.2, 'f32',
                                 lambda number: None)

    def test_ratio_is_to_the_fastest_peer(self):
        row = self.compare(FakeEngine('slipway', 50e6), FakeEngine('onnxruntime', 100e6),
                           FakeEngine('openvino', 75e6))
        self.assertEqual(row['fastest_peer'], 'openvino')
        self.assertAlmostEqual(row['ratio'], 1.5)
        self.assertAlmostEqual(row['ratios']['onnxruntime'], 2)
        self.assertAlmostEqual(row['gflops'], 80)
        self.assertAlmostEqual(row['share_of_peak'], 0.8)
        self.assertAlmostEqual(row['bound_by_operations_ns'], 40e6)
        self.assertEqual(row['bound_by_bytes_ns'], 1e6)

    def test_who_is_wrong_is_not_fast(self):
        row = self.compare(FakeEngine('slipway', 50e6), FakeEngine('onnxruntime', 100e6),
                           FakeEngine('openvino', 1e6, makes=1.01))
        self.assertFalse(row['engines']['openvino']['agrees'])
        self.assertEqual(row['fastest_peer'], 'onnxruntime')
        row = self.compare(FakeEngine('slipway', 50e6, makes=2), FakeEngine('onnxruntime', 100e6))
        self.assertIsNone(row['ratio'])
        self.assertNotIn('gflops', row)

    def test_who_refuses_a_model_is_a_line_and_the_others_are_measured(self):
        row = self.compare(FakeEngine('slipway', 50e6, refuses=True), FakeEngine('onnxruntime', 100e6))
        self.assertEqual(row['engines']['slipway'], {'failure': 'no such operator'})
        self.assertEqual(row['engines']['onnxruntime']['min_ns'], 100e6)
        self.assertIsNone(row['ratio'])

    def test_shares_of_kinds_of_steps(self):
        steps = FakeEngine('slipway', 1).steps()
        self.assertEqual(comparing.shares(steps), [('Conv+Relu', 0.7, 2), ('pool', 0.3, 1)])
        self.assertEqual(comparing.shares([]), [])

    def test_bytes_that_are_read(self):
        self.assertEqual(comparing.bytes_read(self.COST), 12)
        self.assertEqual(comparing.bytes_read({}), 0)


if __name__ == '__main__':
    unittest.main()
