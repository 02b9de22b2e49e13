#!/usr/bin/env python3
"""What a session from Python costs beside one of the C++ library, which session_bench measures before and after, so that a
machine that changes in between shows: a call of a tiny loaded program, handles in and out (goal: 150 us over C++), a call with
arrays in and out, and 256 MiB put and got (goal: 70 % of C++'s rates); straight to an agent and through a server.

    bazel build //tests/bench:session_bench //server:slipwayd //device_agent:slipway-agent \\
        //server/compile_worker:slipway-compile-worker //client/python:protocol
    tests/bench/python_session_bench.py [--without-cc]
"""

import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(ROOT, 'bazel-bin')
os.environ.setdefault('SLIPWAY_SERVER_BINARY', os.path.join(BIN, 'server', 'slipwayd'))
os.environ.setdefault('SLIPWAY_AGENT_BINARY', os.path.join(BIN, 'device_agent', 'slipway-agent'))
os.environ['SLIPWAY_TEST_RUNFILES'] = ROOT
sys.path[:0] = [os.path.join(ROOT, 'tests', 'python')]

CALLS = 2000
TENSOR_BYTES = 256 << 20
# The first of them share the machine with agents that find out what theirs can do.
ROUNDS = 10
ROW = re.compile(r'^(direct|through a server) +([\d.]+) us +(\d+) MB/s +(\d+) MB/s')


def take_package(folder):
    """The package with its protocol, which Bazel made."""
    shutil.copytree(os.path.join(ROOT, 'client', 'python', 'slipway'), os.path.join(folder, 'slipway'))
    made = os.path.join(BIN, 'client', 'python', 'slipway', '_proto', 'protocol.binpb')
    target = os.path.join(folder, 'slipway', '_proto', 'protocol.binpb')
    if os.path.exists(target):
        os.remove(target)
    shutil.copy(made, target)
    sys.path.insert(0, folder)


def measure_cc():
    """What session_bench says: {row: (call us, put MB/s, get MB/s)}."""
    shown = subprocess.run([os.path.join(BIN, 'tests', 'bench', 'session_bench')], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    return {match[1]: tuple(map(float, match.groups()[1:])) for match in map(ROW.match, shown.split('\n')) if match}


def median_us(call):
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def measure(session, program, image, tensor, back):
    """A round: call us, call with arrays us, put MB/s, get MB/s."""
    there = session.put(image)
    out, = program.call(there)
    call = median_us(lambda: program.call_into([there], [out]))
    arrays = median_us(lambda: program(image))
    begin = time.perf_counter()
    put = session.put(tensor)
    middle = time.perf_counter()
    put.get(out=back)
    end = time.perf_counter()
    assert (back == tensor).all()
    put.free()
    session.facts()
    return call, arrays, TENSOR_BYTES / (middle - begin) / 1e6, TENSOR_BYTES / (end - middle) / 1e6


def measure_python(folder):
    import numpy as np  # pylint: disable=import-outside-toplevel
    import processes  # pylint: disable=import-outside-toplevel
    import slipway  # pylint: disable=import-outside-toplevel
    tensor = np.zeros(TENSOR_BYTES, np.uint8)
    tensor[::64] = np.arange(TENSOR_BYTES // 64, dtype=np.uint32).astype(np.uint8)
    # Pages that are there: what is measured is moving bytes.
    back = np.ones(TENSOR_BYTES, np.uint8)
    image = np.load(processes.image(7))
    rounds = {'direct': [], 'through a server': []}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(processes.server(folder, '--insecure'))
        stack.enter_context(processes.agent(folder, server.line, 'board', '--insecure'))
        client = stack.enter_context(slipway.Client(server.line, insecure=True))
        slip = os.path.join(folder, 'digits.slip')
        client.compile(processes.DIGITS, output=slip)
        listening = stack.enter_context(processes.listening_agent(folder, '127.0.0.1:0'))
        sessions = {'direct': stack.enter_context(slipway.open_agent(listening.line, insecure=True)),
                    'through a server': stack.enter_context(client.open())}
        programs = {name: session.load(slip) for name, session in sessions.items()}
        for _ in range(ROUNDS):
            for name, session in sessions.items():
                rounds[name].append(measure(session, programs[name], image, tensor, back))
    # As session_bench: the least median of calls, and the best rate.
    return {name: (min(each[0] for each in found), min(each[1] for each in found), max(each[2] for each in found),
                   max(each[3] for each in found)) for name, found in rounds.items()}


def main():
    with tempfile.TemporaryDirectory(prefix='slipway-bench') as folder:
        take_package(folder)
        with_cc = '--without-cc' not in sys.argv[1:]
        cc = [measure_cc()] if with_cc else []
        python = measure_python(folder)
        cc += [measure_cc()] if with_cc else []
    print(f'{"":18} {"CALL":>10} {"f(x)":>10} {"PUT":>11} {"GET":>11}')
    for name, (call, arrays, put, get) in python.items():
        print(f'{name}')
        for found in cc:
            print(f'{"  C++":18} {found[name][0]:7.1f} us {"":10} {found[name][1]:6.0f} MB/s {found[name][2]:6.0f} MB/s')
        print(f'{"  Python":18} {call:7.1f} us {arrays:7.1f} us {put:6.0f} MB/s {get:6.0f} MB/s')
        if cc:
            best = [min(found[name][0] for found in cc)] + [max(found[name][i] for found in cc) for i in (1, 2)]
            print(f'{"  over, of":18} {call - best[0]:7.1f} us {arrays - best[0]:7.1f} us {100 * put / best[1]:8.0f} % '
                  f'{100 * get / best[2]:9.0f} %')


if __name__ == '__main__':
    main()
