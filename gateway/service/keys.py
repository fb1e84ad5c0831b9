"""The key file: made once, refused where it does not match, never in the database or an export.

Which of its keys is the current one, the database says, so that all gateways change to another at once; the file notes
it for a database that is begun. The file is JSON, mode 0600:
`{"version": 1, "current": id, "keys": [{"id": …, "secret": base64 of 32 bytes}]}`.
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


def write_key_file(path: Path, keyring: Keyring, *, replacing: bool) -> bool:
    """Write a keyring to a file, whole or not at all, readable by its owner alone.

    Without `replacing` a file that stands there stays; False then. Raises KeyFileError.
    """
    file = _KeyFile(
        version=KEY_FILE_VERSION,
        current=keyring.current.id,
        keys=[_Key(id=key.id, secret=base64.b64encode(key.secret).decode()) for key in keyring.keys],
    )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is not a directory" if isinstance(error, FileExistsError) else error.strerror
        raise KeyFileError(f"The key file {path} can't be written in {path.parent}: {reason}.") from error
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".key-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(file.model_dump_json(indent=2).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            if replacing:
                Path(temporary).replace(path)
            else:
                # A link, not a rename: it fails where another process was first.
                os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            Path(temporary).unlink(missing_ok=True)
        _sync_directory(path.parent)
    except OSError as error:
        raise KeyFileError(f"The key file {path} can't be written: {error.strerror}.") from error
    return True


def new_key() -> HashKey:
    """A fresh key."""
    secret = secrets.token_bytes(KEY_BYTES)
    return HashKey(id=key_id(secret), secret=secret)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def open_keyring(store: Store, path: Path) -> Keyring:
    """The keyring that the store was written with; its current key is the one that the store names.

    A file is made only for a store that names no key yet; the loser of a race deletes its own.
    Raises KeyFileError where the file lacks that key, or where the store names one and no file is there.
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
        key = new_key()
        made = write_key_file(path, Keyring(current=key, keys=(key,)), replacing=False)
        keyring = read_key_file(path)
        if keyring is None:
            raise KeyFileError(f"The key file {path} vanished while it was being made.")

    current = keyring.current.id

    async def claim(transaction: Transaction) -> str:
        return await transaction.facts.claim(StoreFact.KEY_ID, current)

    standing = await store.transact(claim) if named is None else named
    agreed = keyring.with_current(standing)
    if agreed is None:
        if made:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        raise KeyFileError(
            f"The database was written with the hash key {standing}, the key file {path} holds {current} as its "
            "current key: use the file that belongs to this database."
        )
    return agreed
