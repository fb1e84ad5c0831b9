"""The demo: its beliefs, loaded once, and the tokens its principals are met with.

A fact in the store says that the beliefs were loaded, so that what a visitor changes stays changed. Loading them and
making a token are acts of the operator who asked for the demo, and stand in the journal.
"""

import hashlib
import io
from collections.abc import Callable
from functools import partial
from uuid import UUID

from gateway.service.environment import system_clock
from gateway.service.errors import Conflict
from gateway.service.importing import ImportService
from gateway.service.journaling import journal_act
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from gateway.service.principal import Principal
from gateway.service.summarizing import SummaryService
from gateway.service.tokens import TokenService
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.store import Snapshot, Store, StoreFact, Transaction

DEMO_OWNERS = (
    Owner(tenant="riverside", principal="mara"),
    Owner(tenant="northwind", principal="tomas"),
    Owner(tenant="riverside", principal="yuki"),
)
"""The principals of the demo's file, in the order they are shown in."""
READ_SCOPES = frozenset({AccessScope.MEMORY_READ})
FULL_SCOPES = frozenset({AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE})
_TOKEN_LABEL = "demo"  # noqa: S105 (a label, no secret)


async def refuse_other_owners(store: Store) -> None:
    """Raise Conflict for a store that holds anything of a principal who is not of the demo. Writes nothing."""
    async with store.snapshot() as snapshot:
        owners = {*await snapshot.journal.owners(), *await _token_owners(snapshot)}
    if not owners <= set(DEMO_OWNERS):
        raise Conflict("the database holds beliefs or tokens of other principals: the demo is not for it")


async def _token_owners(snapshot: Snapshot) -> set[Owner]:
    return {token.owner for token in await snapshot.tokens.list(tenant=None, principal=None)}


class DemoService:
    """Fills a store with the demo, and gives access to it."""

    def __init__(
        self,
        store: Store,
        *,
        importing: ImportService,
        summaries: SummaryService,
        memories: PublicMemoryService,
        tokens: TokenService,
    ) -> None:
        """Load through the importer, sum up what was loaded, look through the public operations."""
        self._store = store
        self._importing = importing
        self._summaries = summaries
        self._memories = memories
        self._tokens = tokens

    async def load(self, content: bytes, *, progress: Callable[[int], None] = lambda _: None) -> bool:
        """Import the demo's file, and derive, unless that was done before; whether it was done now.

        Interrupted, it goes on the next time. Raises Conflict for a file that is not taken whole.
        """
        async with self._store.snapshot() as snapshot:
            if await snapshot.facts.find(StoreFact.DEMO_LOADED) is not None:
                return False
        await self._store.transact(partial(journal_act, now=system_clock(), action="demo_load"))
        file_hash = hashlib.sha256(content).hexdigest()
        report = await self._importing.run(io.BytesIO(content), file_hash=file_hash, progress=progress)
        if report.refused:
            raise Conflict(f"the demo was refused in line {report.errors[0][0]}: {report.errors[0][1]}")
        for owner in DEMO_OWNERS:
            await self._summaries.sum_up(owner)

        async def mark(transaction: Transaction) -> None:
            await transaction.facts.claim(StoreFact.DEMO_LOADED, file_hash)

        await self._store.transact(mark)
        return True

    async def opens(self, secret: str, owner: Owner, scopes: frozenset[AccessScope]) -> bool:
        """Whether a token is valid and stands for exactly this owner and these scopes."""
        return await self._tokens.resolve(secret) == Principal(owner=owner, scopes=scopes)

    async def mint(self, owner: Owner, scopes: frozenset[AccessScope]) -> str:
        """A new token, valid until it is revoked; its secret."""
        token, secret = await self._tokens.create(
            owner, scopes=sorted(scope.value for scope in scopes), label=_TOKEN_LABEL, expires_at=None
        )
        act = partial(journal_act, now=token.created_at, action="token_create", owner=owner, token=str(token.id))
        await self._store.transact(act)
        return secret

    async def find_flagged(self, owner: Owner, ceiling: Sensitivity) -> UUID | None:
        """The newest belief that waits for the owner's review, if there is one."""
        principal = Principal(owner=owner, scopes=READ_SCOPES)
        async with self._memories.reading() as reading:
            page = await reading.browse(
                principal, MemorySelection(ceiling=ceiling, flagged=True), MemoryPaging(first=1)
            )
        return page.edges[0].node.id if page.edges else None
