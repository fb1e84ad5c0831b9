"""What an operator is told of what can't be taken: the name of the option, what it must be, and no library's words."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from gateway.cli.answers import ExitCode, failure_of_command
from gateway.cli.application import program
from gateway.cli.doctor import examine
from gateway.cli.refusals import refusal_of
from gateway.database import StartRefused, make_data_directory
from gateway.service.errors import MalformedRequest
from gateway.service.keys import KeyFileError, new_key, write_key_file
from gateway.settings import load_settings
from store.domain.keyring import Keyring

LIBRARY_WORDS = re.compile(r"Value error|Input should|unable to parse|Traceback|pydantic|\[type=", re.IGNORECASE)
WHOSE = ("--tenant", "acme", "--principal", "ada")
MEANT = (*WHOSE, "--ceiling", "public")


def refusal(*words: str) -> str:
    """What is told of a command that is refused before anything is asked of a store."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 (whichever it is, an operator is told its sentence)
        program(list(words), standalone_mode=False)
    error = raised.value
    if isinstance(error, typer.BadParameter):
        return error.format_message()
    code, message = failure_of_command(error)
    assert ExitCode.USAGE is code
    return message


def options() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every option and argument of every command, with the words of the command."""

    def walk(group: Any, *before: str) -> Iterator[tuple[tuple[str, ...], Any]]:  # Any: the library's own class
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from walk(command, *before, name)
            else:
                yield from (((*before, name), parameter) for parameter in command.params)

    yield from walk(typer.main.get_command(program))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("memory", "list", *MEANT, "--limit", "many"), "Invalid value for '--limit': must be a whole number"),
        (("serve", "--port", "http"), "Invalid value for '--port': must be a whole number"),
        (("memory", "list", *WHOSE, "--ceiling", "secret"), "Invalid value for '--ceiling': 'secret' is not one of"),
        (("memory", "list", *MEANT, "--status", "new"), "Invalid value for '--status': 'new' is not one of"),
        (("journal", "--kind", "act"), "Invalid value for '--kind': 'act' is not one of 'memory.formed'"),
        (("import", "x", "--format", "xml"), "Invalid value for '--format': 'xml' is not one of 'jsonl', 'locomo'."),
        (("token", "create", *WHOSE), "Missing option '--scope'."),
        (("token", "list", "--data-dir", ""), "Invalid value for '--data-dir': must not be empty"),
        (("serve", "--documents", ""), "Invalid value for '--documents': must not be empty"),
        (("upgrade", "--old-binaries", ""), "Invalid value for '--old-binaries': must not be empty"),
        (("import", ""), "Invalid value for 'FILE': must not be empty"),
        (("export", ""), "Invalid value for 'FILE': must not be empty"),
        (("backup", ""), "Invalid value for 'FILE': must not be empty"),
        (("restore", ""), "Invalid value for 'FILE': must not be empty"),
        (("key", "backup", ""), "Invalid value for 'FILE': must not be empty"),
        (("serve", "--port", "65536"), "--port: must be a whole number from 0 to 65535"),
        (("serve", "--bind", "example.org"), "--bind: must be an IP address or localhost"),
        (("token", "list", "--database-url", ""), "--database-url: must begin with postgresql://"),
        (("settings", "--data-dir", "~nobody-of-that-name/x"), "--data-dir: must not name the home directory of"),
        (("token", "create", *WHOSE, "--scope", "memory.read", "--expires-at", "tomorrow"), "--expires-at must be a"),
        (("journal", "--since", "2027-01-31"), "--since must be a time with its zone"),
        (("principal", "erase", *WHOSE), "nothing was erased: say --yes"),
        (("export", "--principal", "ada"), "--principal needs --tenant"),
        (("export", "--tenant", "", "--principal", "ada"), "--tenant must have 1 to 256 characters"),
        (("journal", "--tenant", "\udcff"), "Invalid value for '--tenant': must be UTF-8"),
        (("token", "list", "--principal", "\udcff"), "Invalid value for '--principal': must be UTF-8"),
        (("export", "--tenant", "\udcff"), "Invalid value for '--tenant': must be UTF-8"),
        (("derive", "--tenant", "acme"), "say either --principal or --all"),
        (("derive", *WHOSE, "--all"), "say either --principal or --all"),
        (("derive", "--tenant", "acme", "--all", "--file", "x"), "--file needs --principal"),
        (("derive", *WHOSE, "--file", ""), "Invalid value for '--file': must not be empty"),
        (("derive", *WHOSE, "--file", "/nowhere"), "/nowhere can't be read"),
        (("derive", "--tenant", "", "--principal", "ada"), "--tenant must have 1 to 256 characters"),
        (("import", "/nowhere", "--derive"), "--derive needs --format locomo"),
        (("upgrade",), "say either --old-binaries or --confirm"),
    ],
)
def test_what_is_refused_is_named_and_told_in_our_words(words: tuple[str, ...], told: str) -> None:
    message = refusal(*words)
    assert message.startswith(told)
    assert not LIBRARY_WORDS.search(message)


@pytest.mark.parametrize(
    ("parameter", "option"),
    [("expires_at", "--expires-at"), ("first", "--limit"), ("after", "--cursor"), ("idempotency_key", "--key")],
)
def test_a_parameter_of_a_service_is_told_by_the_name_of_its_option(parameter: str, option: str) -> None:
    assert (ExitCode.USAGE, f"{option} is wrong") == failure_of_command(MalformedRequest(parameter, "is wrong"))
    assert option in {name for _, each in options() for name in each.opts}


def test_every_option_by_which_a_service_is_asked_has_its_own_name() -> None:
    """An option whose name differs from the parameter in more than dashes would be told by a name nobody typed."""
    names = {name for _, each in options() for name in each.opts if name.startswith("--")}
    for parameter in ("tenant", "principal", "label", "scopes", "limit", "subject", "session_id", "text", "statuses"):
        assert refusal_of(MalformedRequest(parameter, "")).strip() in names


async def test_a_file_in_the_place_of_the_data_directory_is_called_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for directory in (file, file / "within"):
        [finding, *_] = await examine(load_settings(data_dir=directory))
        assert ("data directory", False, f"{file} is not a directory") == (finding.check, finding.ok, finding.remark)
    with pytest.raises(StartRefused, match=f"^The data directory {file} is not a directory.$"):
        make_data_directory(file)
    key = new_key()
    with pytest.raises(KeyFileError, match=f"can't be written in {file}: it is not a directory.$"):
        write_key_file(file / "key", Keyring(current=key, keys=(key,)), replacing=False)
