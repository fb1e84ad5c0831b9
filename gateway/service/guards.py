"""What must hold before a hash is used or lexemes are compared; otherwise the operation is unavailable.

Source: belief store decisions, Review and delete (the hash key); Text search (the version).
"""

from gateway.service.errors import Unavailable
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.ports.store import FactReads, StoreFact


async def require_key(facts: FactReads, keyring: Keyring) -> None:
    """Raise Unavailable unless this process hashes with the key that the store names as current."""
    if await facts.find(StoreFact.KEY_ID) != keyring.current.id:
        raise Unavailable("this server does not hold the current hash key")


async def require_lexical_version(facts: FactReads) -> None:
    """Raise Unavailable unless the stored lexemes were made by the rules of this process."""
    if await facts.find(StoreFact.LEXICAL_VERSION) != LEXICAL_VERSION:
        raise Unavailable("text search awaits a rebuild of its index for this version")
