"""The extractive method: whatever the records say, a summary over them keeps its bounds and their words."""

from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from store.domain.derived import CLAUSES_MAX, SOURCES_MAX, STATEMENT_RENDERED_MAX
from store.domain.normalization import normalized
from store.domain.summaries import Extract, extractive_proposal, newest_fitting
from tests.factories import NOW, identifier

texts = st.one_of(
    st.sampled_from(["Keeps bees", "KEEPS bees", "Sails", ""]),
    st.integers(1, 1_100).map("x".__mul__),
)


def extract(id: UUID, said: list[str], *, days: int = 0, ancestor_count: int = 0, subject: str = "Ada") -> Extract:
    return Extract(
        id=id,
        subject=subject,
        texts=tuple(said),
        at=NOW + timedelta(days=days),
        place=str(id),
        ancestor_count=ancestor_count,
    )


@given(st.lists(st.lists(texts, max_size=CLAUSES_MAX), min_size=1, max_size=SOURCES_MAX))
def test_a_summary_keeps_its_bounds_and_the_words_of_its_sources(said: list[list[str]]) -> None:
    extracts = [extract(identifier(number), each) for number, each in enumerate(said)]

    proposal = extractive_proposal(extracts, evidence_ref="all")

    fitting = {normalized(text) for each in said for text in each if text and len(text) <= STATEMENT_RENDERED_MAX}
    if proposal is None:
        assert not fitting
        return
    assert tuple(each.id for each in extracts) == proposal.source_ids
    assert 1 <= len(proposal.clauses) <= min(CLAUSES_MAX, len(fitting))
    assert len(" ".join(proposal.texts)) <= STATEMENT_RENDERED_MAX
    assert len({normalized(text) for text in proposal.texts}) == len(proposal.clauses)
    for clause in proposal.clauses:
        assert [each.id for each in extracts if clause.text in each.texts] == list(clause.source_ids) != []
    left = fitting - {normalized(text) for text in proposal.texts}
    room = STATEMENT_RENDERED_MAX - len(" ".join(proposal.texts)) - 1
    assert len(proposal.clauses) == CLAUSES_MAX or all(len(text) > room for text in left)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=24), st.integers(1, 64))
def test_the_newest_that_fit_are_chosen_until_one_does_not(said: list[tuple[int, int]], ancestors_max: int) -> None:
    extracts = [
        extract(identifier(number), ["x"], days=days, ancestor_count=count) for number, (days, count) in enumerate(said)
    ]

    chosen = newest_fitting(extracts, ancestors_max=ancestors_max)

    newest_first = sorted(extracts, key=lambda each: (each.at, each.place), reverse=True)
    assert newest_first[: len(chosen)] == chosen[::-1]
    cost = sum(1 + each.ancestor_count for each in chosen)
    assert cost <= ancestors_max
    assert len(chosen) <= SOURCES_MAX
    if len(chosen) < min(len(extracts), SOURCES_MAX):
        assert cost + 1 + newest_first[len(chosen)].ancestor_count > ancestors_max


def test_a_summary_is_about_what_most_of_its_sources_are_about() -> None:
    subjects = ["Bo", "Ada", "Cy", "Ada", "Cy"]
    extracts = [extract(identifier(number), [f"Fact {number}"], subject=each) for number, each in enumerate(subjects)]

    proposal = extractive_proposal(extracts, evidence_ref="all")

    assert proposal is not None
    assert "Ada" == proposal.subject
