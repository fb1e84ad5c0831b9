"""The lines of a file of proposals: one JSON object each, what an external deriver would have derived.

| member | what it holds |
|---|---|
| `version` | 1 |
| `record_kind` | `summary` or `hypothesis` |
| `subject` | whom or what it is about, as beliefs have it |
| `clauses` | 1 to 4 of `{"text", "source_ids"}`; one in a hypothesis |
| `source_ids` | 1 to 16 beliefs or derived records; those that no clause names are inputs that are left out |
| `method`, `method_revision`, `evidence_ref` | how it was come by |
| `confidence`, `expires_at`, `sensitivity` | optional: stricter than the sources have it |

Every other member is refused. Source: belief store decisions, Derived records.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from gateway.service.errors import MalformedRequest
from gateway.service.records import Identifier, Number, Text, Time, line_values, validated
from store.domain.derived import RecordKind
from store.domain.deriving import DerivationClause, DerivationProposal
from store.domain.summaries import EXTRACTIVE_METHOD
from store.domain.vocabulary import Sensitivity


class ClauseMember(BaseModel):
    """One clause of a line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Text
    source_ids: tuple[Identifier, ...]


class ProposalLine(BaseModel):
    """One proposal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    record_kind: RecordKind
    subject: Text
    clauses: tuple[ClauseMember, ...]
    source_ids: tuple[Identifier, ...]
    method: Text
    method_revision: Text
    evidence_ref: Text
    confidence: Number | None = None
    expires_at: Time | None = None
    sensitivity: Sensitivity | None = None

    def proposal(self) -> DerivationProposal:
        """The proposal of the line."""
        own = {name: getattr(self, name) for name in DerivationProposal.__dataclass_fields__ if name != "clauses"}
        clauses = tuple(DerivationClause(text=clause.text, source_ids=clause.source_ids) for clause in self.clauses)
        return DerivationProposal(**own, clauses=clauses)


def parse_proposal(content: bytes) -> DerivationProposal:
    """The proposal of one line. Raises MalformedRequest that names the member and never echoes a value."""
    line = validated(ProposalLine, line_values(content))
    if line.method == EXTRACTIVE_METHOD:
        raise MalformedRequest("method", f"must not be {EXTRACTIVE_METHOD}, which is this program's own")
    return line.proposal()
