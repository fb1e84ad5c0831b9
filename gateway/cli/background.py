"""What goes on beside the requests, again and again; a run that fails is logged and counted, never fatal."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.compose import Services, database_answers
from gateway.observability.metrics import GatewayMetrics

STORED_INTERVAL_SECONDS = 60.0
HASH_KEY_INTERVAL_SECONDS = 2.0
"""How long a gateway that holds the new key refuses writes at most after it was made current."""
DATABASE_INTERVAL_SECONDS = 5.0
VACUUM_INTERVAL_SECONDS = 300.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Work that is done at once and then at an interval."""

    name: str
    interval_seconds: float
    work: Callable[[], Awaitable[None]]


def background_tasks(services: Services, metrics: GatewayMetrics) -> list[Task]:
    """The sweep, the gauge of stored beliefs, the hash key, deleted rows, and looking after the embedded database."""

    async def sweep() -> None:
        result = await services.sweeps.sweep()
        metrics.swept(expired=result.expired, receipts=result.receipts)
        if result.expired or result.derived or result.receipts:
            counts = {"expired": result.expired, "derived": result.derived, "receipts": result.receipts}
            _log.info("swept", extra=counts)

    async def count() -> None:
        metrics.stored(await services.stored_by_sensitivity())

    async def follow_key() -> None:
        if await services.keys.follow():
            _log.info("another hash key is current", extra={"key_id": services.keys.current_id})

    async def vacuum() -> None:
        if await services.compaction.vacuum():
            _log.info("cleared deleted rows")

    async def revive() -> None:
        if not await database_answers(services):
            _log.warning("the database does not answer")
            await services.database.revive()
            _log.info("the database was started again")

    tasks = [
        Task(name="sweep", interval_seconds=services.settings.sweep_interval_seconds, work=sweep),
        Task(name="stored_beliefs", interval_seconds=STORED_INTERVAL_SECONDS, work=count),
        Task(name="hash_key", interval_seconds=HASH_KEY_INTERVAL_SECONDS, work=follow_key),
        Task(name="vacuum", interval_seconds=VACUUM_INTERVAL_SECONDS, work=vacuum),
    ]
    if services.database.is_embedded:
        tasks.append(Task(name="database", interval_seconds=DATABASE_INTERVAL_SECONDS, work=revive))
    return tasks


@asynccontextmanager
async def going_on(tasks: list[Task], metrics: GatewayMetrics) -> AsyncIterator[None]:
    """Run the tasks while the body lasts."""
    running = [asyncio.create_task(_repeat(task, metrics), name=task.name) for task in tasks]
    try:
        yield
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _repeat(task: Task, metrics: GatewayMetrics) -> None:
    while True:
        try:
            await task.work()
        except Exception:  # noqa: BLE001 (whatever it is, serving goes on, and the next run may succeed)
            metrics.background_failed(task.name)
            _log.exception("a background task failed", extra={"task": task.name})
        await asyncio.sleep(task.interval_seconds)
