"""What a client does, as generators of effects (`_calls`): `Client` carries them out blocking, `aio.Client` in an event
loop, and both have their signatures and documentation from here.
"""

from __future__ import annotations

import datetime
import math
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from slipway import _arrays, _blobs, _proto, errors
from slipway._arrays import Array, ReceivedTensor
from slipway._blobs import Blob, BytesBlob, Digest
from slipway._calls import NeedDevice, Work
from slipway._context import Context
from slipway._models import Model, is_path, read_model
from slipway._results import (Artifact, Benchmark, Compilation, Device, HistoryEntry, Job, Listing, RunResult, ServerInfo,
                              Timings)
from slipway._scenario import Scenario
from slipway._slip import (MOST_MANIFEST_BYTES, Signature, SlipFile, blobs_of, format_head, looks_like_slip,
                           parse_manifest)

# A path, bytes, an onnx.ModelProto or a torch.nn.Module; or what is compiled: a .slip file, a compilation, an artifact.
AnyModel = Any
# A value by each input's name; those that are left out are made on the device, from `seed`.
Inputs = Mapping[str, Any]
# An extent, or the least and the greatest.
Extent = Union[int, Tuple[int, int]]

_PRECISIONS = {'f32': 0, 'bf16': 1, 'f16': 2, 'tf32': 3}
_MOST_OUTPUT_BYTES = 16 << 30


def _name_of(model: AnyModel) -> str:
    if isinstance(model, (Compilation, Artifact)):
        return (model.artifact if isinstance(model, Compilation) else model).name
    return os.path.basename(os.fspath(model)) if is_path(model) else type(model).__name__


def _target(context: Context, target: str, device: str) -> Work[str]:
    """The target that is named, else that of the device, or of all devices if they have one."""
    if target == 'host':
        raise errors.InvalidArgument('target "host" is for the shell command, which can look at the processor: name the '
                                     'target, or leave it out to compile for the device')
    if target:
        return target
    yield NeedDevice()
    found = yield from devices(context, device)
    targets = {each.target: each.id for each in found if each.state != 'lost'}
    if not targets:
        raise errors.NotFound(found.explanation or 'there is no device to compile for: name a target')
    if len(targets) > 1:
        (one, first), (other, second) = list(targets.items())[:2]
        raise errors.InvalidArgument(f'the targets of devices differ, for example "{first}" ({one}) and "{second}" '
                                     f'({other}); choose with device or target')
    return next(iter(targets))


def describe(context: Context, digest: Digest, name: str = '') -> Work[Artifact]:
    """What the server has under this digest: its manifest alone is fetched."""
    data = yield from _blobs.fetch_bytes(digest, context.policy, MOST_MANIFEST_BYTES)
    manifest = parse_manifest(data, f'artifact {digest}')
    signature = Signature(manifest)
    return Artifact(digest, name or manifest.name, manifest.target, tuple(signature.inputs), tuple(signature.outputs))


def compile_model(context: Context, model: AnyModel, *, target: str = '', device: str = '',
                  dimensions: Optional[Mapping[str, Extent]] = None, keep: Sequence[str] = (), precision: str = 'f32',
                  without: Sequence[str] = (), schedules: str = '', example: Optional[Tuple[Any, ...]] = None,
                  name: Optional[str] = None, output: Union[None, str, 'os.PathLike[str]'] = None, priority: int = 0,
                  tags: Optional[Mapping[str, str]] = None, deadline: Optional[float] = None,
                  progress: Optional[bool] = None) -> Work[Compilation]:
    """Compiles a model: a path, bytes, an onnx.ModelProto or a torch.nn.Module, which `example`, a tuple of the tensors that
    it takes, exports.

    It is compiled for `target`, else for the target of `device`, an id or a selector, else for that of all devices if they
    have one. `dimensions` fixes symbolic dimensions (8) or bounds them ((1, 512)). `keep` names values that the program gives
    as outputs, too; `precision` is "f32", "tf32", "f16" or "bf16"; `without` names optional passes that are left out; `schedules` is
    the text of a file of schedules. `output` is where to write the .slip file.

    INVALID_ARGUMENT: it is no model. UNIMPLEMENTED: an operator or target is lacking, named. RESOURCE_EXHAUSTED: its files
    are larger than the server takes, which is found out before they are read."""
    context = context.with_progress(progress)
    request = _proto.CreateCompilationRequest()
    spec = request.spec
    if precision not in _PRECISIONS:
        raise errors.InvalidArgument(f'precision "{precision}" is none of {", ".join(_PRECISIONS)}')
    source: Model = read_model(model, context.info.max_model_bytes, example, name)
    spec.target.name = yield from _target(context, target, device)
    spec.model.CopyFrom(source.to_proto())
    options = spec.options
    options.precision = _PRECISIONS[precision]
    options.schedules = schedules
    options.keep.extend(sorted(set(keep)))
    options.without.extend(sorted(set(without)))
    for symbol, extent in sorted((dimensions or {}).items()):
        low, high = extent if isinstance(extent, tuple) else (extent, extent)
        options.dimensions.add(symbol=symbol, value=low, max=high if high != low else 0)
    job = yield from context.submit('CompileService', 'CreateCompilation', request, source.blobs, priority=priority,
                                    tags=tags, deadline=deadline)
    done = yield from context.result(job, f'compile {source.name}')
    result = done.compilation_result
    artifact = yield from describe(context, Digest.from_proto(result.manifest), source.name)
    compilation = Compilation.from_proto(result, artifact)
    if output is not None:
        yield from export(context, compilation, output)
    return compilation


