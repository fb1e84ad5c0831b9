"""What operations cost: pages by literal, variable and default, links multiplied, and the maximum on both sides."""

import pytest
from graphql import GraphQLSchema, build_schema, get_introspection_query, parse
from pydantic.alias_generators import to_camel

from gateway.graphql.cost import COST_MAX, INTROSPECTION, INTROSPECTION_COST_MAX, Pricing
from gateway.graphql.limits import LimitExceeded, parse_within_limits
from gateway.graphql.schema import build_schema as build_own_schema
from gateway.graphql.validation import check_document, select_operation
from gateway.service.costs import (
    COUNT,
    COUNT_DERIVED,
    DERIVED_SHOWN,
    MEMORY,
    MEMORY_SHOWN,
    OVERVIEW,
    STATEMENT,
    TEXT_SEARCH,
    WRITE,
)
from gateway.service.memory_requests import PAGE_LIMIT_DEFAULT
from gateway.views.derived import DerivedContentView, DerivedSourceView, DerivedView
from gateway.views.memories import MemoryView
from tests.unit.gateway.graphql.clients import Client

SCHEMA = build_own_schema(memory=True, derived=True)._schema
PRICING = Pricing(SCHEMA)
ALL = " ".join(to_camel(name) for name in MemoryView.model_fields)
LINKS = ("conflictsWithMemories", "supersededByMemory", "supersedes")
INTROSPECT = get_introspection_query(specified_by_url=True, input_value_deprecation=True, directive_is_repeatable=True)


def price(query: str, variables: dict[str, object] | None = None, operation: str | None = None) -> int:
    """The points of a valid document, whatever the maximum."""
    document = parse_within_limits(query)
    check_document(SCHEMA, document)
    return PRICING.price(document, select_operation(document, operation), variables or {}).points


def check(query: str) -> int:
    """What a valid document is charged with."""
    document = parse_within_limits(query)
    check_document(SCHEMA, document)
    return PRICING.check(document, select_operation(document, None), {})


def page(arguments: str = "", selection: str = "nodes { id }", declared: str = "") -> str:
    return f"query Q{declared} {{ memories(ceiling: PUBLIC {arguments}) {{ {selection} }} }}"


def page_price(size: int, values: int = 1) -> int:
    """A page with so many values of each belief: the field, its statement, its rows, the list, the values."""
    return 1 + STATEMENT + size * MEMORY + 5 + size * values


@pytest.mark.parametrize(
    ("query", "variables", "size"),
    [
        (page("first: 10"), {}, 10),
        (page("last: 10"), {}, 10),
        (page("first: 1000000"), {}, 200),
        (page("first: 0"), {}, 1),
        (page("first: -5"), {}, 1),
        (page("first: 10, last: 20"), {}, 20),
        (page(), {}, PAGE_LIMIT_DEFAULT),
        (page("first: null"), {}, PAGE_LIMIT_DEFAULT),
        (page("first: $n", declared="($n: Int)"), {"n": 7}, 7),
        (page("first: $n", declared="($n: Int)"), {"n": 7.0}, 7),
        (page("first: $n", declared="($n: Int)"), {"n": None}, PAGE_LIMIT_DEFAULT),
        (page("first: $n", declared="($n: Int)"), {}, PAGE_LIMIT_DEFAULT),
        (page("first: $n", declared="($n: Int = 8)"), {}, 8),
        (page("first: $n", declared="($n: Int = 8)"), {"n": 9}, 9),
        (page("first: $n", declared="($n: Int = 8)"), {"n": None}, PAGE_LIMIT_DEFAULT),
        (page("last: $n", declared="($n: Int)"), {"n": 3}, 3),
    ],
)
def test_a_page_costs_as_many_as_it_may_hold(query: str, variables: dict[str, object], size: int) -> None:
    assert page_price(size) == price(query, variables)


def test_edges_count_as_nodes_do() -> None:
    assert page_price(10, values=3) == price(page("first: 10", "edges { cursor node { id } }"))


def test_links_multiply_and_so_do_links_of_links() -> None:
    assert page_price(10, values=1 + 16 * (MEMORY + 2)) == price(page("first: 10", "nodes { supersedes { id scope } }"))
    inner = 1 + 16 * (MEMORY + 1)
    nested = page("first: 2", "nodes { conflictsWithMemories { supersedes { id } } }")
    assert page_price(2, values=1 + 64 * (MEMORY + inner)) == price(nested)


