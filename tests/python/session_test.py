"""Sessions: a device in the hand, through a server and straight at an agent; and what becomes of them when something breaks."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import forwarder
import processes
import slipway
from slipway import errors


@pytest.fixture(scope='module')
def device():
    """Of a server of its own, so that runs of others need not wait for it."""
    with slipway.Client(local=True) as own, own.open(purpose='tests') as session:
        yield session


@pytest.fixture(scope='module')
def network(device):
    return device.load(processes.DIGITS)


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    """A server and an agent that tests may break."""
    folder = str(tmp_path_factory.mktemp('c'))
    with processes.server(folder, listen=f'unix:{folder}/s') as server:
        with processes.agent(folder, server.line) as agent:
            yield folder, server, agent


class Pair:
    """A server and an agent of one test."""

    def __init__(self, folder):
        self.folder = f'{folder}/{time.monotonic_ns() % 100_000}'
        os.mkdir(self.folder)

    def __enter__(self):
        self.server = processes.server(self.folder, listen=f'unix:{self.folder}/s')
        server = self.server.__enter__()
        self.agent = processes.agent(self.folder, server.line)
        return server, self.agent.__enter__()

    def __exit__(self, *_):
        self.agent.__exit__(None, None, None)
        self.server.__exit__(None, None, None)


def test_arrays_in_and_out(device, network):
    assert device.device == 'local' and 'linux' in device.target and device.id
    assert str(network.functions[0]) == 'main(image f32[1, 1, 8, 8]) -> scores f32[1, 10]'
    for digit in range(10):
        image = np.load(processes.image(digit))
        scores = network(image)
        assert scores.shape == (1, 10) and scores.argmax() == digit
        np.testing.assert_array_equal(network(image=image), scores)


def test_a_session_gives_what_a_run_gives(client, digits, network, seven):
    np.testing.assert_array_equal(network(seven), client.run(digits, {'image': seven})['scores'])


def test_tensors_stay_on_the_device(device, network, seven):
    image = device.put(seven, 'seven')
    assert str(image.type) == 'f32[1, 1, 8, 8]' and 'seven' in repr(image)
    scores, = network.call(image)
    expected = network(seven)
    np.testing.assert_array_equal(scores.get(), expected)
    np.testing.assert_array_equal(scores.slice([0, 6], [1, 3]).get(), expected[:, 6:9])
    out = device.zeros('f32[1, 10]')
    assert (out.get() == 0).all()
    report = network.call_into([image], [out], profile=True)
    assert report.duration_ns > 0 and len(report.steps) > 0
    np.testing.assert_array_equal(out.get(), expected)
    image.assign(np.zeros((1, 1, 8, 8), np.float32))
    network.call_into([image], [out])
    assert (out.get() != expected).any()
    into = np.empty((1, 10), np.float32)
    assert scores.get(out=into) is into
    np.testing.assert_array_equal(into, expected)


@pytest.mark.parametrize('dtype', ['float32', 'uint8', 'int64', 'bool', 'float16', 'complex128'])
@pytest.mark.parametrize('shape', [(), (0, 3), (5,), (3, 1 << 19)])
def test_what_is_put_comes_back(device, dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 251 % 2).astype(dtype).reshape(shape)
    back = device.put(array).get()
    assert back.dtype == array.dtype and back.shape == array.shape
    np.testing.assert_array_equal(back, array)


def test_random_tensors_are_those_of_their_seed(device):
    one, same, other = (device.random('f32[100]', seed, 'x').get() for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_what_is_dropped_is_freed(device):
    gc.collect()
    device.facts()  # Frees go along with it.
    before = device.facts().tensors
    kept = [device.zeros('u8[8]') for _ in range(5)]
    assert device.facts().tensors == before + 5
    kept[0].free()
    with pytest.raises(errors.FailedPrecondition, match='was freed'):
        kept[0].get()
    del kept
    gc.collect()
    device.facts()
    assert device.facts().tensors <= before


def test_calls_are_timed(device, network, seven):
    result = network.time(seven, samples=30, warmup=1, profile=True)
    assert len(result.samples_ns) == 30 and 0 < result.min_ns <= result.p50_ns
    assert result.device == device.device and len(result.steps) == 5
    assert result.clock_resolution_ns > 0


def test_what_does_not_fit_is_named(device, network, seven):
    cases = [(lambda: network(seven.astype('f8')), r'input "image": f64\[1, 1, 8, 8\] is given where f32'),
             (lambda: network(seven[0]), r'input "image": f32\[1, 8, 8\]'),
             (network, 'input "image" is not given'), (lambda: network(seven, seven), '2 inputs are given'),
             (lambda: network(seven, image=seven), 'given twice'), (lambda: network(seven, other=1), 'no input "other"'),
             (lambda: device.put(np.array(['text'])), 'no tensors of strings'),
             (lambda: device.zeros('f32[x]'), 'no type of a tensor'),
             (lambda: device.put(seven).get(out=np.empty(3)), 'a dense, writeable array'),
             (lambda: device.put(seven).assign(seven[0]), 'is given where')]
    for case, says in cases:
        with pytest.raises(errors.InvalidArgument, match=says):
            case()
    with pytest.raises(errors.NotFound, match='no function "other"'):
        network(seven, function='other')
    with pytest.raises(errors.InvalidArgument, match="leaves the tensor's 8"):
        device.put(seven).slice([0, 0, 0, 7], [1, 1, 1, 2])
    with slipway.Client(local=True) as other, other.open() as elsewhere:
        with pytest.raises(errors.InvalidArgument, match='of another session'):
            network(elsewhere.put(seven))


def test_threads_share_a_session(network):
    wrong = []

    def work(digit):
        image = np.load(processes.image(digit))
        for _ in range(30):
            if network(image).argmax() != digit:
                wrong.append(digit)

    threads = [threading.Thread(target=work, args=(digit,)) for digit in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_models_are_compiled_for_the_device(cluster, seven):
    _, server, _ = cluster
    with slipway.Client(server.line) as client, client.open('board-1') as session:
        assert session.load(processes.DIGITS)(seven).argmax() == 7


def test_an_agent_that_listens_takes_files(folder, slip, seven):
    with processes.listening_agent(folder, f'unix:{folder}/a') as agent:
        with slipway.open_agent(agent.line, insecure=True) as session:
            network = session.load(slip)
            assert network(seven).argmax() == 7
            assert session.load(slip)(seven).argmax() == 7
            with pytest.raises(errors.InvalidArgument, match='compiles no models'):
                session.load(processes.DIGITS)
        with pytest.raises(errors.FailedPrecondition, match='no server for jobs'):
            slipway.Client(agent.line, insecure=True)


def test_who_waits_is_told_for_whom(cluster):
    _, server, _ = cluster
    with slipway.Client(server.line) as client:
        told = []
        with client.open('board-1', purpose='the first'):
            with pytest.raises(errors.SlipwayError) as raised:
                client.open('board-1', wait=0)
            assert raised.value.code in ('DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION')
            waiting = threading.Thread(
                target=lambda: client.open('board-1', on_waiting=lambda *news: told.append(news)).close())
            waiting.start()
            until = time.monotonic() + 20
            while not told and time.monotonic() < until:
                time.sleep(0.02)
        waiting.join(20)
        assert not waiting.is_alive()
        assert told and told[0][0] == 0 and 'the first' in told[0][1]
        with pytest.raises(errors.NotFound):
            client.open('board-2')


def test_an_idle_session_is_kept_by_heartbeats(cluster, seven):
    _, server, _ = cluster
    with slipway.Client(server.line) as client, client.open(idle=1, patience=1) as session:
        image = session.put(seven)
        time.sleep(3)
        np.testing.assert_array_equal(image.get(), seven)


def test_a_session_whose_client_was_stopped_has_expired(cluster):
    """In a process of its own, which is stopped for longer than its lease may be idle."""
    _, server, _ = cluster
    code = ('import slipway, sys\n'
            'with slipway.Client(sys.argv[1]) as client, client.open(idle=1, patience=1) as session:\n'
            '    print("ready", flush=True)\n'
            '    sys.stdin.readline()\n'
            '    try:\n'
            '        session.facts()\n'
            '    except slipway.SlipwayError as error:\n'
            '        print(error.code, error.message, flush=True)\n')
    with subprocess.Popen([sys.executable, '-c', code, server.line], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == 'ready\n'
        process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate('go\n', timeout=30)
    assert said.startswith(('DEADLINE_EXCEEDED ', 'NOT_FOUND ')), said


def test_a_process_that_ends_gives_its_device_back(cluster):
    _, server, _ = cluster
    code = 'import slipway, sys\nsession = slipway.Client(sys.argv[1]).open(idle=600)\nprint(session.device)\n'
    done = subprocess.run([sys.executable, '-c', code, server.line], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert done.stdout == 'board-1\n'
    with slipway.Client(server.line) as client, client.open(wait=20) as session:
        assert session.device == 'board-1'


def test_a_connection_that_breaks_is_taken_up_again(cluster, seven):
    folder, server, _ = cluster
    between = forwarder.Forwarder(folder, server.line)
    with slipway.Client(between.line) as client, client.open('board-1') as session:
        network = session.load(processes.DIGITS)
        stop = threading.Event()

        def break_often():
            while not stop.wait(0.25):
                between.break_all()

        before = between.accepted
        breaking = threading.Thread(target=break_often)
        breaking.start()
        try:
            large = np.random.default_rng(1).integers(0, 255, 16 << 20).astype(np.uint8)
            until = time.monotonic() + 4
            rounds = 0
            while time.monotonic() < until or rounds < 2:
                assert network(seven).argmax() == 7
                if rounds % 50 == 0:
                    np.testing.assert_array_equal(session.put(large).get(), large)
                rounds += 1
        finally:
            stop.set()
            breaking.join()
        assert between.accepted > before + 3
        assert session.facts().programs == 1
    between.close()


def test_a_session_outlives_its_server(folder, seven):
    with Pair(folder) as (server, _):
        with slipway.Client(server.line) as client, client.open(idle=30, patience=20) as session:
            image = session.put(seven)
            server.kill()
            server.restart()
            np.testing.assert_array_equal(image.get(), seven)


def test_who_went_away_is_named(folder, seven):
    with Pair(folder) as (server, agent):
        with slipway.Client(server.line) as client:
            session = client.open(idle=2, patience=1)
            image = session.put(seven)
            agent.suspend()
            begin = time.monotonic()
            with pytest.raises(errors.SlipwayError, match='agent'):
                image.get()
            assert time.monotonic() - begin < 10
            agent.go_on()
            session.close()
            with pytest.raises(errors.SlipwayError):
                image.get()
    with Pair(folder) as (server, agent):
        with slipway.Client(server.line) as client:
            session = client.open(idle=2, patience=1)
            image = session.put(seven)
            server.kill()
            begin = time.monotonic()
            with pytest.raises(errors.Unavailable, match=f'the server at "{server.line}" does not answer'):
                image.get()
            assert time.monotonic() - begin < 10


def test_a_line_that_leads_nowhere_is_noticed(cluster, tmp_path_factory, seven):
    _, server, _ = cluster
    between = forwarder.Forwarder(str(tmp_path_factory.mktemp('h')), server.line)
    with slipway.Client(between.line) as client:
        session = client.open(idle=2, patience=1)
        image = session.put(seven)
        between.hold()
        with pytest.raises(errors.Unavailable, match='nothing has come for'):
            image.get()
        between.let_pass()
        session.close()
    between.close()


def test_a_program_that_crashes_leaves_the_session(folder, seven):
    source = f'{folder}/crash.c'
    with open(source, 'w', encoding='utf-8') as file:
        file.write('#include "core/kernel_abi/kernel_source.h"\n'
                   'static int32_t crash(void** args) {\n'
                   '  float* y = (float*)slipway_tensor(args, 1)->host;\n'
                   '  if (((const float*)slipway_tensor(args, 0)->host)[0] > 0) __builtin_trap();\n'
                   '  y[0] = 1;\n  return SLIPWAY_OK;\n}\nSLIPWAY_KERNELS({crash, 2, 0})\n')
    packed = f'{folder}/crash.slip'
    subprocess.run([processes.RUNFILES + '/client/slipway', 'pack', source, packed, '--input', 'x=f32[1]', '--output',
                    'y=f32[1]', '--cc', 'clang-14'], check=True, stdout=subprocess.DEVNULL)
    with slipway.Client(local=True) as own, own.open() as session:
        program = session.load(own.upload(packed))
        kept = session.put(seven)
        assert program(np.zeros(1, np.float32)) == [1]
        with pytest.raises(errors.Aborted):
            program(np.ones(1, np.float32))
        with pytest.raises(errors.FailedPrecondition):
            kept.get()
        np.testing.assert_array_equal(session.put(seven).get(), seven)


def test_ctrl_c_ends_the_call_and_not_the_session(folder, slip):
    """In a process of its own, which calls for long."""
    code = ('import slipway, sys, numpy\n'
            'with slipway.open_agent(sys.argv[1], insecure=True) as session:\n'
            '    program = session.load(sys.argv[2])\n'
            '    image = numpy.zeros((1, 1, 8, 8), numpy.float32)\n'
            '    print("ready", flush=True)\n'
            '    try:\n'
            '        program.time(image, samples=1000000, min_sample=0.001)\n'
            '    except KeyboardInterrupt:\n'
            '        print("interrupted", program(image).shape, flush=True)\n')
    with processes.listening_agent(folder, f'unix:{folder}/a') as agent:
        with subprocess.Popen([sys.executable, '-c', code, agent.line, str(slip)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == 'ready\n'
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == 'interrupted (1, 10)\n'
            assert process.wait(20) == 0


def test_comparisons(client, digits):
    slow = client.compile(processes.DIGITS, target='x86-64-linux')
    compared = client.compare(digits, slow, limit=30)
    assert compared.verdict == 'worse' and compared.is_certain and compared.ratio.value > 1.2
    assert compared.ratio.interval[0] > 1.01 and compared.cycles >= 8
    gate = client.gate(slow, digits, limit=30)
    assert gate.verdict == 'regressed' and str(gate).startswith('regressed')
    assert client.gate(digits, slow, limit=30).verdict == 'passed'
    with pytest.raises(errors.NotFound, match='baseline=nothing'):
        client.gate(digits, {'baseline': 'nothing'})
