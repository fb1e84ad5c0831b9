"""What each REST operation takes: the one declaration that parsing, routing and the OpenAPI document share.

Source: Memory read API, The routes and Writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from gateway.service.memory_requests import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from store.domain.vocabulary import AccessScope, BeliefType, MemoryStatus, Sensitivity

IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
INCLUDE_DERIVED = "include_derived"
MEMORIES_PATH = "/v1/memories"
MEMORY_PATH = "/v1/memories/{memory_id}"
REVIEW_PATH = "/v1/memories/{memory_id}/review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of the query string. `schema` is the JSON Schema of one value."""

    name: str
    description: str
    schema: Mapping[str, object]
    required: bool = False
    repeatable: bool = False
    blank_allowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path under /v1/memories: the scope it requires and exactly what it takes.

    A write requires the header Idempotency-Key.
    """

    id: str
    method: str
    path: str
    scope: AccessScope
    is_write: bool
    summary: str
    description: str
    parameters: tuple[Parameter, ...]


def _one_of(enumeration: type[StrEnum]) -> Mapping[str, object]:
    return {"type": "string", "enum": [member.value for member in enumeration]}


CEILING = Parameter(
    name="ceiling",
    description=(
        "The highest sensitivity that the surface you show the answer on may hold. "
        "It has no default; what lies above it does not exist."
    ),
    schema=_one_of(Sensitivity),
    required=True,
)

BROWSE = Operation(
    id="browseMemories",
    method="GET",
    path=MEMORIES_PATH,
    scope=AccessScope.MEMORY_READ,
    is_write=False,
    summary="Browse what is believed about you",
    description=(
        "One page of your beliefs at or below the ceiling, newest first. "
        "Values of one parameter unite, different parameters intersect."
    ),
    parameters=(
        CEILING,
        Parameter(
            name="limit",
            description=f"How many beliefs a page holds at most; above {PAGE_LIMIT_MAX} it is {PAGE_LIMIT_MAX}.",
            schema={"type": "integer", "minimum": 1, "default": PAGE_LIMIT_DEFAULT},
        ),
        Parameter(
            name="cursor",
            description="Where to continue: the next_cursor of the page before, under the same filter.",
            schema={"type": "string"},
        ),
        Parameter(
            name="status",
            description="Beliefs of this status as it stands now; repeatable. Without it: active and provisional.",
            schema=_one_of(MemoryStatus),
            repeatable=True,
        ),
        Parameter(
            name="belief_type",
            description="Beliefs of this type; repeatable.",
            schema=_one_of(BeliefType),
            repeatable=True,
        ),
        Parameter(
            name="subject",
            description="Beliefs about exactly this subject, upper and lower case alike.",
            schema={"type": "string"},
        ),
        Parameter(
            name="session_id",
            description="Beliefs first formed in this session; an identifier of no session selects nothing.",
            schema={"type": "string"},
        ),
        Parameter(
            name="text",
            description="Beliefs whose subject or statement holds every word of at least one term; blank: no filter.",
            schema={"type": "string", "maxLength": 1024},
            blank_allowed=True,
        ),
        Parameter(
            name="flagged",
            description="true: what waits for your review; false: everything else. Without it: both.",
            schema={"type": "boolean"},
        ),
        Parameter(
            name=INCLUDE_DERIVED,
            description="Whether derived records are shown too. This server has none: only false is taken.",
            schema={"type": "boolean", "const": False, "default": False},
        ),
    ),
)

BROWSE_WITH_DERIVED = replace(
    BROWSE,
    description=(
        f"{BROWSE.description} With include_derived, what was concluded from them stands among them, told by its "
        "record_kind: it is active, and of every type and session that its sources are of."
    ),
    parameters=(
        *(parameter for parameter in BROWSE.parameters if parameter.name != INCLUDE_DERIVED),
        Parameter(
            name=INCLUDE_DERIVED,
            description="Whether derived records are shown too.",
            schema={"type": "boolean", "default": False},
        ),
    ),
)
"""The same where derived records are served."""

READ = Operation(
    id="readMemory",
    method="GET",
    path=MEMORY_PATH,
    scope=AccessScope.MEMORY_READ,
    is_write=False,
    summary="Read one belief",
    description="One belief, whatever its status. Absent, another person's and above the ceiling are not told apart.",
    parameters=(CEILING,),
)

DELETE = Operation(
    id="deleteMemory",
    method="DELETE",
    path=MEMORY_PATH,
    scope=AccessScope.MEMORY_WRITE,
    is_write=True,
    summary="Delete one belief for good",
    description="Erases the belief and keeps its statement from being formed again. A repeated key answers again.",
    parameters=(CEILING,),
)

REVIEW = Operation(
    id="reviewMemory",
    method="POST",
    path=REVIEW_PATH,
    scope=AccessScope.MEMORY_WRITE,
    is_write=True,
    summary="Say how one belief stands",
    description=(
        "`dismiss` clears its flag, `untrue` retires it as never true, `not_here` keeps it to its own scope. "
        "A repeated key applies nothing and shows the belief as it stands."
    ),
    parameters=(CEILING,),
)

MEMORY_OPERATIONS = (BROWSE, READ, DELETE, REVIEW)
MEMORY_OPERATIONS_WITH_DERIVED = (BROWSE_WITH_DERIVED, READ, DELETE, REVIEW)
