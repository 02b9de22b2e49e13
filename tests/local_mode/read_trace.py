#!/usr/bin/env python3
"""Reads a trace as any program would that knows the Trace Event Format, and
holds it against the result of the benchmark that it is of.

Usage: read_trace.py TRACE.json BENCHMARK.json

Prints what it found; ends with 1, and says what is wrong, where spans of one
thread are neither apart nor within each other, or times do not add up.
"""

import collections
import decimal
import json
import sys


def fail(message):
    sys.exit(f'read_trace: {message}')


def check_nesting(thread, spans):
    """`spans`: (begin, end, name), in the file's order."""
    open_spans = []
    for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_spans and open_spans[-1][1] <= begin:
            open_spans.pop()
        if open_spans and end > open_spans[-1][1]:
            fail(f'{thread}: "{name}" begins in "{open_spans[-1][2]}" and ends '
                 'behind it')
        open_spans.append((begin, end, name))


def main(trace_file, benchmark_file):
    with open(trace_file, encoding='utf-8') as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    with open(benchmark_file, encoding='utf-8') as file:
        benchmark = json.load(file)

    names = {}
    spans = collections.defaultdict(list)
    for event in trace['traceEvents']:
        phase = event['ph']
        if phase == 'M':
            thread = event['tid'] if event['name'] == 'thread_name' else 0
            names[event['pid'], thread] = event['args']['name']
        elif phase == 'X':
            if event['ts'] < 0 or event['dur'] < 0:
                fail(f'{event} is before the begin, or shorter than nothing')
            spans[event['pid'], event['tid']].append(
                (event['ts'], event['ts'] + event['dur'], event['name']))
        elif phase != 'C':
            fail(f'{event} is of no kind that is expected')

    threads = {}
    for (process, thread), found in spans.items():
        name = f'{names[process, 0]} / {names[process, thread]}'
        check_nesting(name, found)
        threads[name] = found
        print(f'{name}: {len(found)} spans')

    def thread_of(beginning):
        found = [name for name in threads if name.startswith(beginning)]
        if len(found) != 1:
            fail(f'{len(found)} threads begin with "{beginning}"')
        return threads[found[0]]

    def durations(thread):
        return [int((end - begin) * 1000) for begin, end, _ in thread]

    program = f'program on {benchmark["device"]} / '
    samples = durations(thread_of(program + 'samples'))
    if samples != benchmark['samples_ns']:
        fail('samples are not those of the benchmark')
    measurement = {name: end - begin
                   for begin, end, name in thread_of(program + 'measurement')}
    if measurement['samples'] * 1000 != sum(samples):
        fail('samples do not add up')
    call, *steps = thread_of(program + 'one call, its steps')
    wanted = [(step['name'], step['ns']) for step in benchmark['steps']]
    if [(name, ns) for (_, _, name), ns in zip(steps, durations(steps))
       ] != wanted:
        fail('steps are not those of the benchmark')
    if durations([call])[0] != sum(ns for _, ns in wanted):
        fail('steps do not add up to the call')
    for name in ['client / jobs', 'server / compilation', 'server / benchmark',
                 'worker ', 'agent ', program + 'one call, its kernels']:
        if not any(thread.startswith(name) for thread in threads):
            fail(f'nothing is told of "{name}"')


if __name__ == '__main__':
    main(*sys.argv[1:])