def upload(context: Context, path: Union[str, 'os.PathLike[str]']) -> Work[Artifact]:
    """Gives the server the artifact of a .slip file. DATA_LOSS for a file that is damaged."""
    slip = SlipFile(os.fspath(path))
    yield from context.upload(slip.blobs)
    signature = Signature(slip.manifest)
    return Artifact(slip.digest, os.path.basename(os.fspath(path)), slip.manifest.target, tuple(signature.inputs),
                    tuple(signature.outputs))


def export(context: Context, artifact: Union[Artifact, Compilation],
           path: Union[str, 'os.PathLike[str]']) -> Work[None]:
    """Writes an artifact of the server's as a .slip file, a piece at a time in memory; whole, or not at all."""
    digest = artifact.artifact.digest if isinstance(artifact, Compilation) else artifact.digest
    data = yield from _blobs.fetch_bytes(digest, context.policy, MOST_MANIFEST_BYTES)
    blobs = [digest] + blobs_of(parse_manifest(data, f'artifact {digest}'))
    head, offsets = format_head(blobs)
    target = os.fspath(path)
    unfinished = f'{target}.{os.getpid()}.new'
    try:
        with open(unfinished, 'wb') as file:
            file.write(head)
            for blob, offset in zip(blobs, offsets):
                file.seek(offset)
                yield from _blobs.fetch(blob, lambda piece: (file.write(piece), None)[1], context.policy)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def prepare(context: Context, model: AnyModel, compile_options: Dict[str, Any]) -> Work[Artifact]:
    """The artifact that is meant: one that is there, that of a .slip file, or what a model is compiled to."""
    given = {key: value for key, value in compile_options.items() if value not in (None, '', ())}
    if isinstance(model, Compilation):
        model = model.artifact
    is_compiled = isinstance(model, Artifact) or (is_path(model) and looks_like_slip(os.fspath(model)))
    if not is_compiled:
        compilation = yield from compile_model(context, model, **compile_options)
        return compilation.artifact
    wrong = [key for key in ('target', 'dimensions', 'precision', 'example') if key in given and given[key] != 'f32']
    if wrong:
        raise errors.InvalidArgument(f'"{_name_of(model)}" is compiled already; {", ".join(wrong)} is for models')
    if isinstance(model, Artifact):
        return model
    return (yield from upload(context, model))


