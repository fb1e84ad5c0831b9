"""The root field of evidence, which stands only where it is served.

Source: evidence graph decisions.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from typing import Annotated

import strawberry

from gateway.graphql.evidence_types import EvidenceGraph
from gateway.graphql.memory_types import Info
from gateway.graphql.page_arguments import Ceiling
from gateway.service.evidence import EvidenceQuery, parse_root_ids
from store.domain.ancestry import (
    DISPLAY_DEPTH_DEFAULT,
    DISPLAY_DEPTH_MAX,
    NODE_LIMIT_DEFAULT,
    NODE_LIMIT_MAX,
    ROOTS_MAX,
)


@strawberry.type
class EvidenceFields:
    """Reading evidence."""

    @strawberry.field(
        description=(
            "What some records rest on, directly or through others, breadth first: each record once, as near as it is, "
            "and only with all that it rests on as it was."
        )
    )
    async def evidence_graph(
        self,
        info: Info,
        ceiling: Ceiling,
        root_ids: Annotated[
            list[strawberry.ID],
            strawberry.argument(
                description=f"The beliefs or derived records that are asked about, 1 to {ROOTS_MAX}, each once; their "
                "order decides what a limit leaves out."
            ),
        ],
        max_depth: Annotated[
            int | None,
            strawberry.argument(
                description=f"How many steps from a root are shown at most, 0 to {DISPLAY_DEPTH_MAX}; "
                f"{DISPLAY_DEPTH_DEFAULT} unless told otherwise."
            ),
        ] = strawberry.UNSET,
        node_limit: Annotated[
            int | None,
            strawberry.argument(
                description=f"After how many look-ups the walk ends, 1 to {NODE_LIMIT_MAX}; {NODE_LIMIT_DEFAULT} "
                "unless told otherwise."
            ),
        ] = strawberry.UNSET,
    ) -> EvidenceGraph | None:
        """One graph, from the snapshot of the whole query."""
        query = EvidenceQuery(
            ceiling=ceiling,
            root_ids=parse_root_ids(root_ids),
            max_depth=max_depth if isinstance(max_depth, int) else DISPLAY_DEPTH_DEFAULT,
            node_limit=node_limit if isinstance(node_limit, int) else NODE_LIMIT_DEFAULT,
        )
        evidence, reads = info.context.evidence, info.context.reads
        graph = await reads.ask(lambda reading: evidence.graph_within(reading, reads.principal, query))
        return EvidenceGraph(graph, ceiling, reads)
