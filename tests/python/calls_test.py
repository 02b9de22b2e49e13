"""What the client asks for, without a server: effects are answered by hand."""

import hashlib

import pytest

from slipway import _blobs, _calls, _context, _progress, _proto, errors
from slipway._blobs import BytesBlob, Digest
from slipway._calls import Pause, ReadStream, RetryPolicy, Unary, WriteStream
from slipway._results import ServerInfo


class Clock:
    """A clock that goes on where something pauses."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Server:
    """Answers effects: `answers` by the name of the method, each a function of the effect; what came is in `effects`."""

    def __init__(self, clock, **answers):
        self.clock = clock
        self.answers = answers
        self.effects = []

    def run(self, work):
        throw = came = None
        try:
            while True:
                effect = work.throw(throw) if throw is not None else work.send(came)
                throw = came = None
                self.effects.append(effect)
                if isinstance(effect, Pause):
                    self.clock.now += effect.seconds
                    continue
                try:
                    came = self.answers[effect.method.path.rpartition('/')[2]](effect)
                except BaseException as error:  # pylint: disable=broad-except
                    throw = error
        except StopIteration as end:
            return end.value

    def names(self):
        return [effect.method.path.rpartition('/')[2] for effect in self.effects if not isinstance(effect, Pause)]


def policy(clock, **options):
    return RetryPolicy(clock=clock, **options)


def context(clock, **options):
    info = ServerInfo('0.1.0', (), 1 << 30, 1 << 30, True)
    return _context.Context('server:1', policy(clock, **options), info, _progress.Silent())


def away(_):
    raise errors.Unavailable('away')


def test_a_server_that_is_away_is_asked_until_the_time_is_over():
    clock, told = Clock(), []
    server = Server(clock, GetJob=away)
    with pytest.raises(errors.Unavailable):
        server.run(policy(clock, retry_for=30, on_waiting=told.append).call('JobService', 'GetJob', _proto.GetJobRequest()))
    assert 20 < clock.now <= 30
    assert len(told) == 1
    pauses = [effect.seconds for effect in server.effects if isinstance(effect, Pause)]
    assert 0.0375 <= pauses[0] <= 0.0625 and 3.75 <= max(pauses) <= 6.25


def test_what_is_refused_is_not_asked_again():
    clock = Clock()

    def refuse(_):
        raise errors.NotFound('no such job')

    server = Server(clock, GetJob=refuse)
    with pytest.raises(errors.NotFound):
        server.run(policy(clock).call('JobService', 'GetJob', _proto.GetJobRequest()))
    assert len(server.effects) == 1


def test_repeated_creates_have_one_request_id():
    clock = Clock()
    tries = []

    def create(effect):
        tries.append((effect.request.request_id, effect.request_id))
        if len(tries) < 3:
            raise errors.Unavailable('away')
        return _proto.CreateJobResponse(job_id='J')

    server = Server(clock, CreateRun=create)
    work = context(clock).submit('RunService', 'CreateRun', _proto.CreateRunRequest(), [], priority=3, tags={'b': '1', 'a': '2'},
                                 deadline=1.5)
    assert server.run(work) == 'J'
    assert len(tries) == 3 and len(set(tries)) == 1 and tries[0][0] == tries[0][1] != ''
    request = server.effects[0].request
    assert [tag.key for tag in request.tags] == ['a', 'b']
    assert (request.priority, request.total_deadline_ns) == (3, 1_500_000_000)


def test_blobs_that_were_evicted_in_between_are_sent_again():
    clock = Clock()
    creates = []

    def create(_):
        creates.append(0)
        if len(creates) == 1:
            raise errors.FailedPrecondition('a blob is missing')
        return _proto.CreateJobResponse(job_id='J')

    server = Server(clock, CreateRun=create, QueryWrite=lambda _: _proto.QueryWriteResponse(),
                    Write=lambda effect: [list(effect.requests())])
    work = context(clock).submit('RunService', 'CreateRun', _proto.CreateRunRequest(), [BytesBlob(b'x')], priority=0,
                                 tags=None, deadline=None)
    assert server.run(work) == 'J'
    assert server.names() == ['QueryWrite', 'Write', 'CreateRun', 'QueryWrite', 'Write', 'CreateRun']


@pytest.mark.parametrize('interrupt', _calls.INTERRUPTS)
def test_an_interrupt_cancels_a_job_that_may_have_been_accepted(interrupt):
    clock = Clock()
    ids = []

    def create(effect):
        ids.append(effect.request_id)
        if len(ids) == 1:
            raise interrupt()
        return _proto.CreateJobResponse(job_id='J')

    server = Server(clock, CreateRun=create, CancelJob=lambda _: _proto.Job())
    work = context(clock).submit('RunService', 'CreateRun', _proto.CreateRunRequest(), [], priority=0, tags=None,
                                 deadline=None)
    with pytest.raises(interrupt):
        server.run(work)
    assert server.names() == ['CreateRun', 'CreateRun', 'CancelJob'] and ids[0] == ids[1]
    assert server.effects[-1].request.id == 'J'


def test_waiting_goes_on_at_the_last_revision():
    clock = Clock()
    revisions = []

    def watch(effect):
        revisions.append(effect.request.after_revision)
        if len(revisions) == 1:
            effect.take(_proto.Job(id='J', revision=7, state=3))
            raise errors.Unavailable('broke')
        effect.take(_proto.Job(id='J', revision=9, state=4))

    server = Server(clock, WatchJob=watch)
    assert server.run(context(clock).wait('J', 'job')).revision == 9
    assert revisions == [0, 7]


def test_an_interrupt_while_waiting_cancels_the_job():
    clock = Clock()

    def watch(_):
        raise KeyboardInterrupt

    server = Server(clock, WatchJob=watch, CancelJob=lambda _: _proto.Job())
    with pytest.raises(KeyboardInterrupt):
        server.run(context(clock).wait('J', 'job'))
    assert server.names() == ['WatchJob', 'CancelJob']


def test_a_server_that_tells_nothing_is_an_error():
    clock = Clock()
    with pytest.raises(errors.Internal, match='stopped telling'):
        Server(clock, WatchJob=lambda _: None).run(context(clock).wait('J', 'job'))


def test_a_job_that_failed_is_its_error():
    clock = Clock()

    def watch(effect):
        job = _proto.Job(id='J', revision=1, state=5)
        job.error.code, job.error.message, job.error.log_tail = 3, 'no model', 'the log'
        effect.take(job)

    with pytest.raises(errors.InvalidArgument, match='compile x: no model') as raised:
        Server(clock, WatchJob=watch).run(context(clock).result('J', 'compile x'))
    assert raised.value.log == 'the log' and str(raised.value).endswith('\nthe log')
    assert raised.value.code == 'INVALID_ARGUMENT'


def test_a_transfer_goes_on_where_it_broke():
    clock = Clock()
    data = bytes(range(256)) * (5 << 12)  # 5 MiB
    held, sent = [0], []

    def write(effect):
        offsets = []
        for request in effect.requests():
            offsets.append(request.offset)
            sent.append(len(request.data))
            held[0] = request.offset + len(request.data)
            if len(sent) == 3:
                raise errors.Unavailable('broke')
        assert effect.deadline >= 60
        return _proto.WriteResponse(committed_bytes=held[0])

    server = Server(clock, QueryWrite=lambda _: _proto.QueryWriteResponse(committed_bytes=held[0]), Write=write)
    moved = []
    server.run(_blobs.send([BytesBlob(data)], policy(clock), lambda _, at: moved.append(at)))
    assert sent == [1 << 20] * 5 and held[0] == len(data) and moved[-1] == len(data)


def test_what_a_server_forgot_is_sent_from_the_start():
    clock = Clock()
    begins = []

    def write(effect):
        first = next(effect.requests())
        begins.append(first.offset)
        if first.offset > 0:
            raise errors.OutOfRange('not there')
        return _proto.WriteResponse()

    blob = BytesBlob(bytes(3 << 20))
    Server(clock, QueryWrite=lambda _: _proto.QueryWriteResponse(committed_bytes=1 << 20), Write=write).run(
        _blobs.send([blob], policy(clock)))
    assert begins == [1 << 20, 0]


def test_only_what_is_missing_is_sent():
    clock = Clock()
    blobs = [BytesBlob(text) for text in (b'one', b'two', b'three')]
    server = Server(clock, FindMissing=lambda _: _proto.FindMissingResponse(missing=[blobs[1].digest.to_proto()]),
                    QueryWrite=lambda _: _proto.QueryWriteResponse(),
                    Write=lambda effect: [bytes(request.data) for request in effect.requests()])
    server.run(_blobs.send(blobs, policy(clock)))
    assert server.names() == ['FindMissing', 'QueryWrite', 'Write']
    assert b''.join(request.data for request in server.effects[-1].requests()) == b'two'


def test_a_server_that_misses_what_it_was_not_asked_for_is_an_error():
    clock = Clock()
    other = Digest.of(b'other').to_proto()
    server = Server(clock, FindMissing=lambda _: _proto.FindMissingResponse(missing=[other]))
    with pytest.raises(errors.Internal):
        server.run(_blobs.send([BytesBlob(b'a'), BytesBlob(b'b')], policy(clock)))


def test_fetching_goes_on_where_it_broke_and_is_checked():
    clock = Clock()
    data = b'0123456789'
    offsets = []

    def read(effect):
        offsets.append(effect.request.offset)
        effect.take(_proto.ReadResponse(data=data[effect.request.offset:effect.request.offset + 6]))
        if len(offsets) == 1:
            raise errors.Unavailable('broke')

    assert Server(clock, Read=read).run(_blobs.fetch_bytes(Digest.of(data), policy(clock), 100)) == data
    assert offsets == [0, 6]
    wrong = Digest(hashlib.sha256(b'other').hexdigest(), len(data))
    offsets.clear()
    with pytest.raises(errors.DataLoss):
        Server(clock, Read=read).run(_blobs.fetch_bytes(wrong, policy(clock), 100))
    with pytest.raises(errors.DataLoss, match='more bytes'):
        Server(clock, Read=read).run(_blobs.fetch_bytes(Digest(wrong.sha256, 3), policy(clock), 100))
    with pytest.raises(errors.ResourceExhausted):
        Server(clock).run(_blobs.fetch_bytes(Digest(wrong.sha256, 1 << 40), policy(clock), 100))


def test_pages_in_circles_are_an_error():
    clock = Clock()
    same = _proto.ListJobsResponse(next_page_token='again')
    with pytest.raises(errors.Internal, match='same page'):
        Server(clock, ListJobs=lambda _: same).run(
            context(clock).pages('JobService', 'ListJobs', _proto.ListJobsRequest(), 5, lambda response: response.jobs))


def test_a_server_of_another_protocol_is_told_apart():
    clock = Clock()
    for low, high in ((2, 3), (0, 0)):
        answer = _proto.ServerInfo(version='9', min_protocol=low, max_protocol=high)
        with pytest.raises(errors.FailedPrecondition, match='update the older one'):
            Server(clock, GetServerInfo=lambda _, answer=answer: answer).run(_context.greet('a:1', 5))


def test_every_code_has_its_class():
    for number in range(1, 17):
        assert errors.of(number, 'x').number == number
    assert type(errors.of(99, 'x')) is errors.SlipwayError  # pylint: disable=unidiomatic-typecheck
    assert isinstance(errors.of(3, 'x'), ValueError) and isinstance(errors.of(14, 'x'), ConnectionError)


def test_effects_are_what_the_drivers_know():
    assert {ReadStream, WriteStream, Unary, Pause} < set(_calls.Effect.__args__)


class Tqdm:
    """What the client asks of tqdm."""

    made = []

    def __init__(self, total=None, **options):
        self.total, self.n, self.options, self.said, self.is_closed = total, 0, options, [], False
        self.made.append(self)

    def set_description_str(self, text):
        self.said.append(text)

    def refresh(self):
        pass

    def update(self, count):
        self.n += count

    def close(self):
        self.is_closed = True


def test_bars_show_jobs_and_large_blobs():
    Tqdm.made = []
    bars = _progress.Bars(Tqdm)
    bars.job('compile x', _proto.Job(state=1, queue_position=3))
    bars.job('compile x', _proto.Job(state=3, progress={'stage': 'kernels', 'done': 2, 'total': 5}))
    assert Tqdm.made[0].said == ['compile x: queued, 2 ahead', 'compile x: kernels 2/5']
    small, large = Digest('0' * 64, 100), Digest('1' * 64, 32 << 20)
    bars.sent(small, 100)
    bars.sent(large, 1 << 20)
    bars.sent(large, 32 << 20)
    assert len(Tqdm.made) == 2 and Tqdm.made[1].n == large.size and Tqdm.made[1].is_closed
    bars.close()
    assert Tqdm.made[0].is_closed


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    monkeypatch.setattr('sys.stderr.isatty', lambda: False, raising=False)
    assert type(_progress.make(None)) is _progress.Silent  # pylint: disable=unidiomatic-typecheck
    assert type(_progress.make(False)) is _progress.Silent  # pylint: disable=unidiomatic-typecheck
    pytest.importorskip('tqdm')
    assert isinstance(_progress.make(True), _progress.Bars)
