"""The life of the hash key after its birth: added, made current, taken up by those who serve, copied aside.

A key is first added to the file, and the file copied to every gateway; then it is made current, in the database before
the file. So nobody hashes under a key before the database names it, and whoever lacks it then is refused every write
that would need it. Rows are not rewritten: look-ups ask for the hash under every key, and old keys stay.
Source: belief store decisions, Review and delete (the hash key).
"""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from gateway.service.environment import Environment
from gateway.service.errors import Conflict
from gateway.service.journaling import journal_act
from gateway.service.keys import KeyFileError, new_key, read_key_file, write_key_file
from store.domain.keyring import Keyring
from store.ports.store import Store, StoreFact, Transaction

HASH_KEYS_MAX = 16
"""Keys of one file: every look-up of a statement asks for its hash under each."""


class HashKeyService:
    """Adds keys to the key file of this machine, and makes them current."""

    def __init__(self, store: Store, environment: Environment, path: Path) -> None:
        """Act on a store and the key file that belongs to it."""
        self._store = store
        self._environment = environment
        self._path = path

    @property
    def current_id(self) -> str:
        """The id of the key that this process hashes with."""
        return self._environment.keyring.current.id

    async def rotate(self) -> str:
        """Add a key to the file, not yet the current one; its id.

        Raises Conflict where the file holds as many as it may, KeyFileError where it can't be written.
        """
        added = await asyncio.to_thread(self._add_key)
        self._environment.keyring = added
        id = added.keys[-1].id
        await self._store.transact(partial(journal_act, now=self._environment.clock(), action="key_rotate", key=id))
        return id

    async def activate(self, id: str | None) -> str:
        """Make a key of the file current (None: the one added last), in the database and then in the file; its id.

        Done again it changes nothing, or finishes what was broken off. Raises Conflict for an id that the file does
        not hold, or where another key was made current meanwhile.
        """
        keyring = await asyncio.to_thread(self._read)
        wanted = keyring.keys[-1].id if id is None else id
        if not keyring.holds(wanted):
            raise Conflict("the key file holds no key of that id")
        await self._store.transact(partial(self._make_current, former=self._environment.keyring.current.id, id=wanted))
        self._environment.keyring = await asyncio.to_thread(partial(self._note_current, id=wanted))
        return wanted

    async def follow(self) -> bool:
        """Take up the key that the database names, from the file as it is now; False where nothing changed.

        Raises KeyFileError where the file lacks it: writes are refused until it is copied here.
        """
        async with self._store.snapshot() as snapshot:
            named = await snapshot.facts.find(StoreFact.KEY_ID)
        if named is None or named == self._environment.keyring.current.id:
            return False
        keyring = (await asyncio.to_thread(self._read)).with_current(named)
        if keyring is None:
            raise KeyFileError(
                f"The database names the hash key {named}, which the key file {self._path} does not hold: copy the "
                "file here from the machine where the key was added."
            )
        self._environment.keyring = keyring
        return True

    async def backup(self, path: Path) -> None:
        """Copy the key file to a path where nothing stands yet, journaled before. Raises Conflict and KeyFileError."""
        keyring = await asyncio.to_thread(self._read)
        await self._store.transact(partial(journal_act, now=self._environment.clock(), action="key_backup"))
        if not await asyncio.to_thread(partial(write_key_file, path, keyring, replacing=False)):
            raise Conflict(f"{path} exists already")

    async def _make_current(self, transaction: Transaction, *, former: str, id: str) -> None:
        if await transaction.facts.find(StoreFact.KEY_ID) == id:
            return
        if not await transaction.facts.replace(StoreFact.KEY_ID, expected=former, value=id):
            raise Conflict("another key was made current meanwhile")
        await journal_act(transaction, now=self._environment.clock(), action="key_activate", key=id)

    def _read(self) -> Keyring:
        keyring = read_key_file(self._path)
        if keyring is None:
            raise KeyFileError(f"There is no key file at {self._path}.")
        return keyring

    def _add_key(self) -> Keyring:
        with _alone_in(self._path.parent):
            keyring = self._read()
            if len(keyring.keys) >= HASH_KEYS_MAX:
                raise Conflict(f"the key file holds {HASH_KEYS_MAX} keys already")
            added = Keyring(current=keyring.current, keys=(*keyring.keys, new_key()))
            write_key_file(self._path, added, replacing=True)
        # The database's word stands, not the file's.
        return added.with_current(self._environment.keyring.current.id) or added

    def _note_current(self, *, id: str) -> Keyring:
        with _alone_in(self._path.parent):
            keyring = self._read()
            noted = keyring.with_current(id)
            if noted is None:
                raise KeyFileError(f"The key file {self._path} lost the key {id} meanwhile: restore it from a copy.")
            if noted != keyring:
                write_key_file(self._path, noted, replacing=True)
        return noted


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Keep other processes that change files here from doing so meanwhile; the system drops the lock of who dies."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
