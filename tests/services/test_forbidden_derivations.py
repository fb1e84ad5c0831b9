"""Derivations beside what forbids them: no spelling and no race brings back, or leaves, what was deleted."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.service.errors import NotFound
from store.domain.deriving import DerivationOutcome
from store.domain.memories import InvalidRecord
from store.domain.vocabulary import ReviewOutcome
from store.inmemory.store import InMemoryStore
from tests.factories import candidate
from tests.services.deployment import ADA, Deployment
from tests.services.derivations import proposal

BEES, BOATS = "Keeps bees", "Keeps a rowing boat"


async def test_two_derivations_at_once_make_one_record(deployment: Deployment) -> None:
    bees, boats = [await deployment.formed(candidate(text)) for text in (BEES, BOATS)]

    results = await asyncio.gather(
        *(deployment.derivation.derive(ADA, proposal((BEES, [bees]), (BOATS, [boats]))) for _ in range(4))
    )

    assert 1 == len(await deployment.stored_derived())
    assert 1 == len({result.id for result in results})
    outcomes = sorted(result.outcome for result in results)
    assert [DerivationOutcome.DERIVED] + [DerivationOutcome.UNCHANGED] * 3 == outcomes


def respelled(text: str) -> st.SearchStrategy[str]:
    """The text in another case and with other white space."""
    words = text.split()
    cases = st.sampled_from([str.upper, str.lower, str.title, str.swapcase])
    gaps = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0", "\u200b "])

    @st.composite
    def spelled(draw: st.DrawFn) -> str:
        return draw(gaps).join(draw(cases)(word) for word in words)

    return spelled()


@given(data=st.data(), forbidding=st.sampled_from(["untrue", "delete"]))
@settings(suppress_health_check=[HealthCheck.too_slow])
async def test_a_forbidden_derivation_does_not_come_back_by_another_spelling(
    data: st.DataObject, forbidding: str
) -> None:
    deployment = await Deployment(InMemoryStore()).prepare()
    texts = data.draw(st.lists(st.sampled_from([BEES, BOATS, "Cooks", "Drinks tea"]), min_size=1, unique=True))
    ids = [await deployment.formed(candidate(text)) for text in texts]
    first = await deployment.derived_id(proposal(*((text, [id]) for text, id in zip(texts, ids, strict=True))))
    if forbidding == "untrue":
        await deployment.review_derived(first, ReviewOutcome.UNTRUE)
    else:
        await deployment.delete(first)

    order = data.draw(st.permutations(texts))
    repeated = order + data.draw(st.lists(st.sampled_from(order), max_size=2))
    spelled = [data.draw(respelled(text)) for text in repeated]
    # Beliefs that say it as it is spelled now, of another subject, so that no clause is refused for its words.
    said = {
        text: await deployment.formed(candidate(text, subject=f"Ada {number}")) for number, text in enumerate(spelled)
    }
    wish = proposal(*((text, [said[text]]) for text in spelled), omitted=ids, subject="Somebody else")
    assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome
    assert all(record.content is None for record in await deployment.stored_derived())


async def test_a_deletion_beside_a_derivation_leaves_nothing_of_the_statement(deployment: Deployment) -> None:
    for round in range(8):
        text = f"Keeps bees {round}"
        bees, boats = await deployment.formed(candidate(text)), await deployment.formed(candidate(f"{BOATS} {round}"))
        below = await deployment.derived_id(proposal((text, [bees]), (f"{BOATS} {round}", [boats])))

        wishes = [proposal((text, [bees])), proposal((text, [below]))]
        results = await asyncio.gather(
            deployment.delete(bees),
            *(deployment.derivation.derive(ADA, wish) for wish in wishes),
            return_exceptions=True,
        )

        assert bees == results[0]
        assert all(not isinstance(result, Exception) or isinstance(result, InvalidRecord) for result in results[1:])
        assert all(record.content is None for record in await deployment.stored_derived())


async def test_a_deleted_record_beside_a_derivation_over_it_leaves_nothing(deployment: Deployment) -> None:
    for round in range(8):
        text = f"Keeps bees {round}"
        bees = await deployment.formed(candidate(text))
        boats = await deployment.formed(candidate(f"{BOATS} {round}"))
        below = await deployment.derived_id(proposal((text, [bees])))

        results = await asyncio.gather(
            deployment.delete(below),
            deployment.derivation.derive(ADA, proposal((text, [below]), (f"{BOATS} {round}", [boats]))),
            return_exceptions=True,
        )

        assert below == results[0]
        assert all(record.content is None for record in await deployment.stored_derived())
        with pytest.raises(NotFound):
            await deployment.delete(below)
