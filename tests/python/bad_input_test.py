"""What goes wrong, and what is said of it: callers, servers and inputs."""

import datetime
import json
import os
import signal
import subprocess
import sys
import threading
import time

import grpc
import numpy as np
import pytest

import processes
import slipway
from slipway import _proof, _stream, errors


def secret(folder, text, mode=0o600):
    path = f'{folder}/token'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def make_token(address, *flags):
    command = [processes.SERVER, 'token', 'user', 'ada', '--server', address, *flags]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.fixture(scope='module')
def tls(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp('tls'))
    with processes.server(folder, '--accept-tokens') as server:
        yield server


def test_who_has_joined_needs_nothing(tls):
    with slipway.Client(tls.line) as client:
        assert client.info().version
        assert client.address == tls.line and not client.is_local


def test_a_token_and_the_wrong_one(tls, folder):
    token = make_token(tls.line)
    with slipway.Client(tls.line, token_file=secret(folder, token + '\n')) as client:
        assert len(client.jobs()) == 0
    changed = ('1' if token[0] == '0' else '0') + token[1:]
    with pytest.raises(errors.Unauthenticated):
        slipway.Client(tls.line, token_file=secret(folder, changed))
    other = token.rpartition('.')[0] + '.' + '0' * 20
    with pytest.raises(errors.PermissionDenied, match='another one than the token is for'):
        slipway.Client(tls.line, token_file=secret(folder, other))
    with pytest.raises(errors.InvalidArgument, match='none of `slipwayd token`'):
        slipway.Client(tls.line, token_file=secret(folder, 'x' * 20))
    with pytest.raises(errors.InvalidArgument, match='no token of at least'):
        slipway.Client(tls.line, token_file=secret(folder, 'short'))
    with pytest.raises(errors.PermissionDenied, match='chmod 600'):
        slipway.Client(tls.line, token_file=secret(folder, token, 0o644))
    with pytest.raises(errors.NotFound):
        slipway.Client(tls.line, token_file=f'{folder}/nothing')


def test_who_has_not_joined_is_told_how(tls, folder, monkeypatch):
    monkeypatch.setenv('XDG_CONFIG_HOME', folder)
    with pytest.raises(errors.Unauthenticated, match=f'slipway join {tls.line} CODE'):
        slipway.Client(tls.line)


def test_an_identity_that_has_expired_or_is_damaged(tls, folder):
    path = _proof.identity_path(tls.line)
    later = lambda: datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)
    with pytest.raises(errors.Unauthenticated, match=f'has expired .*slipway join {tls.line} CODE'):
        _proof.find_proof(tls.line, now=later)
    with open(path, encoding='ascii') as file:
        text = file.read()
    damaged = secret(folder, text[:-40])
    with pytest.raises(errors.DataLoss, match='is damaged'):
        slipway.Client(tls.line, identity=damaged)
    with pytest.raises(errors.InvalidArgument, match='not together with insecure'):
        slipway.Client(tls.line, identity=path, insecure=True)


def test_a_server_without_tls_and_one_with_it(tls, folder):
    with processes.server(folder, '--insecure') as plain:
        with slipway.Client(plain.line, insecure=True) as client:
            assert client.info().version
    with pytest.raises(errors.Unavailable, match='cannot be reached'):
        slipway.Client(tls.line, insecure=True, connect_timeout=3)


@pytest.mark.parametrize('address', ['nowhere', 'host:0', 'host:99999', ':1', 'unix:', 'unix:' + 'x' * 108, 'host:1x'])
def test_addresses(address):
    with pytest.raises(errors.InvalidArgument, match='server address'):
        slipway.Client(address)


def test_nobody_listens(folder):
    with pytest.raises(errors.Unavailable, match='is slipwayd running there'):
        slipway.Client(f'unix:{folder}/nobody', connect_timeout=3)


def test_without_binaries_it_is_said_where_they_were_looked_for(monkeypatch):
    for variable in ('SLIPWAY_SERVER_BINARY', 'SLIPWAY_SERVER'):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(errors.NotFound, match='SLIPWAY_SERVER_BINARY'):
        slipway.Client()
    with pytest.raises(errors.NotFound, match='no program'):
        slipway.Client(server_binary='/nowhere/slipwayd')
    with pytest.raises(errors.FailedPrecondition, match='ended before it was ready'):
        slipway.Client(server_binary='/bin/false')
    with pytest.raises(errors.InvalidArgument, match='exclude each other'):
        slipway.Client('a:1', local=True)


def test_a_server_that_goes_away_is_waited_for_and_given_up(folder):
    address = f'unix:{folder}/s'
    told = []
    with processes.server(folder, listen=address) as server:
        with slipway.Client(address, retry_for=20, on_waiting=told.append) as client:
            server.kill()
            timer = threading.Timer(1, server.restart)
            timer.start()
            assert len(client.jobs()) == 0
            timer.join()
            assert len(told) <= 1
        with slipway.Client(address, retry_for=1) as client:
            server.kill()
            begin = time.monotonic()
            with pytest.raises(errors.Unavailable, match='cannot be reached'):
                client.jobs()
            assert time.monotonic() - begin < 15


