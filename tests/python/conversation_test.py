"""A session from its client's side, against a device that is played by hand."""

import pytest

from slipway import _proto, _wire, errors
from slipway._conversation import Conversation, SessionOptions
from slipway._line import Batch, Liveness


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def opened(taken=0, **limits):
    news = _proto.SessionResponse()
    known = {'session': 'S', 'ticket': 'T', 'device': 'd', 'max_data_bytes': 1 << 20, 'max_requests': 4,
             'max_data_under_way_bytes': 3 << 20, 'taken': taken}
    for key, value in {**known, **limits}.items():
        setattr(news.opened, key, value)
    return news


def message(*responses):
    return _proto.SessionResponses(responses=responses).SerializeToString()


def answer(number, code=0, data=b'', **fields):
    return _proto.SessionResponse(id=number, code=code, data=data, **fields)


def begin(**limits):
    conversation = Conversation('server:1', SessionOptions(device='d'), Clock())
    assert not conversation.received(message(opened(**limits)))
    return conversation


def sent(conversation):
    """The message that goes out next."""
    parts = conversation.line.next_message()
    return None if parts is None else _proto.SessionRequests.FromString(b''.join(parts))


def batch_of(count, data=None, take=None):
    return Batch([_wire.Request(_wire.request(get_facts={}).body, data, take=take) for _ in range(count)])


def test_the_first_message_asks_and_later_ones_resume():
    conversation = Conversation('server:1', SessionOptions(device='d', wait=0, tags={'a': 'b'}), Clock())
    first = _proto.SessionRequests.FromString(conversation.first_message()).requests[0]
    assert first.open.device == 'd' and first.open.wait_ns == -1 and first.open.tags[0].key == 'a'
    again = _proto.SessionRequests.FromString(conversation.first_message()).requests[0]
    assert again.open.request_id == first.open.request_id != ''
    conversation.received(message(opened()))
    conversation.submit(batch_of(1))
    sent(conversation)
    conversation.received(message(answer(1)))
    resume = _proto.SessionRequests.FromString(conversation.first_message()).requests[0].resume
    assert (resume.session, resume.ticket, resume.received) == ('S', 'T', 1)


def test_requests_have_ids_in_their_order_and_keep_to_the_limits():
    conversation = begin()
    batch = batch_of(6)
    conversation.submit(batch)
    first = sent(conversation)
    assert [each.id for each in first.requests] == [1, 2, 3, 4]
    assert sent(conversation) is None
    assert conversation.received(message(answer(1), answer(2))) == []
    following = sent(conversation)
    assert following.acked == 2 and [each.id for each in following.requests] == [5, 6]
    assert conversation.received(message(*(answer(number) for number in (3, 4, 5, 6)))) == [batch]
    assert len(batch.check()) == 6
    assert sent(conversation).acked == 6


def test_data_comes_last_and_its_bytes_are_counted():
    conversation = begin()
    piece = memoryview(bytes(1 << 20))
    conversation.submit(batch_of(4, piece))
    for number in (1, 2, 3):
        one = sent(conversation)
        assert [each.id for each in one.requests] == [number] and len(one.requests[0].data) == 1 << 20
    assert sent(conversation) is None
    conversation.received(message(answer(1)))
    assert sent(conversation).requests[0].id == 4


def test_what_was_not_taken_is_sent_again_after_a_break():
    conversation = begin()
    batch = batch_of(4)
    conversation.submit(batch)
    sent(conversation)
    conversation.received(message(answer(1)))
    assert conversation.disconnected(errors.Unavailable('broke')) == [] and conversation.end is None
    assert sent(conversation) is None
    conversation.received(message(opened(taken=2)))
    assert [each.id for each in sent(conversation).requests] == [3, 4]
    assert conversation.received(message(answer(2), answer(3), answer(4))) == [batch]


def test_an_error_of_a_part_takes_back_what_is_not_sent():
    conversation = begin()
    batch, other = batch_of(6), batch_of(1)
    conversation.submit(batch)
    conversation.submit(other)
    sent(conversation)
    refused = _proto.SessionResponse(id=1, code=5, message='no such tensor', log_tail='log')
    conversation.received(message(refused, answer(2)))
    assert [each.id for each in sent(conversation).requests] == [5]
    assert conversation.received(message(answer(3), answer(4))) == [batch]
    with pytest.raises(errors.NotFound, match='no such tensor'):
        batch.check()
    assert conversation.received(message(answer(5))) == [other]


