"""Errors: a server's or device's line, and the code that says of what kind it is.

Every error is a SlipwayError of one of the classes below, which bear the names of gRPC's codes:

    try:
        slipway.run('net.onnx', {'x': x})
    except slipway.errors.NotFound as error:
        print(error)            # NOT_FOUND: no device matches ...
        print(error.message)    # no device matches ...
"""

from __future__ import annotations

from typing import Dict, Type


class SlipwayError(Exception):
    """What went wrong, with whom, and what to do."""

    code = 'UNKNOWN'
    number = 2

    def __init__(self, message: str, log: str = '') -> None:
        super().__init__(message)
        self.message = message
        # The end of the log of the process that worked, where one died.
        self.log = log

    def __str__(self) -> str:
        return f'{self.code}: {self.message}' + (f'\n{self.log.rstrip()}' if self.log else '')

    def within(self, context: str) -> 'SlipwayError':
        """The same error, told by who was doing what."""
        return type(self)(f'{context}: {self.message}', self.log)


class Cancelled(SlipwayError):
    """Somebody ended it, who is named."""

    code, number = 'CANCELLED', 1


class InvalidArgument(SlipwayError, ValueError):
    """What was given is wrong, whatever the state of server and device."""

    code, number = 'INVALID_ARGUMENT', 3


class DeadlineExceeded(SlipwayError, TimeoutError):
    """It was not done in time."""

    code, number = 'DEADLINE_EXCEEDED', 4


class NotFound(SlipwayError, LookupError):
    """No such job, device, file or artifact."""

    code, number = 'NOT_FOUND', 5


class AlreadyExists(SlipwayError):
    """It is there, and is something else."""

    code, number = 'ALREADY_EXISTS', 6


class PermissionDenied(SlipwayError):
    """It is not for this caller."""

    code, number = 'PERMISSION_DENIED', 7


class ResourceExhausted(SlipwayError):
    """It is too large, or too much."""

    code, number = 'RESOURCE_EXHAUSTED', 8


class FailedPrecondition(SlipwayError):
    """Something must be done before."""

    code, number = 'FAILED_PRECONDITION', 9


class Aborted(SlipwayError):
    """Another took it over, or the process that worked died."""

    code, number = 'ABORTED', 10


class OutOfRange(SlipwayError):
    """It does not lie inside."""

    code, number = 'OUT_OF_RANGE', 11


class Unimplemented(SlipwayError, NotImplementedError):
    """An operator, a target or a call that is not there."""

    code, number = 'UNIMPLEMENTED', 12


class Internal(SlipwayError):
    """A bug of Slipway's."""

    code, number = 'INTERNAL', 13


class Unavailable(SlipwayError, ConnectionError):
    """Server or device cannot be reached."""

    code, number = 'UNAVAILABLE', 14


class DataLoss(SlipwayError):
    """What was kept, or came, is damaged."""

    code, number = 'DATA_LOSS', 15


class Unauthenticated(SlipwayError):
    """Who calls has not proved who he is, or the proof has expired."""

    code, number = 'UNAUTHENTICATED', 16


_BY_NUMBER: Dict[int, Type[SlipwayError]] = {each.number: each for each in SlipwayError.__subclasses__()}


def of(number: int, message: str, log: str = '') -> SlipwayError:
    """The error of a code's number (google.rpc.Code)."""
    return _BY_NUMBER.get(number, SlipwayError)(message, log)