def test_a_belief_with_all_its_values_costs_what_rest_is_charged_for() -> None:
    assert 1 + STATEMENT + MEMORY_SHOWN == price(f'{{ memory(id: "x", ceiling: PUBLIC) {{ {ALL} }} }}')
    assert page_price(200, values=MEMORY_SHOWN - MEMORY) == price(page("first: 200", f"nodes {{ {ALL} }}"))


def test_searching_text_costs_more_than_a_page_and_blank_text_is_no_search() -> None:
    assert page_price(50) + TEXT_SEARCH == price(page('text: "boat"'))
    assert TEXT_SEARCH > price(page("first: 200", f"nodes {{ {ALL} }}"))
    assert page_price(50) == price(page('text: "  "')) == price(page("text: null"))
    assert page_price(50) + TEXT_SEARCH == price(page("text: $t", declared="($t: String)"), {"t": "boat"})


def items(selection: str, arguments: str = "first: 10") -> str:
    return f"{{ memoryItems(ceiling: PUBLIC {arguments}) {{ {selection} }} }}"


def items_price(size: int, values: int) -> int:
    """What a page of beliefs costs, and once more its statement and its rows."""
    return page_price(size, values) + STATEMENT + size * MEMORY


def test_a_page_of_all_items_costs_its_second_statement_too() -> None:
    assert items_price(10, 1) == price(items("nodes { id }"))
    assert items_price(10, 3) == price(items("edges { cursor node { id } }"))
    assert items_price(50, 1) + 2 * TEXT_SEARCH == price(items("nodes { id }", 'text: "boat"'))
    assert 1 + 2 * (STATEMENT + 10 * MEMORY) + 1 + COUNT + COUNT_DERIVED == price(items("totalCount"))
    assert price(items("totalCount")) + 4 * TEXT_SEARCH == price(items("totalCount", 'first: 10, text: "boat"'))


FRAGMENTS = {
    "F": "on Memory { supersedes { id } }",
    "G": "on DerivedMemory { sources { id } }",
    "H": "on MemoryItem { ... on DerivedMemory { revision recordKind } ... on Memory { subject } }",
    "I": "on MemoryItem { ... on DerivedMemory { revision } ... on Memory { subject statement } }",
}


@pytest.mark.parametrize(
    ("selection", "values"),
    [
        ("id ... on Memory { subject statement }", 3),
        ("id ... on Memory { subject } ... on DerivedMemory { revision recordKind }", 3),
        ("id ... on Memory { subject statement } ... on DerivedMemory { revision }", 3),
        ("... on Memory { ... on MemoryItem { id ... on DerivedMemory { revision } } }", 1),
        ("... on MemoryItem { ...F } ...G", 1 + 16 * (MEMORY + 1)),
        ("...H", 2),
        ("...I", 2),
        ("... @skip(if: true) { id } __typename", 1),
    ],
)
def test_an_item_costs_as_much_as_the_dearer_kind_of_record(selection: str, values: int) -> None:
    fragments = [f"fragment {name} {text}" for name, text in FRAGMENTS.items() if f"...{name}" in selection]
    assert items_price(10, values) == price(" ".join([items(f"nodes {{ {selection} }}"), *fragments]))


def test_a_derived_record_with_all_its_values_costs_what_rest_is_charged_for() -> None:
    said = " ".join(to_camel(name) for name in DerivedContentView.model_fields if name != "clauses")
    sources = " ".join(DerivedSourceView.model_fields)
    plain = " ".join(to_camel(name) for name in DerivedView.model_fields if name not in {"content", "sources"})
    everything = f"{plain} content {{ {said} clauses {{ text sourceIds }} }} sources {{ {sources} }}"

    assert 1 + STATEMENT + DERIVED_SHOWN == price(f'{{ derivedMemory(id: "x", ceiling: PUBLIC) {{ {everything} }} }}')
    page = items(f"nodes {{ ... on DerivedMemory {{ {everything} }} ... on Memory {{ {ALL} }} }}".replace("status", ""))
    assert items_price(10, DERIVED_SHOWN - MEMORY - 1) == price(page)


def test_counts_the_overview_and_writes_have_their_price() -> None:
    only_count = 1 + STATEMENT + 50 * MEMORY + 1 + COUNT
    assert only_count == price(page(selection="totalCount"))
    assert only_count + 2 * TEXT_SEARCH == price(page('text: "boat"', "totalCount"))
    assert 2 + OVERVIEW == price("{ memoryOverview(ceiling: PUBLIC) { flaggedForReview } }")
    delete = 'deleteMemory(input: {id: "x", ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId }'
    assert 2 * (WRITE + 2) == price(f"mutation {{ a: {delete} b: {delete} }}")