def test_what_is_cancelled_is_said_to_the_device():
    conversation = begin()
    batch = batch_of(2)
    conversation.submit(batch)
    sent(conversation)
    conversation.line.cancel(batch)
    cancels = sent(conversation).requests
    assert [each.cancel.request for each in cancels] == [1, 2]
    conversation.disconnected(errors.Unavailable('broke'))
    conversation.received(message(opened(taken=2)))
    assert [each.cancel.request for each in sent(conversation).requests] == [1, 2]


def test_frees_do_not_hurry():
    conversation = begin()
    conversation.line.dropped.extend([7, 8])
    assert sent(conversation) is None
    conversation.submit(batch_of(1))
    kinds = [each.WhichOneof('kind') for each in sent(conversation).requests]
    assert sorted(kinds) == ['free', 'get_facts']


def test_a_closed_session_ends_when_all_is_said():
    conversation = begin()
    batch = batch_of(1)
    conversation.submit(batch)
    conversation.close()
    assert [each.WhichOneof('kind') for each in sent(conversation).requests] == ['get_facts', 'close']
    with pytest.raises(errors.FailedPrecondition):
        conversation.submit(batch_of(1))
    conversation.received(message(answer(1)))
    conversation.disconnected(None)
    assert conversation.is_closed


@pytest.mark.parametrize('hostile', [
    message(answer(1)), message(answer(2)), message(answer(0), opened()), message(opened(session='other')), b'\xff\xff',
    message(_proto.SessionResponse(waiting={'session': 'S'}))])
def test_a_device_that_breaks_the_protocol_ends_the_session(hostile):
    conversation = begin()
    conversation.received(hostile)
    assert isinstance(conversation.end, errors.Internal)


@pytest.mark.parametrize('limits', [{'max_requests': 0}, {'max_data_bytes': 0}, {'max_data_under_way_bytes': 0}, {'session': ''}])
def test_limits_that_allow_nothing_end_it(limits):
    assert isinstance(begin(**limits).end, errors.Internal)


@pytest.mark.parametrize('taken', [0, 9])
def test_a_device_cannot_have_taken_what_was_answered_or_not_sent(taken):
    conversation = begin()
    conversation.submit(batch_of(2))
    sent(conversation)
    conversation.received(message(answer(1)))
    conversation.disconnected(errors.Unavailable('broke'))
    conversation.received(message(opened(taken=taken)))
    assert isinstance(conversation.end, errors.Internal)


def test_what_waits_ends_with_the_session():
    conversation = begin()
    batch = batch_of(6)
    conversation.submit(batch)
    sent(conversation)
    ended = _proto.SessionResponse(code=14, message='the agent leaves')
    ended.ended.SetInParent()
    assert conversation.received(message(ended)) == [batch]
    with pytest.raises(errors.Unavailable, match='the agent leaves'):
        batch.check()


def test_large_answers_are_read_without_a_copy():
    data = bytes(range(256)) * 4096
    taken = []
    conversation = begin()
    conversation.submit(batch_of(2, take=lambda each: taken.append(bytes(each.data))))
    sent(conversation)
    conversation.received(message(answer(1, called={'duration_ns': 5}), answer(2, data=data)))
    assert taken == [b'', data]
    for size in range(0, len(data), 50_000):
        broken = begin()
        broken.submit(batch_of(1))
        sent(broken)
        broken.received(message(answer(1, data=data))[:-1 - size])
        assert isinstance(broken.end, errors.Internal)


def test_liveness():
    liveness = Liveness(1, 3, 0)
    seen = [(time, liveness.at(time)) for time in (0.5, 1, 1.5, 2, 2.5, 3, 3.5)]
    assert [time for time, action in seen if action == 'beat'] == [1, 2, 3.5] and (3, 'ask') in seen
    assert not liveness.has_heard
    liveness.heard(4)
    assert liveness.has_heard and liveness.silent_for(5) == 1
    stopped = Liveness(1, 3, 0)
    stopped.at(1)
    # Who was stopped himself blames nobody.
    assert stopped.at(10) != 'ask'