def test_inputs_that_do_not_fit_are_named(client, digits, seven):
    for image, says in ((seven.astype(np.float64), r'"image": f64\[1, 1, 8, 8\] is given where f32'),
                        (seven[0], r'"image": f32\[1, 8, 8\] is given'), (np.zeros((1, 1, 8, 9), np.float32), '8, 9')):
        with pytest.raises(errors.InvalidArgument, match=says):
            client.run(digits, {'image': image})
        with pytest.raises(errors.InvalidArgument, match=says):
            client.bench(digits, {'image': image})
    with pytest.raises(errors.InvalidArgument, match=r'no input "picture"; it takes image f32'):
        client.run(digits, {'picture': seven})
    for call in (client.run, client.bench):
        with pytest.raises(errors.InvalidArgument, match='inputs are given by name, .* not a ndarray'):
            call(digits, seven)
    with pytest.raises(errors.InvalidArgument, match='inputs are given by name, .* not a list'):
        client.compare(digits, digits, [seven])


def test_models_that_are_none(client, folder):
    path = f'{folder}/text.onnx'
    with open(path, 'w', encoding='utf-8') as file:
        file.write('this is no model, whatever its name says')
    for model in (path, b'\x00' * 100, b'\xff' * 1000):
        with pytest.raises(errors.InvalidArgument, match='model'):
            client.compile(model)
    with pytest.raises(errors.NotFound, match='there is no'):
        client.compile(f'{folder}/missing.onnx')
    with pytest.raises(errors.InvalidArgument, match='is no file'):
        client.compile(folder)
    with pytest.raises(errors.NotFound):
        client.bench(f'{folder}/missing.slip')


def test_damaged_artifacts(client, slip, folder):
    data = slip.read_bytes()
    path = f'{folder}/damaged.slip'
    changes = {'cut': data[:-1], 'head': data[:40] + b'x' + data[41:], 'table': data[:70] + b'\xff' + data[71:],
               'manifest': data[:(64 << 10) + 5] + b'\xff' + data[(64 << 10) + 6:], 'short': data[:20]}
    for change in changes.values():
        with open(path, 'wb') as file:
            file.write(change)
        with pytest.raises((errors.DataLoss, errors.InvalidArgument)):
            client.run(path)


def test_ctrl_c_cancels_the_job(client, digits, folder):
    """In a process of its own, which waits for a device that is busy for long."""
    code = ('import slipway, sys\nclient = slipway.Client(sys.argv[1])\nprint("ready", flush=True)\n'
            'client.bench(sys.argv[2], samples=1000000, warmup=0, tags={"why": "ctrl-c"})')
    with subprocess.Popen([sys.executable, '-c', code, client.address, processes.DIGITS], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == 'ready\n'
        until = time.monotonic() + 30
        while not any(job.state == 'running' for job in client.jobs(tags={'why': 'ctrl-c'}, kinds=['benchmark'])):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert 'KeyboardInterrupt' in process.communicate(timeout=30)[1]
    job = client.jobs(tags={'why': 'ctrl-c'}, kinds=['benchmark'])[0]
    assert client.wait(job.id).state == 'cancelled'


def test_a_process_that_is_killed_takes_its_server_along(folder):
    code = ('import slipway, os, time\nclient = slipway.Client(local=True)\nclient.devices()\n'
            'fleet = client._place.fleet\n'
            'print(client.address, fleet._server._process.pid, fleet._agent._process.pid, flush=True)\n'
            'time.sleep(1000)')
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True) as process:
        _, *pids = process.stdout.readline().split()
        process.kill()
    until = time.monotonic() + 20
    for pid in pids:
        while os.path.exists(f'/proc/{pid}') and time.monotonic() < until:
            time.sleep(0.05)
        assert not os.path.exists(f'/proc/{pid}')


def test_a_large_upload_takes_little_memory(client, folder):
    """512 MiB that are nowhere on the disk, in a process whose memory is counted."""
    code = '''
import json, resource, sys
import slipway
from slipway import _blobs
client = slipway.Client(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
blob = _blobs.FileBlob(sys.argv[2])
client._run(_blobs.send([blob], client._context.policy))
print(json.dumps({'grown_kib': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 'bytes': blob.digest.size}))
'''
    path = f'{folder}/sparse'
    size = 512 << 20
    with open(path, 'wb') as file:
        file.truncate(size)
    done = subprocess.run([sys.executable, '-c', code, client.address, path], stdout=subprocess.PIPE, check=True)
    shown = json.loads(done.stdout)
    assert shown['bytes'] == size
    assert shown['grown_kib'] < 64 << 10


def test_a_model_over_the_limit_is_refused_before_it_is_read(folder):
    path = f'{folder}/huge.onnx'
    with open(path, 'wb') as file:
        file.truncate(5 << 30)
    with processes.server(folder, '--max-model-size=1GiB', listen=f'unix:{folder}/s') as server:
        with slipway.Client(server.line) as client:
            begin = time.process_time()
            with pytest.raises(errors.ResourceExhausted, match='larger than the limit of 1073741824 bytes'):
                client.compile(path, target='x86-64-v3-linux')
            assert time.process_time() - begin < 1


def test_a_grpcio_that_sessions_cannot_use_is_named():
    class OtherChannel:
        _channel = object()

    with pytest.raises(errors.Unimplemented, match=f'grpcio {grpc.__version__}.*install another version'):
        _stream.Stream(OtherChannel(), [], b'')