def test_what_a_directive_takes_away_costs_nothing() -> None:
    query = page("first: 10", "nodes { id supersedes @include(if: $yes) { id } }", "($yes: Boolean = false)")
    assert page_price(10) == price(query) == price(query, {"yes": False})
    assert page_price(10) < price(query, {"yes": True})
    assert page_price(10) == price(page("first: 10", "nodes { id ... @skip(if: true) { supersedes { id } } }"))


def test_the_operation_that_is_meant_is_priced_alone() -> None:
    query = "query A { viewer { scopes } } " + page("first: 200").replace("query Q", "query B")
    assert 6 == price(query, operation="A")
    assert page_price(200) == price(query, operation="B")


def test_a_fragment_is_priced_for_the_page_it_stands_in() -> None:
    query = (
        "{ a: memories(ceiling: PUBLIC, first: 10) { ...F } b: memories(ceiling: PUBLIC, first: 20) { ...F } }"
        " fragment F on MemoryConnection { nodes { ...G } } fragment G on Memory { id }"
    )
    assert page_price(10) + page_price(20) == price(query)


def test_a_page_of_200_with_all_values_and_all_links_is_let_in_and_several_are_not() -> None:
    links = " ".join(f"{name} {{ {ALL} }}" for name in LINKS)
    one = page("first: 200", f"nodes {{ {ALL} {links} }}")
    assert COST_MAX * 0.9 < check(one) <= COST_MAX
    twice = page("first: 200", "nodes { ...F }").replace(
        "query Q {", "query Q { other: memories(ceiling: PUBLIC, first: 200) { nodes { ...F } }"
    )
    with pytest.raises(LimitExceeded, match=f"the limit on cost: it has 1674112, the maximum is {COST_MAX}") as caught:
        check(f"{twice} fragment F on Memory {{ {ALL} {links} }}")
    assert "cost" == caught.value.limit


def test_a_page_of_200_items_with_all_values_and_all_links_is_let_in() -> None:
    links = " ".join(f"{name} {{ {ALL} }}" for name in LINKS)
    assert COST_MAX * 0.9 < check(items(f"nodes {{ ... on Memory {{ {ALL} {links} }} }}", "first: 200")) <= COST_MAX


def test_introspection_is_free_within_a_bound_of_its_own() -> None:
    assert 0 == price(INTROSPECT)
    assert INTROSPECTION == check(INTROSPECT)
    assert INTROSPECTION + 6 == check("{ __schema { queryType { name } } viewer { scopes } }")
    many = " ".join(f"a{index}: __schema {{ types {{ ...F }} }}" for index in range(20))
    kind = "type { name kind ofType { name kind ofType { name kind description } } }"
    names = f"fields {{ name description {kind} args {{ name {kind} }} }} enumValues {{ name description }}"
    with pytest.raises(
        LimitExceeded, match=f"introspection cost: it has [0-9]+, the maximum is {INTROSPECTION_COST_MAX}"
    ):
        check(f"{{ {many} }} fragment F on __Type {{ name description {names} }}")


def test_a_list_that_nobody_sized_up_can_not_be_served() -> None:
    def schema(field: str) -> GraphQLSchema:
        return build_schema(f"type Query {{ {field} }} type Thing {{ name: String }}")

    Pricing(schema("thing: Thing names: [String]"))
    with pytest.raises(KeyError, match=r"Query\.things"):
        Pricing(schema("things: [Thing!]!"))


def test_pricing_is_linear_where_spreads_double() -> None:
    fragments = " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(40))
    document = parse(f"{{ ...F0 }} {fragments} fragment F40 on Query {{ viewer {{ scopes }} }}")
    assert 2**40 * 6 == PRICING.price(document, select_operation(document, None), {}).points


async def test_the_cost_is_told_when_it_is_asked_for(client: Client) -> None:
    query = page("first: 10")
    asked = {"query": query}
    headers = client.headers()
    plain = await client.http.post("/graphql", json=asked, headers=headers)
    assert {"data"} == set(plain.json())
    told = await client.http.post("/graphql", json=asked, headers={**headers, "x-query-cost": "1"})
    expected = {"requested": page_price(10), "maximum": COST_MAX, "remaining": None}
    assert {"cost": expected} == told.json()["extensions"]
    assert plain.json()["data"] == told.json()["data"]
    refused = await client.http.post("/graphql", json=asked, headers={**headers, "x-query-cost": "yes"})
    assert 400 == refused.status_code
    assert "X-Query-Cost must be 1 or 0" == refused.json()["errors"][0]["message"]