def by_name(inputs: Optional[Inputs]) -> Inputs:
    """The inputs that are given. INVALID_ARGUMENT for what names none, as an array alone."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise errors.InvalidArgument(f'inputs are given by name, as {{"x": array}}: not a {type(inputs).__name__}')
    return inputs


def check_inputs(artifact: Artifact, inputs: Inputs) -> None:
    """INVALID_ARGUMENT names an input that the program does not take, or does not take like this."""
    ports = {port.name: port for port in artifact.inputs}
    for name, value in inputs.items():
        array = _arrays.as_array(value, f'input "{name}"')
        if name not in ports:
            # A tensor of strings is two of the program's.
            raise errors.InvalidArgument(f'"{artifact.name}" has no input "{name}"; it takes '
                                         + (', '.join(map(str, artifact.inputs)) or 'nothing'))
        if not _arrays.is_text(array):
            _arrays.check_fits(array, ports[name].type, f'input "{name}"')


def _ready(context: Context, model: AnyModel, inputs: Optional[Inputs], compile_options: Dict[str, Any]) -> Work[Artifact]:
    """The artifact that is meant, once a device can be had, and where it takes these inputs."""
    inputs = by_name(inputs)
    context.check_device(compile_options['device'])
    yield NeedDevice()
    artifact = yield from prepare(context, model, compile_options)
    check_inputs(artifact, inputs)
    return artifact


def _fill_run(spec: Any, artifact: Artifact, inputs: Optional[Inputs], device: str, seed: int, threads: int) -> List[Blob]:
    """Fills a RunSpec; gives the blobs that it names."""
    spec.manifest.CopyFrom(artifact.digest.to_proto())
    spec.device, spec.seed, spec.threads, spec.name = device, seed, threads, artifact.name[:255]
    protos, blobs = _arrays.inputs_to_protos(by_name(inputs))
    spec.inputs.extend(protos)
    return blobs


def run(context: Context, model: AnyModel, inputs: Optional[Inputs] = None, *, device: str = '', threads: int = 1,
        seed: int = 0, target: str = '', dimensions: Optional[Mapping[str, Extent]] = None, precision: str = 'f32',
        example: Optional[Tuple[Any, ...]] = None, priority: int = 0, tags: Optional[Mapping[str, str]] = None,
        deadline: Optional[float] = None, progress: Optional[bool] = None) -> Work[RunResult]:
    """Runs a model or artifact once, for these inputs: NumPy arrays by name, or what NumPy makes arrays of. Inputs that are
    left out are random, from `seed`. A model is compiled first, as `compile` does, for the device.

    `device` is an id, or a selector for any that matches; none: any that can. INVALID_ARGUMENT: an input's name, type or
    shape is wrong, and which is expected. NOT_FOUND: no such device."""
    context = context.with_progress(progress)
    artifact = yield from _ready(context, model, inputs, {
        'target': target, 'device': device, 'dimensions': dimensions, 'precision': precision, 'example': example,
        'priority': priority, 'tags': tags})
    request = _proto.CreateRunRequest()
    blobs = _fill_run(request.spec, artifact, inputs, device, seed, threads)
    job = yield from context.submit('RunService', 'CreateRun', request, blobs, priority=priority, tags=tags,
                                    deadline=deadline)
    done = yield from context.result(job, f'run {artifact.name}')
    outputs: List[Tuple[str, Array]] = []
    for proto in done.run_result.outputs:
        received = ReceivedTensor.from_proto(proto)
        data = received.data
        if received.blob is not None:
            data = yield from _blobs.fetch_bytes(received.blob, context.policy, _MOST_OUTPUT_BYTES)
        outputs.append((received.name, _arrays.to_array(received.type, data or b'', f'output "{received.name}"')))
    return RunResult(_arrays.join_strings(outputs), Timings.from_proto(done.run_result.timings), done.run_result.device, job,
                         done.run_result.clock_resolution_ns)


def bench(context: Context, model: AnyModel, inputs: Optional[Inputs] = None, *, device: str = '', threads: int = 1,
          samples: Optional[int] = None, warmup: int = 10, profile: bool = False, precision_goal: float = 0, seed: int = 0,
          scenario: Union[None, str, Scenario] = None,
          target: str = '', dimensions: Optional[Mapping[str, Extent]] = None, precision: str = 'f32',
          example: Optional[Tuple[Any, ...]] = None, cool_down: Optional[float] = None, settle: bool = False,
          priority: int = 0, tags: Optional[Mapping[str, str]] = None, deadline: Optional[float] = None,
          progress: Optional[bool] = None) -> Work[Benchmark]:
    """Measures a model or artifact on a device that it has for itself meanwhile; the rest is as in `run`.

    `samples` are kept, 100 unless it is said, after `warmup` more. `scenario` says how calls come: "multi-stream", "offline", or a
    slipway.Scenario such as Scenario("server", qps=200, latency_bound=0.02); samples are then those of queries. With `precision_goal`, a share such as 0.01, samples are taken until the median
    is known to it. `profile` times every step. `cool_down` waits, a minute at most, until the device is no hotter than so many
    degrees Celsius, `settle` until its frequency and temperature hold still."""
    context = context.with_progress(progress)
    artifact = yield from _ready(context, model, inputs, {
        'target': target, 'device': device, 'dimensions': dimensions, 'precision': precision, 'example': example,
        'priority': priority, 'tags': tags})
    request = _proto.CreateBenchmarkRequest()
    spec = request.spec
    blobs = _fill_run(spec.run, artifact, inputs, device, seed, threads)
    if isinstance(scenario, str):
        scenario = Scenario(scenario)
    if scenario is not None:
        spec.scenario.CopyFrom(scenario.to_proto())
    if samples is None:
        samples = Scenario('single-stream').default_samples if scenario is None else scenario.default_samples
    spec.samples, spec.warmup, spec.profile = samples, warmup, profile
    spec.precision_goal_ppm = math.ceil(precision_goal * 1e6)
    if cool_down is not None or settle:
        spec.settling.cool_down_millicelsius = int((cool_down or 0) * 1000)
        spec.settling.until_steady = settle
    job = yield from context.submit('RunService', 'CreateBenchmark', request, blobs, priority=priority, tags=tags,
                                    deadline=deadline)
    done = yield from context.result(job, f'benchmark {artifact.name}')
    return Benchmark.from_proto(done.benchmark_result, job, artifact.name)


def devices(context: Context, selector: str = '', *, available: bool = False) -> Work[Listing[Device]]:
    """Devices, by id: all, or those that match an id or a selector, such as 'arch=arm-64 label:lab=berlin'; `available`: those
    alone that could be given work. An empty list says why in `explanation`."""
    context.check_device(selector)
    yield NeedDevice()
    request = _proto.ListDevicesRequest(selector=selector, available=available)
    response = yield from context.call('FleetService', 'ListDevices', request)
    return Listing([Device.from_proto(each) for each in response.devices], response.explanation)


def _ns(time: Optional[datetime.datetime]) -> int:
    return 0 if time is None else int(time.timestamp() * 1e9)


def jobs(context: Context, *, limit: int = 100, states: Sequence[str] = (), kinds: Sequence[str] = (),
         device: str = '', tags: Optional[Mapping[str, str]] = None, subject: str = '',
         since: Optional[datetime.datetime] = None, of_everybody: bool = False, owner: str = '') -> Work[Listing[Job]]:
    """Jobs, newest first: one's own, or with `of_everybody` those of all, for administrators. `states` and `kinds` are words as
    Job has them; what is left out filters nothing."""
    request = _proto.ListJobsRequest(device=device, subject=subject, since_ns=_ns(since), of_everybody=of_everybody,
                                     owner=owner)
    for field, names in (('states', states), ('kinds', kinds)):
        enum = _proto.Job.State if field == 'states' else _proto.Job.Kind
        for name in names:
            if name.upper() not in enum.keys():
                raise errors.InvalidArgument(f'"{name}" is none of '
                                             + ', '.join(each.lower() for each in enum.keys()[1:]))
            getattr(request, field).append(enum.Value(name.upper()))
    request.tags.extend(_proto.Tag(key=key, value=value) for key, value in sorted((tags or {}).items()))
    found = yield from context.pages('JobService', 'ListJobs', request, limit,
                                     lambda response: [Job.from_proto(each) for each in response.jobs])
    return Listing(found)


def job(context: Context, job_id: str) -> Work[Job]:
    """One job."""
    proto = yield from context.call('JobService', 'GetJob', _proto.GetJobRequest(id=job_id))
    return Job.from_proto(proto)


def wait(context: Context, job_id: str, *, progress: Optional[bool] = None) -> Work[Job]:
    """A job once it has ended, in whatever way. Ctrl-C cancels it."""
    proto = yield from context.with_progress(progress).wait(job_id, f'job {job_id}')
    return Job.from_proto(proto)


def cancel(context: Context, job_id: str) -> Work[Job]:
    """Ends a job, in whatever state it is."""
    proto = yield from context.call('JobService', 'CancelJob', _proto.CancelJobRequest(id=job_id))
    return Job.from_proto(proto)


def history(context: Context, model: str = '', *, device: str = '', target: str = '',
            tags: Optional[Mapping[str, str]] = None, threads: int = 0, artifact: str = '', limit: int = 100,
            since: Optional[datetime.datetime] = None, until: Optional[datetime.datetime] = None, owner: str = '',
            of_everybody: bool = False, with_samples: bool = False) -> Work[Listing[HistoryEntry]]:
    """Benchmarks that have succeeded, newest first, as the server keeps them beyond their jobs. `model` is the name of the file
    that was measured; what is left out filters nothing."""
    request = _proto.ListHistoryRequest(model=model, device=device, target=target, threads=threads, artifact=artifact,
                                        since_ns=_ns(since), until_ns=_ns(until), owner=owner,
                                        of_everybody=of_everybody, with_samples=with_samples)
    request.tags.extend(_proto.Tag(key=key, value=value) for key, value in sorted((tags or {}).items()))
    found = yield from context.pages('HistoryService', 'ListHistory', request, limit,
                                     lambda response: [HistoryEntry.from_proto(each) for each in response.entries])
    return Listing(found)


def baseline(context: Context, model: AnyModel, tags: Mapping[str, str], device: str = '') -> Work[Artifact]:
    """The artifact of the newest result of the history with these tags, of a model of this name."""
    name = _name_of(model)
    found = yield from history(context, name, tags=tags, device=device, limit=1)
    if not found:
        shown = ' '.join(f'{key}={value}' for key, value in tags.items())
        raise errors.NotFound(f'the history has no result of "{name}" with {shown}: measure one, with '
                              f'slipway.bench(..., tags={dict(tags)})')
    return (yield from describe(context, found[0].artifact, f'{name}, {found[0].id}'))


def info(context: Context) -> Work[ServerInfo]:
    """What the server is, as it said when it was connected to."""
    return context.info
    yield  # A generator all the same.
