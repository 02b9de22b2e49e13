"""Models in all the forms that they are given in, and the files that they are made of."""

import contextlib
import os
import sys
import types

import numpy as np
import pytest

import processes
from slipway import _arrays, _models, errors
from slipway._arrays import TensorType
from slipway._proof import identity_path
from slipway._table import size_text, time_text, to_text

MOST = 1 << 30


def field(number, contents):
    if isinstance(contents, str):
        contents = contents.encode()
    size, head = len(contents), bytearray()
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    key = number << 3 | 2
    keys = bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])
    return keys + bytes(head) + bytes([size]) + contents


def external(location):
    return field(13, field(1, 'location') + field(2, location)) + field(13, field(1, 'offset') + field(2, '0'))


def test_external_data_is_found_wherever_tensors_are():
    tensor = lambda name: external(name)
    attribute = lambda *parts: field(5, b''.join(parts))
    inner = field(1, attribute(field(5, tensor('in a body'))))
    graph = (field(5, tensor('initializer')) + field(15, field(1, tensor('sparse values')) + field(2, tensor('sparse indices')))
             + field(1, attribute(field(10, tensor('list')), field(11, inner), field(22, field(1, tensor('sparse attribute')))))
             + field(5, tensor('initializer')))
    model = b'\x08\x07' + field(7, graph) + field(25, field(7, attribute(field(5, tensor('function')))))
    assert set(_models.find_external_data(model)) == {
        'initializer', 'sparse values', 'sparse indices', 'list', 'in a body', 'sparse attribute', 'function'}
    assert _models.find_external_data(model[:-3]) is not None
    for size in range(len(model)):
        _models.find_external_data(model[:size])
    assert _models.find_external_data(bytes(1 << 20)) == []


def test_files_beside_a_model_go_along(tmp_path):
    path = tmp_path / 'net.onnx'
    path.write_bytes(field(7, field(5, external('net.onnx')) + field(5, external('data/weights.bin'))))
    with pytest.raises(errors.NotFound, match='refers to external data "data/weights.bin", which is missing'):
        _models.read_model(path, MOST)
    os.mkdir(tmp_path / 'data')
    (tmp_path / 'data' / 'weights.bin').write_bytes(b'weights')
    model = _models.read_model(path, MOST)
    assert [name for name, _ in model.files] == ['net.onnx', 'data/weights.bin']
    assert b''.join(model.files[1][1].pieces(0)) == b'weights'
    with pytest.raises(errors.ResourceExhausted, match='larger than the limit'):
        _models.read_model(path, path.stat().st_size + 6)
    with pytest.raises(errors.InvalidArgument, match='give its path'):
        _models.read_model(path.read_bytes(), MOST)


@pytest.mark.parametrize('name', ['../outside', '/etc/passwd', 'a//b', './a', 'a\nb', 'x' * 256, 'a\\b'])
def test_a_model_cannot_name_files_of_others(tmp_path, name):
    path = tmp_path / 'net.onnx'
    path.write_bytes(field(7, field(5, external(name))))
    with pytest.raises(errors.InvalidArgument, match='external data must lie in the model'):
        _models.read_model(path, MOST)


def test_a_model_reaches_nothing_through_links(tmp_path):
    path = tmp_path / 'net.onnx'
    path.write_bytes(field(7, field(5, external('weights'))))
    (tmp_path / 'secret').write_text('secret')
    os.symlink('secret', tmp_path / 'weights')
    with pytest.raises(errors.InvalidArgument, match='is a link'):
        _models.read_model(path, MOST)


def test_formats_go_by_names(tmp_path):
    for name, number in (('a.onnx', 1), ('a.graph', 2), ('a.graphpb', 3), ('a-symbol.json', 4), ('a', 1)):
        (tmp_path / name).write_bytes(b'\x08\x07')
        assert _models.read_model(tmp_path / name, MOST).format == number
    (tmp_path / 'a-0010.params').write_bytes(b'p')
    files = _models.read_model(tmp_path / 'a-symbol.json', MOST).files
    assert [name for name, _ in files] == ['a-symbol.json', 'a-0010.params']
    (tmp_path / 'a-0020.params').write_bytes(b'p')
    with pytest.raises(errors.InvalidArgument, match='several epochs'):
        _models.read_model(tmp_path / 'a-symbol.json', MOST)


@pytest.mark.parametrize('model, says', [(b'', 'empty'), (3, 'is no model'), (None, 'is no model')])
def test_what_is_no_model(model, says):
    with pytest.raises(errors.InvalidArgument, match=says):
        _models.read_model(model, MOST)


def test_a_torch_module_is_exported_with_an_example():
    torch = pytest.importorskip('torch')
    module = torch.nn.Linear(4, 2)
    with pytest.raises(errors.InvalidArgument, match='example'):
        _models.read_model(module, MOST)
    model = _models.read_model(module, MOST, (torch.zeros(1, 4),))
    assert model.name == 'Linear.onnx' and model.files[0][1].digest.size > 0


