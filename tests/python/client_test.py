"""The client against a server and an agent: what people do first, and what comes of it."""

import datetime
import subprocess
import sys

import numpy as np
import pytest

import processes
import slipway
from slipway import errors


def test_compiles_and_tells_what_the_program_takes(digits):
    assert [str(port) for port in digits.artifact.inputs] == ['image f32[1, 1, 8, 8]']
    assert [str(port) for port in digits.artifact.outputs] == ['scores f32[1, 10]']
    assert digits.kernels == 5
    assert digits.artifact.name == 'digits.onnx'


@pytest.mark.parametrize('digit', range(10))
def test_reads_digits(client, digits, digit):
    result = client.run(digits, {'image': np.load(processes.image(digit))})
    assert result['scores'].shape == (1, 10)
    assert result['scores'].dtype == np.float32
    assert result.only().argmax() == digit
    assert result.device == 'local'


def test_a_model_may_be_a_path_bytes_or_a_slip_file(client, slip, seven):
    with open(processes.DIGITS, 'rb') as file:
        data = file.read()
    expected = client.run(slip, {'image': seven})['scores']
    for model in (processes.DIGITS, data, bytearray(data)):
        np.testing.assert_array_equal(client.run(model, {'image': seven})['scores'], expected)


def test_a_model_may_be_a_message_of_onnx(client, seven):
    class ModelProto:
        """What the client asks of onnx.ModelProto, which needs not be installed."""

        class graph:  # pylint: disable=invalid-name
            name = 'digits'

        def SerializeToString(self):  # pylint: disable=invalid-name
            with open(processes.DIGITS, 'rb') as file:
                return file.read()

    ModelProto.__module__ = 'onnx.onnx_ml_pb2'
    assert client.run(ModelProto(), {'image': seven})['scores'].argmax() == 7


def test_an_array_need_not_be_dense_nor_of_this_order(client, digits, seven):
    expected = client.run(digits, {'image': seven})['scores']
    strided = np.zeros((1, 1, 8, 16), np.float32)
    strided[..., ::2] = seven
    for image in (strided[..., ::2], seven.astype('>f4'), np.asfortranarray(seven), seven.tolist()):
        if isinstance(image, list):
            image = np.array(image, np.float32)
        np.testing.assert_array_equal(client.run(digits, {'image': image})['scores'], expected)


