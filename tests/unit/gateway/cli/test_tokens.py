"""The expiry of a token is a whole time with its zone: what could be read in two ways is refused at once."""

from pathlib import Path

import pytest

from gateway.cli.answers import CommandFailed, ExitCode
from gateway.cli.tokens import create_token


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-31T08:00:00",
        "2027-01-31",
        "20270131T080000Z",
        "2027-W05-7T08:00:00Z",
        "2027-01-31 08:00:00Z",
        "2027-01-31T08:00:00.1234567Z",
        "2027-01-31T08:00:00z",
        "2027-02-30T08:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "tomorrow",
        "",
    ],
)
def test_a_sloppy_time_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="--expires-at must be a time with its zone") as caught:
        create_token("harbour", "ada", ["memory.read"], expires_at=text, data_dir=tmp_path / "none")
    assert ExitCode.USAGE is caught.value.code
    assert not (tmp_path / "none").exists()
