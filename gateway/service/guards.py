"""What must hold before a hash is used or lexemes are compared; otherwise the operation is unavailable.

Source: belief store decisions, Review and delete (the hash key); Text search (the version).
"""

from gateway.service.errors import Unavailable
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.ports.store import FactReads, FactWrites, StoreFact

_AWAITS_REBUILD = "text search awaits a rebuild of its index for this version"


async def require_key(facts: FactReads, keyring: Keyring) -> None:
    """Raise Unavailable unless this process hashes with the key that the store names as current.

    To be asked once the statements are locked: whoever makes another key current and writes under it takes the same
    locks afterwards, since rings that follow on each other share keys.
    """
    check_key(await facts.find(StoreFact.KEY_ID), keyring)


def check_key(key_id: str | None, keyring: Keyring) -> None:
    """The same of the key that the store was just read to name."""
    if key_id != keyring.current.id:
        raise Unavailable("this server does not hold the current hash key")


async def hold_lexical_version(facts: FactWrites) -> None:
    """The same before lexemes are written: until the transaction ends nobody begins to rebuild them by other rules."""
    if await facts.hold(StoreFact.LEXICAL_VERSION) != LEXICAL_VERSION:
        raise Unavailable(_AWAITS_REBUILD)


async def require_lexical_version(facts: FactReads) -> None:
    """Raise Unavailable unless the stored lexemes were made by the rules of this process."""
    if await facts.find(StoreFact.LEXICAL_VERSION) != LEXICAL_VERSION:
        raise Unavailable(_AWAITS_REBUILD)
