"""Standard output that keeps all that is written to it."""

import io
import sys


def write_whole_output() -> None:
    """Put a buffer before standard output where it has none, as PYTHONUNBUFFERED has it, which containers often set.

    Without one a write that a signal interrupts, or that a pipe takes in part, loses its rest without a word.
    """
    unbuffered = getattr(sys.stdout, "buffer", None)
    if isinstance(unbuffered, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(unbuffered),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=True,
        )