def test_inputs_that_are_not_given_come_from_the_seed(client, digits):
    one, same, other = (client.run(digits, seed=seed)['scores'] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_benchmark(client, digits, seven):
    result = client.bench(digits, {'image': seven}, samples=20, warmup=2, profile=True, tags={'commit': 'abc'})
    assert len(result.samples_ns) == 20
    assert 0 < result.min_ns <= result.p50_ns
    assert result.threads == 1
    assert [step.operators for step in result.steps][0] == ('ConvNCHWc', 'Relu')
    assert result.steps.slowest(1)[0].ns == max(step.ns for step in result.steps)
    assert result.load_cold_ns > 0 and result.first_run_ns > 0 and result.peak_memory_bytes > 0
    assert result.clock_resolution_ns > 0
    assert 'p50' in str(result) and '<table>' in result._repr_html_()
    entry = client.history('digits.onnx', tags={'commit': 'abc'}, with_samples=True)[0]
    assert entry.id == result.job
    assert list(entry.calls_ns) == result.calls_ns
    assert entry.p50_ns == result.p50_ns
    assert entry.artifact == digits.artifact.digest
    assert len(client.history('digits.onnx', tags={'commit': 'other'})) == 0


def test_a_precision_goal_ends_the_samples(client, digits):
    result = client.bench(digits, samples=5000, precision_goal=0.5)
    assert len(result.samples_ns) < 5000
    assert 0 <= result.precision <= 0.5


def test_scenarios(client, digits):
    server = client.bench(digits, scenario=slipway.Scenario('server', qps=500, latency_bound=1, instances=1), samples=400)
    assert server.scenario.scenario.qps == 500 and server.scenario.calls == 400
    assert len(server.calls_ns) == 400 and server.calls_ns == list(server.samples_ns)
    assert server.scenario.verdict in ('met', 'undecided') and 'queries a second' in str(server)
    offline = client.bench(digits, scenario='offline', samples=50)
    assert offline.scenario.calls_per_second > 0 and 'calls a second' in str(offline).lower()
    several = client.bench(digits, scenario=slipway.Scenario('multi-stream', calls=2), samples=20)
    assert several.scenario.calls == 40 and several.scenario.scenario.calls == 2
    with pytest.raises(errors.InvalidArgument, match='wants qps'):
        client.bench(digits, scenario='server')
    with pytest.raises(errors.InvalidArgument, match='single-stream, multi-stream'):
        client.bench(digits, scenario='at night')
    assert slipway.Scenario('server', qps=1).default_samples == 368
    assert slipway.Scenario('server', qps=100).default_samples == 1000


def test_devices(client):
    found = client.devices()
    assert [each.id for each in found] == ['local']
    assert found[0].cores > 0 and found[0].memory_bytes > 0 and 'linux' in found[0].target
    assert [each.id for each in client.devices('cores>=1')] == ['local']
    none = client.devices('cores>=100000')
    assert len(none) == 0
    assert 'no device matches' in none.explanation and 'no device matches' in str(none)
    with pytest.raises(errors.InvalidArgument, match='expected'):
        client.devices('cores>=')


def test_jobs(client, digits):
    before = datetime.datetime.now(datetime.timezone.utc)
    result = client.run(digits, tags={'why': 'listing'})
    listed = client.jobs(kinds=['run'], states=['succeeded'], tags={'why': 'listing'})
    assert [job.id for job in listed] == [result.job]
    assert listed[0].kind == 'run' and listed[0].subject == 'digits.onnx' and listed[0].tags == {'why': 'listing'}
    assert listed[0].created >= before - datetime.timedelta(minutes=1)
    assert client.job(result.job).is_ended
    assert client.wait(result.job).state == 'succeeded'
    assert client.cancel(result.job).state == 'succeeded'
    assert len(client.jobs(limit=1)) == 1
    with pytest.raises(errors.InvalidArgument, match='queued, assigned'):
        client.jobs(states=['ill'])
    with pytest.raises(errors.NotFound):
        client.job('0' * 26)


def test_lists_are_read_page_by_page(client, digits):
    made = [client.run(digits, tags={'why': 'pages'}).job for _ in range(3)]
    whole = [job.id for job in client.jobs(tags={'why': 'pages'})]
    assert whole == made[::-1]
    assert [job.id for job in client.jobs(tags={'why': 'pages'}, limit=2)] == whole[:2]


def test_a_slip_file_is_what_the_command_writes(client, slip, tmp_path):
    again = client.upload(slip)
    client.export(again, tmp_path / 'again.slip')
    assert (tmp_path / 'again.slip').read_bytes() == slip.read_bytes()
    command = [processes.RUNFILES + '/client/slipway', 'inspect', str(slip)]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert again.digest.sha256[:12] in shown and again.target in shown


def test_options_of_a_compilation(client, seven):
    kept = client.compile(processes.DIGITS, keep=['relu1_out'], without=['winograd'][:0])
    assert 'relu1_out' in [port.name for port in kept.artifact.outputs]
    assert set(client.run(kept, {'image': seven})) == {'scores', 'relu1_out'}
    with pytest.raises(errors.InvalidArgument, match='f32, bf16, f16'):
        client.compile(processes.DIGITS, precision='f64')
    with pytest.raises(errors.InvalidArgument, match='compiled already'):
        client.run(kept, target='x86-64-v3-linux')
    old = client.compile(processes.DIGITS, target='x86-64-v2-linux')
    assert old.artifact.target == 'x86-64-v2-linux'


def test_the_functions_of_the_package_find_their_server(client, digits, seven):
    """Three lines of a newcomer, in a process of their own that ends what it has started."""
    code = 'import slipway, sys\nresult = slipway.bench(sys.argv[1])\nprint(result)\n'
    done = subprocess.run([sys.executable, '-c', code, processes.DIGITS], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.startswith('digits.onnx on local, 1 thread, 100 samples')


def test_results_are_tables_of_pandas(client, digits):
    pandas = pytest.importorskip('pandas')
    client.bench(digits, samples=5)
    frame = client.history(limit=1).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc[0, 'model'] == 'digits.onnx' and frame.loc[0, 'p50_ns'] > 0


def test_names_with_markup_are_text(client, digits):
    client.run(digits, tags={'note': '<script>alert(1)</script>'})
    html = client.jobs(limit=1)._repr_html_()
    assert '<script>' not in html and '&lt;script&gt;' in html


def test_two_clients_at_once(client, digits, seven):
    with slipway.Client(client.address) as other:
        assert not other.is_local
        assert other.run(digits, {'image': seven})['scores'].argmax() == 7
