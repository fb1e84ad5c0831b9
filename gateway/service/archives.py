"""The archive of a backup: the database's dump and the key file together, with a manifest that tells what they are.

A tar file of three members: `manifest.json`, `key` and `database.dump`. It is readable by its owner alone and appears
when it is whole. Who has it has everything: every belief, and the key by which deleted statements are recognised.
Source: belief store decisions, Review and delete (restore).
"""

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from gateway.service.errors import Conflict, MalformedRequest

ARCHIVE_VERSION: Literal[1] = 1
MANIFEST_BYTES_MAX = 65_536
_MANIFEST = "manifest.json"
KEY_MEMBER = "key"
DATABASE_MEMBER = "database.dump"
_CHUNK_BYTES = 1_048_576


class Member(BaseModel):
    """One member of an archive: its bytes, and their SHA-256 in hexadecimal digits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """What an archive holds, and what it was made with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    archive: Literal[1]
    gateway: str
    schema_revision: str
    key_id: str
    lexical_version: str
    created_at: AwareDatetime
    members: Mapping[str, Member]


def describe_member(path: Path) -> Member:
    """The size and the hash of a file."""
    with path.open("rb") as stream:
        return Member(bytes=path.stat().st_size, sha256=hashlib.file_digest(stream, "sha256").hexdigest())


def write_archive(path: Path, manifest: Manifest, members: Mapping[str, Path]) -> None:
    """Write an archive where nothing stands yet, whole or not at all. Raises Conflict, and OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as target:
            with tarfile.open(fileobj=target, mode="w") as archive:
                content = manifest.model_dump_json(indent=2).encode()
                described = tarfile.TarInfo(_MANIFEST)
                described.size = len(content)
                archive.addfile(_anonymous(described), io.BytesIO(content))
                for name, source in members.items():
                    archive.add(source, arcname=name, recursive=False, filter=_anonymous)
            target.flush()
            os.fsync(target.fileno())
        os.link(temporary, path)
        _sync_directory(path.parent)
    except FileExistsError:
        raise Conflict(f"{path} exists already") from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def read_archive(path: Path, directory: Path) -> Manifest:
    """Take an archive apart into a directory, each member compared with the manifest.

    Raises MalformedRequest for a file that is no archive of ours, or a damaged one, and OSError.
    """
    try:
        with tarfile.open(path, mode="r:") as archive:
            manifest = Manifest.model_validate_json(_member(archive, _MANIFEST).read(MANIFEST_BYTES_MAX))
            if set(manifest.members) != {KEY_MEMBER, DATABASE_MEMBER}:
                raise MalformedRequest("FILE", "must hold a key and a database")
            for name, expected in manifest.members.items():
                with _member(archive, name) as source:
                    _take_out(source, directory / name, expected)
    except (tarfile.TarError, ValidationError, KeyError):
        raise MalformedRequest("FILE", "must be a backup that this program can read") from None
    return manifest


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    stream = archive.extractfile(name)
    if stream is None:
        raise MalformedRequest("FILE", "must be a backup that this program can read")
    return stream


def _take_out(source: IO[bytes], path: Path, expected: Member) -> None:
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        while chunk := source.read(_CHUNK_BYTES):
            size += len(chunk)
            digest.update(chunk)
            target.write(chunk)
    if size != expected.bytes or digest.hexdigest() != expected.sha256:
        raise MalformedRequest("FILE", "is damaged: a member is not what its manifest says")


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without the names of this machine."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
