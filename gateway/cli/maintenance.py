"""What keeps a store in order: what ran out swept, its lexemes made anew, what was deleted cleared from its files."""

from typing import Annotated

import typer

from gateway.cli.answers import note, show_json
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, with_services
from gateway.cli.terminal import progress
from gateway.compose import Services
from gateway.service.reindexing import Reindexing
from gateway.service.sweeps import SweepResult
from store.domain.maintenance import Compaction


def sweep(*, as_json: AsJson = False, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Write out what has run out: beliefs expire, derived records and receipts go. It changes no answer."""

    async def work(services: Services) -> SweepResult:
        await services.operators.note("sweep")
        return await services.sweeps.sweep()

    result = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"expired": result.expired, "derived": result.derived, "receipts": result.receipts})
    else:
        print(
            f"Wrote {result.expired} beliefs as expired, removed {result.derived} derived records that have run out, "
            f"forgot {result.receipts} receipts."
        )


def reindex(*, as_json: AsJson = False, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Make the words by which beliefs are found anew, by the rules of this program and its Unicode tables.

    Text queries and imports are unavailable until it is done. Interrupted, it goes on when it is run again.
    """

    async def work(services: Services) -> Reindexing:
        with progress("Reindexing", None) as advance:
            return await services.reindexing.run(progress=advance)

    done = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"rows": done.rows, "resumed": done.resumed})
    elif done.rows:
        resumed = ", from where an earlier run ended" if done.resumed else ""
        print(f"Went through {done.rows} beliefs and derived records{resumed}.")
    else:
        print("Every word is of this version.")


def compact(
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Rewrite every table. Nobody can read or write it meanwhile.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Clear what was deleted from the files of tables, indexes and the write-ahead log.

    A running gateway clears tables by itself; this also clears the index of words and the log.
    """

    async def work(services: Services) -> Compaction:
        return await services.compaction.compact(full=full)

    done = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"log_cleared": done.log_cleared, "readers": done.readers})
    else:
        print("Cleared tables and indexes." if not done.log_cleared else "Cleared tables, indexes and the log.")
    if not done.log_cleared:
        note("The role may not cycle the write-ahead log: it is cleared as the server uses its segments again.")
    if done.readers:
        note("Transactions that began before were open: what they can still see was kept. Run it again.")
