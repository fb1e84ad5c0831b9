"""A store whose operations are traced by name; what they are asked and what they answer is not looked at."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction
from typing import Any, cast

from gateway.observability.traces import Traces
from store.ports.store import Result, Snapshot, Store, Transaction


class TracedStore:
    """The Store that it is given, each operation within a span."""

    def __init__(self, store: Store, traces: Traces) -> None:
        """Trace this store."""
        self._store = store
        self._traces = traces

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """Open a consistent read view, whose operations are traced."""
        async with self._store.snapshot() as snapshot:
            # It has every attribute of what it stands for.
            yield cast("Snapshot", _TracedParts(snapshot, self._traces))

    @asynccontextmanager
    async def single_read(self) -> AsyncIterator[Snapshot]:
        """Open a view for one operation, which is traced."""
        async with self._store.single_read() as snapshot:
            # As above.
            yield cast("Snapshot", _TracedParts(snapshot, self._traces))

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run the work in one transaction, in a span that ends with the commit or the rollback."""

        async def traced(transaction: Transaction) -> Result:
            # It has every attribute of what it stands for.
            return await work(cast("Transaction", _TracedParts(transaction, self._traces)))

        with self._traces.store_operation("transact"):
            return await self._store.transact(traced)

    async def check(self) -> None:
        """Return if the store answers and is of this program's schema version."""
        with self._traces.store_operation("check"):
            await self._store.check()

    async def close(self) -> None:
        """Give back every connection."""
        await self._store.close()


class _TracedParts:
    """The parts of a snapshot or a transaction, such as `memories`."""

    def __init__(self, whole: Snapshot | Transaction, traces: Traces) -> None:
        self._whole = whole
        self._traces = traces

    def __getattr__(self, part: str) -> "_TracedOperations":
        return _TracedOperations(getattr(self._whole, part), part, self._traces)


class _TracedOperations:
    """The operations of one part. One that answers row by row is handed on as it is: its reader sets the pace."""

    def __init__(self, operations: object, part: str, traces: Traces) -> None:
        self._operations = operations
        self._part = part
        self._traces = traces

    def __getattr__(self, name: str) -> Callable[..., Any]:  # Any: as the operation is
        operation: Callable[..., Any] = getattr(self._operations, name)  # Any: as above
        if not iscoroutinefunction(operation):
            return operation

        async def traced(*arguments: object, **named: object) -> Any:  # as the operation is
            with self._traces.store_operation(f"{self._part}.{name}"):
                return await operation(*arguments, **named)

        return traced