def test_how_torch_is_asked(monkeypatch):
    """Where torch is not installed, by one that notes what it is asked."""
    asked = {}

    class Module:
        training = True
        modes = []

        def eval(self):
            self.modes.append('eval')

        def train(self, mode):
            self.modes.append(mode)

    class Torch(types.ModuleType):
        __version__ = '2.6.0+cpu'
        Tensor = np.ndarray
        no_grad = staticmethod(contextlib.nullcontext)

        class onnx:  # pylint: disable=invalid-name
            @staticmethod
            def export(module, tensors, buffer, **options):
                asked.update(tensors=tensors, modes=list(module.modes), options=options)
                buffer.write(b'\x08\x07')

    Module.__module__ = 'torch.nn.modules.module'
    monkeypatch.setitem(sys.modules, 'torch', Torch('torch'))
    module, example = Module(), np.zeros(3)
    model = _models.read_model(module, MOST, (example,))
    assert model.name == 'Module.onnx' and b''.join(model.files[0][1].pieces(0)) == b'\x08\x07'
    assert asked['tensors'][0] is example and asked['modes'] == ['eval'] and module.modes == ['eval', True]
    assert asked['options'] == {'dynamo': False}
    Torch.__version__ = '1.13.1'
    _models.read_model(module, MOST, (example,))
    assert asked['options'] == {}


@pytest.mark.parametrize('dtype', ['float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'bool', 'float16',
                                   'float64', 'uint32', 'uint64', 'complex64', 'complex128'])
def test_arrays_there_and_back(dtype):
    array = (np.arange(24) % 2).astype(dtype).reshape(2, 3, 4)
    protos, blobs = _arrays.inputs_to_protos({'x': array})
    assert not blobs
    received = _arrays.ReceivedTensor.from_proto(protos[0])
    back = _arrays.to_array(received.type, received.data, 'x')
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_strings_there_and_back():
    array = np.array([['one', ''], ['zwölf', 'x']])
    protos, _ = _arrays.inputs_to_protos({'x': array})
    parts = [_arrays.ReceivedTensor.from_proto(proto) for proto in protos]
    assert [part.name for part in parts] == ['x', 'x (contents)']
    joined = _arrays.join_strings([(part.name, _arrays.to_array(part.type, part.data, part.name)) for part in parts])
    assert joined['x'].tolist() == array.tolist()


def test_large_arrays_are_blobs_that_share_their_memory():
    array = np.zeros((1 << 18) + 1, np.float32)
    protos, blobs = _arrays.inputs_to_protos({'x': array})
    assert protos[0].blob.size_bytes == array.nbytes
    assert np.shares_memory(np.frombuffer(blobs[0]._data, np.uint8), array)  # pylint: disable=protected-access


@pytest.mark.parametrize('value, says', [(np.array([object()]), 'Python objects'), (np.zeros(1, 'M8[s]'), 'no tensors'),
                                         (np.zeros((1,) * 17), '17 dimensions')])
def test_what_is_no_tensor_is_named(value, says):
    with pytest.raises(errors.InvalidArgument, match=f'input "x".*{says}'):
        _arrays.inputs_to_protos({'x': value})


@pytest.mark.parametrize('array, port, says', [
    (np.zeros((2, 3), np.float32), 'f32[batch, 3]', None),
    (np.zeros((2, 3), np.float32), 'f32[min(a, b), ceil(n / 2)]', None),
    (np.zeros((), np.float32), 'f32[]', None),
    (np.zeros((2, 4), np.float32), 'f32[batch, 3]', r'f32\[2, 4\] is given where f32\[batch, 3\] is taken'),
    (np.zeros((2, 3)), 'f32[2, 3]', r'convert it with .astype\("float32"\)'),
    (np.zeros(3, np.float32), 'f32[1, 3]', r'f32\[3\] is given'),
    (np.zeros(3, np.float32), 'bf16[3]', r'astype\("bfloat16"\)'),
])
def test_arrays_are_held_against_what_a_program_takes(array, port, says):
    if says is None:
        _arrays.check_fits(array, port, 'input "x"')
        return
    with pytest.raises(errors.InvalidArgument, match=f'input "x": .*{says}'):
        _arrays.check_fits(array, port, 'input "x"')


def test_types_of_tensors():
    assert str(TensorType.parse('f32[2, 3]')) == 'f32[2, 3]' and TensorType.parse('u8[]').shape == ()
    assert TensorType.parse('i64[5]').byte_size == 40
    for text in ('f32', 'f33[1]', 'f32[a]', ''):
        with pytest.raises(errors.InvalidArgument):
            TensorType.parse(text)


def test_identities_lie_where_the_command_puts_them(monkeypatch):
    monkeypatch.setenv('XDG_CONFIG_HOME', '/c')
    assert identity_path('BuildHost:7411') == '/c/slipway/servers/buildhost:7411/user.pem'
    assert identity_path('localhost:7411') == '/c/slipway/servers/127.0.0.1:7411/user.pem'
    assert identity_path('[0:0::1]:7411') == '/c/slipway/servers/[::1]:7411/user.pem'
    for address in ('../x:1', 'a..b:1', '.a:1', 'a/b:1', '[zz]:1'):
        with pytest.raises(errors.InvalidArgument):
            identity_path(address)


def test_numbers_as_people_read_them():
    assert [time_text(ns) for ns in (0, 1.5, 1234, 5e6, 2e9, 5e11)] == ['0 ns', '1.5 ns', '1.23 us', '5 ms', '2 s', '500 s']
    assert [size_text(size) for size in (0, 1023, 1536, 3 << 20)] == ['0 B', '1023 B', '1.5 KiB', '3.0 MiB']
    assert to_text([{'name': 'a\nb', 'n': 1}, {'name': 'c', 'n': 22}]).split('\n') == ['NAME   N', 'a\\nb   1', 'c     22']
    assert processes.DIGITS.endswith('digits.onnx')
