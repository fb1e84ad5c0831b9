"""The normalization of statements, and what text may hold."""

import re
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.domain.normalization import character_class, normalized, well_formed, without_ignorable

# Characters that compose, fold, expand or vanish, so that short random texts meet the hard cases.
TRICKY_CHARACTERS = st.sampled_from(
    "aAsSiIıİßẞſKKÅΑαΣσςΐᾳᾼ\u0345\u0301\u0307\u0308\u0316\u0323\u034f\u200b\u200d\u00ad\ufe0f\ufeff\u3164\uffa0"
    "´¨ﬀﬁⅷⅧ½²ＡｶﾞがカハハングÀ가\u1100\u1161\u11a8ǅŉẖ \u00a0\u2003\u3000\n\u0085👍🏽👨🇫"
)
TEXTS = st.one_of(st.text(TRICKY_CHARACTERS, max_size=12), st.text(max_size=30))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Likes  Tea", "likes tea"),
        (" likes\ttea \n", "likes tea"),
        ("likes\u00a0tea\u3000daily", "likes tea daily"),
        ("Cafe\u0301", "café"),
        ("ＬＩＫＥＳ ｶﾞﾑ", "likes ガム"),
        ("ﬁne", "fine"),
        ("x²", "x2"),
        ("ΟΔΌΣ οδός", "οδόσ οδόσ"),
        ("İ", "i\u0307"),
        ("li\u00adkes\u200b te\u200da\ufeff", "likes tea"),
        ("\u202eevil\u202c", "evil"),
        ("a\u034f\u0301", "á"),
        ("葛\U000e0100", "葛"),
        ("I ❤\ufe0f tea", "i ❤ tea"),
        ("👨\u200d👩\u200d👧", "👨👩👧"),
        ("\u3164\uffa0\u200b \u2060", ""),
        ("", ""),
        ("α\u0345\u0301", "άι"),
    ],
)
def test_a_text_is_compared_by_its_folded_form(text: str, expected: str) -> None:
    assert expected == normalized(text)


def test_massen_with_either_spelling_is_one_statement_by_decision() -> None:
    assert normalized("Maßen") == normalized("MASSEN") == normalized("Massen")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("likes tea", "likes teas"),
        ("まつ", "まっ"),
        ("か", "が"),
        ("и", "й"),
        ("a", "á"),
        ("👍", "👍🏽"),
        ("tea.", "tea"),
    ],
)
def test_what_reads_differently_stays_apart(one: str, other: str) -> None:
    assert normalized(one) != normalized(other)


@pytest.mark.parametrize("first_letter", ["M", "C"])
def test_a_class_holds_every_character_of_its_categories(first_letter: str) -> None:
    ranges = re.compile(r"(.)-(.)", re.DOTALL).findall(
        character_class(lambda category: category.startswith(first_letter) and category != "Cs")
    )
    held = {code_point for first, last in ranges for code_point in range(ord(first), ord(last) + 1)}

    assert held == {
        code_point
        for code_point in (*range(0x20000), *range(0xE0000, 0xE1000))
        if (category := unicodedata.category(chr(code_point))).startswith(first_letter) and category != "Cs"
    }
    # Two that touch would be one.
    assert [] == [first for first, _ in ranges if ord(first) - 1 in held]


def test_a_single_character_is_normalized_for_good() -> None:
    for code_point in range(sys.maxunicode + 1):
        once = normalized(chr(code_point))
        assert once == normalized(once), hex(code_point)


def test_folding_a_character_in_nfkc_leaves_nothing_to_fold_or_map() -> None:
    for code_point in range(sys.maxunicode + 1):
        folded = unicodedata.normalize("NFKC", chr(code_point)).casefold()
        assert folded == folded.casefold(), hex(code_point)
        assert unicodedata.normalize("NFD", folded) == unicodedata.normalize("NFKD", folded), hex(code_point)


@given(TEXTS)
@example("´a")
@example("a\u034f\u0301\u0316")
@example("ᾳ\u0301\u0345")
def test_a_text_is_normalized_for_good(text: str) -> None:
    once = normalized(text)
    assert once == normalized(once)
    assert unicodedata.is_normalized("NFKC", once)
    assert once == without_ignorable(once)
    assert once == " ".join(once.split())


@given(TEXTS)
@example("ᾳ\uff9e")
@example("\u0345\u0316")
def test_spelling_does_not_matter(text: str) -> None:
    expected = normalized(text)
    assert expected == normalized(unicodedata.normalize("NFD", text))
    assert expected == normalized(unicodedata.normalize("NFKC", text))
    assert expected == normalized(without_ignorable(text))
    assert expected == normalized(unicodedata.normalize("NFKC", without_ignorable(text)).casefold())
    assert expected == normalized(f"\u200b {text}\n")


@pytest.mark.parametrize("text", ["", "plain", "\x01\x7f", "é\ufffe", "👨\u200d👩", "\ud7ff\ue000"])
def test_text_that_the_database_can_hold_is_well_formed(text: str) -> None:
    assert well_formed(text)


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "a\udfff", "\udc00\ud800"])
def test_text_with_u0000_or_a_lone_surrogate_is_not_well_formed(text: str) -> None:
    assert not well_formed(text)
