#!/usr/bin/env python3
"""Shows what is printed and drawn."""

import unittest
from xml.etree import ElementTree

import plot
import report

NAMES = ['slipway', 'onnxruntime', 'openvino']


def row(name, slipway, onnxruntime, ratio, **more):
    return {'name': name, 'engines': {
        'slipway': {'min_ns': slipway, 'p50_ns': slipway + 1e6, 'agrees': True},
        'onnxruntime': {'min_ns': onnxruntime, 'p50_ns': onnxruntime, 'agrees': True},
        'openvino': {'failure': 'no such operator'}},
        'ratio': ratio, 'ratios': {'onnxruntime': ratio}, 'fastest_peer': 'onnxruntime', 'gflops': 110.04,
        'share_of_peak': 0.94, 'bound_by_operations_ns': 69e6, 'bound_by_bytes_ns': 3e6,
        'steps': [{'name': 's', 'operators': ['Conv'], 'ns': 3}, {'name': 't', 'operators': ['Pad'], 'ns': 1}],
        **more}


class ReportTest(unittest.TestCase):

    def test_times_have_three_digits_that_say_something(self):
        self.assertEqual([report.ms(ns) for ns in (123.456e6, 12.345e6, 1.2345e6, 2300, None)],
                         ['123.5', '12.35', '1.234', '0.002', '-'])

    def test_columns_line_up(self):
        text = report.render([['A', 'LONG'], ['much longer', '1']])
        self.assertEqual(text, 'A            LONG\nmuch longer     1')

    def test_a_line_a_model_and_the_mean(self):
        table = report.full([row('resnet', 70e6, 77e6, 1.1), row('yolo', 40e6, 36e6, 0.9)], NAMES)
        lines = table.split('\n')
        self.assertEqual(lines[0].split()[:3], ['MODEL', 'Slipway', 'p50'])
        self.assertEqual(lines[1].split(), ['resnet', '70.00', '71.00', '77.00', '77.00', '-', '-', '1.10',
                                            '110.0', '94', '%', '69.00', '3.000', '99', '%', 'yes'])
        self.assertIn('geometric mean', lines[3])
        self.assertEqual(lines[3].split()[-1], '0.99')
        self.assertEqual(len({len(line) for line in lines[:3]}), 1)
        self.assertIn('OpenVINO on resnet: no such operator', lines)
        self.assertIn('behind the fastest peer: 1 of 2', lines)

    def test_where_the_time_of_a_slow_model_goes(self):
        self.assertEqual(report.where_time_goes(row('yolo', 40e6, 36e6, 0.9)),
                         'yolo: 0.90 of ONNX Runtime\n  Conv  75 %  1 steps\n  Pad   25 %  1 steps')

    def test_who_is_wrong_is_named(self):
        wrong = row('net', 1e6, 1e6, None)
        wrong['engines']['slipway']['agrees'] = False
        self.assertEqual(report.agreement(wrong), 'Slipway WRONG')

    def test_means_leave_out_what_is_not_known(self):
        rows = [row('a', 1e6, 1e6, 2.0), row('b', 1e6, 1e6, 0.5), row('c', 1e6, 1e6, None, ratios={})]
        found = report.means(rows, NAMES)
        self.assertAlmostEqual(found['fastest'], 1)
        self.assertIsNone(found['openvino'])
        self.assertEqual(report.slowest(rows), [rows[1]])


class PlotTest(unittest.TestCase):

    def test_is_a_picture_with_a_bar_a_model(self):
        rows = [row('a & b', 1e6, 1e6, 1.5), row('slow', 1e6, 1e6, 0.5), row('not', 1e6, 1e6, None)]
        picture = ElementTree.fromstring(plot.svg(rows, 'f32 <fast>'))
        texts = [node.text for node in picture if node.tag.endswith('text')]
        self.assertEqual(texts, ['f32 <fast>', 'a & b', '1.50 ONNX Runtime', 'slow', '0.50 ONNX Runtime'])
        widths = [float(node.get('width')) for node in picture if node.tag.endswith('rect')][1:]
        self.assertAlmostEqual(widths[0] / widths[1], 3, places=2)

    def test_of_nothing_is_empty(self):
        self.assertEqual(len(plot.bars([row('not', 1e6, 1e6, None)])), 0)
        ElementTree.fromstring(plot.svg([], 'nothing'))


if __name__ == '__main__':
    unittest.main()
