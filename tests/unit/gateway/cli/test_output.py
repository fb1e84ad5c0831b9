"""Nothing of an answer is lost, however little of it the other end takes at a time."""

import io
import sys

import pytest

from gateway.cli.answers import show_json
from gateway.cli.output import write_whole_output


class Pipe(io.RawIOBase):
    """Takes a few bytes of each write, as a pipe does when a signal comes."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, data: object, /) -> int:
        """Take the first bytes."""
        assert isinstance(data, bytes | bytearray | memoryview)
        part = bytes(data)[:1_000]
        self.taken += part
        return len(part)


def test_an_answer_is_written_whole_without_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = Pipe()
    # As the interpreter makes it for PYTHONUNBUFFERED.
    stdout = io.TextIOWrapper(pipe, encoding="utf-8", write_through=True)  # type: ignore[type-var] # it takes raw ones
    monkeypatch.setattr(sys, "stdout", stdout)
    write_whole_output()
    show_json(["x" * 100_000])
    sys.stdout.flush()
    assert f'[\n  "{"x" * 100_000}"\n]\n'.encode() == pipe.taken


def test_output_that_has_a_buffer_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stdout)
    write_whole_output()
    assert stdout is sys.stdout
