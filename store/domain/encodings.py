"""Beliefs as JSON, field by field: which attribute stands under which key, and how its value is written.

A shape is neutral: the transports' rows differ in their keys and in the spelling of enumerations, and in nothing else.
The functions here are the meaning of every codec; an adapter that writes rows in another way writes the same bytes.
Source: belief store decisions, The record (On the wire).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum, StrEnum, auto
from typing import Any, TypeAlias

from store.domain.memories import MemoryRecord, effective_status

_KEY = re.compile(r"[_A-Za-z][_0-9A-Za-z]*", re.ASCII)


class Codec(Enum):
    """How a value is written. An absent one is null, whatever the codec."""

    IDENTIFIER = auto()
    """A canonical lower-case UUID."""
    IDENTIFIERS = auto()
    TEXT = auto()
    TEXTS = auto()
    INTEGER = auto()
    INTEGERS = auto()
    THOUSANDTHS = auto()
    """A number with one to three decimals."""
    BOOLEAN = auto()
    TIME = auto()
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`, always with six digits."""
    WORD = auto()
    """A member of an enumeration as its value, in lower case."""
    NAME = auto()
    """A member of an enumeration as its name, in upper case."""


ATTRIBUTES: Mapping[str, Codec] = {
    "id": Codec.IDENTIFIER,
    "display_subject": Codec.TEXT,
    "statement": Codec.TEXT,
    "belief_type": Codec.WORD,
    "status": Codec.WORD,
    "polarity": Codec.WORD,
    "scope": Codec.TEXT,
    "claim_kind": Codec.WORD,
    "derivation": Codec.WORD,
    "longevity": Codec.WORD,
    "portability": Codec.WORD,
    "authority": Codec.WORD,
    "sensitivity": Codec.WORD,
    "confidence": Codec.THOUSANDTHS,
    "corroboration_count": Codec.INTEGER,
    "flagged_for_review": Codec.BOOLEAN,
    "conflicts_with": Codec.IDENTIFIERS,
    "superseded_by": Codec.IDENTIFIER,
    "source_session_id": Codec.IDENTIFIER,
    "source_event_ids": Codec.INTEGERS,
    "formation_run_id": Codec.IDENTIFIER,
    "consolidation_policy_version": Codec.TEXT,
    "origin_scopes": Codec.TEXTS,
    "valid_from": Codec.TIME,
    "valid_to": Codec.TIME,
    "expires_at": Codec.TIME,
    "last_evidence_at": Codec.TIME,
    "last_used_at": Codec.TIME,
    "last_reinforced_at": Codec.TIME,
    "created_at": Codec.TIME,
    "updated_at": Codec.TIME,
}
"""What can be written of a record, and how; a word can be written as a name too. The status is the effective one."""


@dataclass(frozen=True, slots=True)
class AttributeMember:
    """A member of a JSON object that holds an attribute of the record."""

    key: str
    attribute: str
    codec: Codec


@dataclass(frozen=True, slots=True)
class ConstantMember:
    """A member of a JSON object that holds the same name in every row."""

    key: str
    value: str


Member: TypeAlias = AttributeMember | ConstantMember


class RowShape:
    """The members of a row's JSON object, in their order. Raises ValueError for what can't be written.

    Keys and constants are names of letters, digits and underscores, so that they need no escape anywhere.
    """

    __slots__ = ("_hash", "members")

    def __init__(self, *members: Member) -> None:
        """Check the members."""
        keys = [member.key for member in members]
        names = keys + [member.value for member in members if isinstance(member, ConstantMember)]
        if len(set(keys)) < len(keys) or not all(map(_KEY.fullmatch, names)):
            raise ValueError("keys are names, each different from the others")
        for member in members:
            if isinstance(member, AttributeMember) and not _can_be_written(member):
                raise ValueError(f"{member.attribute} is not written by {member.codec}")
        self.members = members
        # Kept: every page of a shape looks its statement up by it.
        self._hash = hash(members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowShape) and self.members == other.members

    def __hash__(self) -> int:
        return self._hash


def _can_be_written(member: AttributeMember) -> bool:
    usual = ATTRIBUTES.get(member.attribute)
    return member.codec is usual or (usual is Codec.WORD and member.codec is Codec.NAME)


def wire_time(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`, always with six digits."""
    # Not strftime("%Y"): it writes the years before 1000 without leading zeros on some platforms.
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _thousandths(value: Decimal) -> str:
    # The shortest spelling of a float that has at most three decimals has one to three.
    return repr(float(value))


def _member_name(member: StrEnum) -> str:
    return f'"{member.name}"'


def _list(items: tuple[Any, ...], write: Callable[[Any], str]) -> str:  # Any: what the codec takes
    return f"[{','.join(map(write, items))}]"


def _quoted(value: object) -> str:
    return f'"{value}"'


_WRITERS: Mapping[Codec, Callable[[Any], str]] = {  # Any: what the codec takes
    Codec.IDENTIFIER: _quoted,
    Codec.IDENTIFIERS: lambda items: _list(items, _quoted),
    Codec.TEXT: _text,
    Codec.TEXTS: lambda items: _list(items, _text),
    Codec.INTEGER: str,
    Codec.INTEGERS: lambda items: _list(items, str),
    Codec.THOUSANDTHS: _thousandths,
    Codec.BOOLEAN: lambda value: "true" if value else "false",
    Codec.TIME: lambda moment: _quoted(wire_time(moment)),
    Codec.WORD: _quoted,
    Codec.NAME: _member_name,
}


def encode(record: MemoryRecord, shape: RowShape, now: datetime) -> bytes:
    """The JSON object of a record that was read to be shown, at one moment: compact, with escapes only where needed."""
    return f"{{{','.join(_member(record, member, now) for member in shape.members)}}}".encode()


def _member(record: MemoryRecord, member: Member, now: datetime) -> str:
    if isinstance(member, ConstantMember):
        return f'"{member.key}":"{member.value}"'
    value = effective_status(record, now) if member.attribute == "status" else getattr(record, member.attribute)
    return f'"{member.key}":{"null" if value is None else _WRITERS[member.codec](value)}'
