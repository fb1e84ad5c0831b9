"""The key file: made once, refused where it does not match, never in the database or an export.

The file is JSON: `{"version": 1, "current": id, "keys": [{"id": …, "secret": base64 of 32 bytes}]}`, mode 0600.
Source: belief store decisions, Review and delete (the hash key).
"""

import asyncio
import base64
import binascii
import os
import secrets
import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from store.domain.keyring import KEY_BYTES, HashKey, Keyring, key_id
from store.ports.store import Store, StoreFact, Transaction

KEY_FILE_VERSION = 1


class KeyFileError(Exception):
    """The key file can't be used; the message says what to do and holds no secret."""


class _Key(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    secret: str


class _KeyFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int
    current: str
    keys: list[_Key]


def read_key_file(path: Path) -> Keyring | None:
    """The keyring of a file, None where there is no file. Raises KeyFileError for one that is damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeyFileError(f"The key file {path} can't be read: {error.strerror}.") from error
    try:
        file = _KeyFile.model_validate_json(content)
        keys = tuple(HashKey(id=key.id, secret=base64.b64decode(key.secret, validate=True)) for key in file.keys)
    except (ValidationError, binascii.Error):
        # The cause would show the secrets.
        raise KeyFileError(f"The key file {path} is damaged: restore it from a copy.") from None
    current = next((key for key in keys if key.id == file.current), None)
    sound = all(len(key.secret) == KEY_BYTES and key.id == key_id(key.secret) for key in keys)
    if file.version != KEY_FILE_VERSION or current is None or not sound:
        raise KeyFileError(f"The key file {path} is damaged or of another version: restore it from a copy.")
    return Keyring(current=current, keys=keys)


def _make_key_file(path: Path) -> bool:
    """Write a key file of one new key; False if a file stands there already."""
    secret = secrets.token_bytes(KEY_BYTES)
    id = key_id(secret)
    file = _KeyFile(
        version=KEY_FILE_VERSION,
        current=id,
        keys=[_Key(id=id, secret=base64.b64encode(secret).decode())],
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".key-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(file.model_dump_json(indent=2).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            # A link, not a rename: it fails where another process was first.
            os.link(temporary, path)
        except FileExistsError:
            return False
    finally:
        Path(temporary).unlink()
    _sync_directory(path.parent)
    return True


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def open_keyring(store: Store, path: Path) -> Keyring:
    """The keyring that the store was written with.

    A file is made only for a store that names no key yet; the loser of a race deletes its own.
    Raises KeyFileError where file and store do not match, or where the store names a key and no file is there.
    """
    async with store.snapshot() as snapshot:
        named = await snapshot.facts.find(StoreFact.KEY_ID)
    keyring = read_key_file(path)
    made = False
    if keyring is None:
        if named is not None:
            raise KeyFileError(
                f"The database was written with the hash key {named}, and there is no key file at {path}: "
                "copy the file there from the machine that made it."
            )
        made = _make_key_file(path)
        keyring = read_key_file(path)
        if keyring is None:
            raise KeyFileError(f"The key file {path} vanished while it was being made.")

    current = keyring.current.id

    async def claim(transaction: Transaction) -> str:
        return await transaction.facts.claim(StoreFact.KEY_ID, current)

    standing = named or await store.transact(claim)
    if standing != current:
        if made:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        raise KeyFileError(
            f"The database was written with the hash key {standing}, the key file {path} holds {current} as its "
            "current key: use the file that belongs to this database."
        )
    return keyring
