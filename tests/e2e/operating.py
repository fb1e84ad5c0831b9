"""Every command that is an operator's act, run one after the other in one process: its start would cost more than it.

Run as a program with a data directory and a directory for files; answers the commands in their order, and the journal.
"""

import asyncio
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import asyncpg

from gateway.cli.application import program
from store.postgres.embedded.server import EmbeddedServer
from tests.e2e.test_backups import OWNER, candidate

WHOSE = OWNER[:4]


class Operator:
    """Runs commands on a data directory, and remembers which."""

    def __init__(self, data: Path, files: Path) -> None:
        self.data = data
        self.files = files
        self.commands: list[str] = []

    def run(self, command: str, *arguments: str | Path) -> str:
        """What a command writes to standard output; it must succeed."""
        self.commands.append(command)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            words = [*command.split(), *map(str, arguments), "--data-dir", str(self.data)]
            program(words, standalone_mode=False)
        return output.getvalue()

    def answer(self, command: str, *arguments: str | Path) -> Any:  # Any: JSON
        """The JSON that a command answers."""
        return json.loads(self.run(command, *arguments, "--json"))


async def make_words_old(socket: Path) -> None:
    """Let the store say that its words are of another version."""
    connection = await asyncpg.connect(host=str(socket), user="postgres", database="beliefs")
    await connection.execute("update store_facts set value = '0/9.9.9' where name = 'lexical_version'")
    await connection.close()


def act(operator: Operator, socket: Path) -> None:
    """Run every act upon a store that somebody runs, in an order in which each succeeds."""
    lines = operator.files / "lines.jsonl"
    lines.write_text(f"{candidate('Keeps bees')}\n{candidate('Sails')}\n")
    operator.run("migrate")
    operator.run("import", lines)
    first, second = (item["id"] for item in operator.answer("memory list", *OWNER)["items"])
    operator.run("memory get", first, *OWNER)
    operator.run("memory review", first, *OWNER, "--outcome", "untrue", "--key", "one")
    operator.run("memory delete", second, *OWNER, "--key", "two")
    token = operator.answer("token create", *WHOSE, "--scope", "memory.read")
    operator.run("token list")
    operator.run("token revoke", token["id"])
    operator.run("derive", *WHOSE)
    operator.run("export", operator.files / "export.jsonl")
    operator.run("sweep")
    operator.run("key rotate")
    operator.run("key activate")
    operator.run("key backup", operator.files / "key")
    asyncio.run(make_words_old(socket))
    operator.run("reindex")
    operator.run("compact")
    operator.run("principal erase", *WHOSE, "--yes")
    operator.run("backup", operator.files / "backup.tar")


def main() -> None:
    """Act, restore, and tell."""
    operator = Operator(*map(Path, sys.argv[1:3]))
    operator.data.mkdir(mode=0o711)
    with EmbeddedServer(operator.data / "postgres") as server:
        act(operator, server.socket_directory)
        commands = list(operator.commands)
        journal = operator.answer("journal", "--kind", "operator.access", "--limit", "1000")
    operator.run("restore", operator.files / "backup.tar", "--replace")
    after = operator.answer("journal", "--kind", "operator.access", "--limit", "1")
    told = {"commands": commands, "journal": journal, "restored": after}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
