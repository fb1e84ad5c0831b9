"""The tokenizer, the terms of a text query, and when a belief matches."""

import re
import sys
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from store.domain.lexical import (
    LEXEME_LENGTH_MAX,
    LEXEMES_MAX,
    LEXICAL_VERSION,
    TERMS_MAX,
    TEXT_LENGTH_MAX,
    TextQuery,
    TextQueryTooLarge,
    lexemes,
    lexical_query_terms,
    lexical_text_matches,
    record_lexemes,
)
from store.domain.normalization import without_ignorable

STATEMENT_LENGTH_MAX = 8_192

TRICKY_CHARACTERS = st.sampled_from(
    "abcXYZ019_'’-./:@+<>()[]{}\"!?;, \t\n\u00a0\u3000ßẞİıΣσςéÀ\u0301\u0316\u0323\u0345"
    "\u034f\u00ad\u200b\u200c\u200d\ufe0f"
    "½²₂Ⅷ٣日本語々〆カタカナーがｶﾞ\u3099・。ไทยำ่๕ລາວភាសាខ្មែរမြန်မာ한국어हिन्दीК❤👍🏽👨👩👧🇫🇷🏴\U000e0067\U000e007f↔#⃣\x00\ud800"
)
TEXTS = st.one_of(st.text(TRICKY_CHARACTERS, max_size=30), st.text(max_size=60))


def matches(statement: str, text: str) -> bool:
    query = TextQuery.parse(text)
    assert query is not None
    return query.matches(lexemes(statement))


# The tokenizer's documented rules


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello World", ["hello", "world"]),
        ("...", []),
        ("foo_bar __init__", ["foo", "bar", "init"]),
        ("don't O’Brien 'tis", ["don", "t", "o", "brien", "tis"]),
        ("“hello” «quote» „low“", ["hello", "quote", "low"]),
        ("a<b and c>d", ["a", "b", "and", "c", "d"]),
        ("<b>bold</b> &amp; more", ["b", "bold", "amp", "more"]),
        ("e-mail", ["e-mail", "e", "mail"]),
        ("and/or", ["and/or", "and", "or"]),
        ("node.js", ["node.js", "node", "js"]),
        ("COVID-19", ["covid-19", "covid", "19"]),
        ("example.com/a", ["example.com/a", "example.com", "example", "com", "a"]),
        (
            "User+Tag@Example.com",
            ["user+tag@example.com", "user", "tag", "example.com", "example", "com"],
        ),
        (
            "https://a-b.org:80/x/y.z",
            ["https", "a-b.org:80/x/y.z", "a-b.org:80", "a-b.org", "a", "b", "org", "80", "x", "y.z", "y", "z"],
        ),
        ("state-of-the-art", ["state-of-the-art", "state", "of", "the", "art"]),
        ("a--b c- -d C++ .net e.g.", ["a", "b", "c", "d", "net", "e.g", "e", "g"]),
        ("foo - bar", ["foo", "bar"]),
        ("1,000.50 -1.5", ["1", "000.50", "000", "50", "1.5", "5"]),
        ("x² ½ CO₂ Ⅷ ٣", ["x²", "½", "co₂", "ⅷ", "٣"]),
    ],
)
def test_words_are_found_whole_and_by_part(text: str, expected: list[str]) -> None:
    assert set(expected) == lexemes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CAFE\u0301", ["café"]),
        ("Größe STRASSE Straße", ["größe", "strasse", "straße"]),
        ("ΟΔΌΣ οδός", ["οδόσ"]),
        ("ΑΣ.ΒΣ", ["ασ.βσ", "ασ", "βσ"]),
        ("İstanbul", ["i\u0307stanbul"]),
        ("हिन्दी", ["हिन्दी"]),
        ("한국어-텍스트", ["한국어-텍스트", "한국어", "텍스트"]),
        ("ＡＢｃ", ["ａｂｃ"]),
        ("so\u00adft a\u200bb می\u200cخواهم a\ufe0fb a\u034f\u0301", ["soft", "ab", "میخواهم", "á"]),
        ("\u200b\u3164\ufe0f", []),
        ("a\u0378b \ue000", ["a", "b"]),
        ("a\x00b\ud800c", ["a", "b", "c"]),
    ],
)
def test_letters_of_every_script_make_words(text: str, expected: list[str]) -> None:
    assert set(expected) == lexemes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("猫", ["猫"]),
        ("日本、東京。", ["日本", "東京"]),
        ("カタカナ・テスト", ["カタ", "タカ", "カナ", "テス", "スト"]),
        ("ｶﾀｶﾅ", ["ｶﾀ", "ﾀｶ", "ｶﾅ"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ລາວ", ["ລາ", "າວ"]),
        ("ខ្មែរ", ["ខ្", "្ម", "មែ", "ែរ"]),
        ("မြန်", ["မြ", "ြန", "န်"]),
        ("日本-語", ["日本", "語"]),
        ("GPT-4を使う", ["gpt-4", "gpt", "4", "を使", "使う"]),
        ("T恤", ["t", "恤"]),
        ("๒๕๖๗ ปี", ["๒๕๖๗", "ปี"]),
        ("ปีพ.ศ.๒๕๖๗", ["ปี", "ีพ", "ศ", "๒๕๖๗"]),
        ("葛\U000e0100城", ["葛城"]),
        ("か\u3099き", ["がき"]),
    ],
)
def test_scripts_without_spaces_give_overlapping_pairs(text: str, expected: list[str]) -> None:
    assert set(expected) == lexemes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a😀b", ["a", "😀", "b"]),
        ("😀😀👍", ["😀", "👍"]),
        ("I ❤\ufe0f you", ["i", "❤", "you"]),
        ("👍🏽", ["👍🏽"]),
        ("👨\u200d👩\u200d👧 👨", ["👨\u200d👩\u200d👧", "👨"]),
        ("❤\ufe0f\u200d🔥", ["❤\u200d🔥"]),
        ("🙂\u200d↔\ufe0f", ["🙂\u200d↔"]),
        ("🇫🇷🇩🇪🇫", ["🇫🇷", "🇩🇪", "🇫"]),
        ("🏴\U000e0067\U000e0062\U000e007f!", ["🏴\U000e0067\U000e0062\U000e007f"]),
        ("1\ufe0f\u20e3", ["1\u20e3"]),
        ("😀\u200d a", ["😀", "a"]),
        ("🀄🃏⌛⭐✓", ["🀄", "🃏", "⌛", "⭐", "✓"]),
        ("➀ 🄁", ["➀", "🄁"]),
        ("a→b © ™ € °", ["a", "b"]),
    ],
)
def test_an_emoji_sequence_is_one_lexeme(text: str, expected: list[str]) -> None:
    assert set(expected) == lexemes(text)


def test_every_letter_and_number_joins_a_word_but_for_scripts_without_spaces() -> None:
    unspaced = ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA", "THAI", "LAO", "KHMER", "MYANMAR")
    shared_by_these = ("IDEOGRAPHIC", "VERTICAL KANA", "VERTICAL IDEOGRAPHIC", "HANGZHOU", "MASU MARK")
    for code_point in range(0x80, sys.maxunicode + 1):
        character = unicodedata.normalize("NFC", chr(code_point).lower())
        if len(character) == 1 and character.isalnum() and character != "ς" and without_ignorable(character):
            name, category = unicodedata.name(character, ""), unicodedata.category(character)
            parts = name.startswith((*unspaced, *shared_by_these)) and category not in {"Nd", "No"}
            assert ({"a", character, "b"} if parts else {f"a{character}b"}) == lexemes(f"a{character}b"), name


def test_a_long_lexeme_is_cut_alike_in_record_and_query() -> None:
    assert {"x" * 255} == lexemes("x" * 255) == lexemes("x" * 256)
    assert {"é" * 255} == lexemes("É" * 1_000)
    assert matches("x" * 300, "x" * 400)
    assert not matches("x" * 254, "x" * 255)
    compound = "y" * 200 + "." + "z" * 300
    assert {compound[:255], "y" * 200, "z" * 255} == lexemes(compound)


def test_the_version_names_the_unicode_tables() -> None:
    assert LEXICAL_VERSION.endswith(unicodedata.unidata_version)


# The tokenizer's properties


@given(TEXTS)
def test_a_lexeme_fits_the_index(text: str) -> None:
    for lexeme in lexemes(text * 20):
        assert 1 <= len(lexeme) <= LEXEME_LENGTH_MAX
        assert len(lexeme.encode()) <= 2_046
        assert unicodedata.is_normalized("NFC", lexeme)
        assert "\x00" not in lexeme
        assert [lexeme] == lexeme.split()


@given(TEXTS)
@example("a\u0316\u0301👍\u0316\u0301🏽")
def test_spelling_does_not_matter(text: str) -> None:
    expected = lexemes(text)
    assert expected == lexemes(text)
    assert expected == lexemes(unicodedata.normalize("NFC", text))
    assert expected == lexemes(unicodedata.normalize("NFD", text))
    assert expected == lexemes(text.lower())
    assert expected == lexemes(f"\n{text} ")


@given(TEXTS, TEXTS)
def test_white_space_parts_texts(one: str, other: str) -> None:
    assert lexemes(one) | lexemes(other) == lexemes(f"{one}\n{other}")


@given(st.text(max_size=200))
def test_ascii_and_other_text_follow_the_same_rules(text: str) -> None:
    ascii_text = text.encode("ascii", "replace").decode()
    assert lexemes(ascii_text) | {"é"} == lexemes(f"{ascii_text} é")


@given(st.text("abz019-./:@+_", max_size=40))
def test_each_part_of_a_compound_is_found(text: str) -> None:
    found = lexemes(text)
    for lexeme in found:
        assert lexemes(lexeme) <= found
    assert set(re.findall("[a-z0-9]+", text)) <= found


@given(st.text("東京タワー日本語猫ไทย", min_size=2, max_size=20), st.data())
def test_a_word_is_found_inside_a_run(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 2, len(text)))
    assert lexemes(text[start:end]) <= lexemes(f"GPT-4{text}。")


@pytest.mark.parametrize(
    "stretch",
    ["{0}.", "{0}-", "{0}/", "{0}:{0}.{0}/", "{0}é.", "-.", ".", "'", "日", "\u0301", "\u200b", "🇫", "👍\u200d"],
)
def test_pathological_text_gives_few_lexemes(stretch: str) -> None:
    text = "".join(stretch.format(chr(0x250 + number % 80)) for number in range(STATEMENT_LENGTH_MAX))
    found = lexemes(text[:STATEMENT_LENGTH_MAX])
    assert len(found) <= STATEMENT_LENGTH_MAX
    assert sum(map(len, found)) <= 8 * STATEMENT_LENGTH_MAX


@pytest.mark.parametrize("joiner", ["", ".", "/", " "])
def test_a_statement_of_distinct_characters_fits_a_tsvector(joiner: str) -> None:
    text = joiner.join(chr(0x20000 + number) for number in range(STATEMENT_LENGTH_MAX))[:STATEMENT_LENGTH_MAX]
    # Nine characters of prefix, an entry of four bytes, and alignment.
    assert sum(len(lexeme.encode()) + 9 + 4 + 1 for lexeme in lexemes(text)) < 1 << 20


# Records


def test_a_record_is_found_by_subject_and_statement() -> None:
    found = record_lexemes(subject="Coffee habits", display_subject="Coffee habits", statement="Drinks espresso.")
    assert {"coffee", "habits", "drinks", "espresso"} == found


def test_a_person_is_found_by_key_and_shown_name() -> None:
    found = record_lexemes(subject="person:ana-1", display_subject="Ana Ng", statement="Likes tea")
    assert {"ana-1", "ana", "1", "ng", "likes", "tea"} == found


# Terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" \t\n\u3000", ()),
        ("Tea", ("tea",)),
        ("tea Coffee TEA", ("coffee", "tea")),
        ("(Tea), \"coffee\"! {'x'}", ("coffee", "tea")),
        ("a green tea", ("green", "tea")),
        ("a b", ("a b",)),
        ("  A   b ", ("a b",)),
        ("...", ("...",)),
        ("C++", ("c++",)),
        ("東京 茶", ("東京",)),
        ("茶", ("茶",)),
        ("T恤 ab", ("t恤",)),
        ("Straße", ("straße",)),
        ("👍", ("👍",)),
        ("cafe\u0301s e\u0301t", ("cafés",)),
    ],
)
def test_terms_are_stripped_kept_sorted_and_deduplicated(text: str, expected: tuple[str, ...]) -> None:
    assert expected == lexical_query_terms(text)


def test_the_limits_themselves_are_allowed() -> None:
    assert len(lexical_query_terms("x" * TEXT_LENGTH_MAX)) == 1
    assert len(lexical_query_terms(" ".join(f"t{number:02}" for number in range(TERMS_MAX)))) == TERMS_MAX
    assert len(lexical_query_terms("same " * 200)) == 1
    assert len(lexemes("ab-" * 85)) == 2
    query = TextQuery.parse(".".join(f"{number:02}" for number in range(LEXEMES_MAX - 1)))
    assert query is not None
    assert [LEXEMES_MAX] == [len(term) for term in query.terms]


@pytest.mark.parametrize(
    ("text", "exceeded"),
    [
        ("x" * (TEXT_LENGTH_MAX + 1), "1024 characters"),
        (" " * (TEXT_LENGTH_MAX + 1), "1024 characters"),
        (" ".join(f"t{number:02}" for number in range(TERMS_MAX + 1)), "64 terms"),
        (".".join(f"{number:02x}" for number in range(LEXEMES_MAX)), "256 words"),
    ],
)
def test_a_text_beyond_a_limit_is_refused_by_its_name(text: str, exceeded: str) -> None:
    with pytest.raises(TextQueryTooLarge, match=exceeded):
        lexical_query_terms(text)
    with pytest.raises(TextQueryTooLarge, match=exceeded):
        TextQuery.parse(text)


# Matching


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Reads example.com/a daily", "example.com"),
        ("Reads example.com/a daily", "EXAMPLE"),
        ("Writes to user+tag@example.com", "tag"),
        ("Had covid-19", "covid"),
        ("Loves node.js", "node.js!"),
        ("a<b and c>d", "b c"),
        ("“hello”", "hello"),
        ("I moved to 東京都港区", "東京"),
        ("日本のGPT-4を使う", "GPT-4"),
        ("Straße", "STRAßE"),
        ("ΟΔΌΣ", "οδός"),
        ("tea or coffee", "milk tea"),
        ("I ❤\ufe0f tea", "❤"),
    ],
)
def test_a_belief_is_found(statement: str, text: str) -> None:
    assert matches(statement, text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Apple", "app"),
        ("theme", "themes"),
        ("themes", "theme"),
        ("Straße", "strasse"),
        ("...", "..."),
        ("user@example.com", "user@example.org"),
        ("an e of mail", "e-mail"),
        ("a c", "a b"),
        ("👍🏽", "👍"),
    ],
)
def test_a_belief_is_not_found(statement: str, text: str) -> None:
    assert not matches(statement, text)


def test_blank_text_is_no_filter() -> None:
    assert TextQuery.parse(" \n") is None


def test_text_without_a_lexeme_matches_nothing() -> None:
    query = TextQuery.parse("... --- !!!")
    assert TextQuery(()) == query
    assert query is not None
    assert not query.matches(frozenset())
    assert not query.matches(lexemes("... anything"))


def test_a_term_without_a_lexeme_leaves_the_others() -> None:
    assert TextQuery((frozenset({"tea"}),)) == TextQuery.parse("---- tea tea- ====")


def test_a_query_holds_no_term_that_matches_everything() -> None:
    with pytest.raises(AssertionError):
        TextQuery((frozenset(),))


@given(TEXTS)
@example("\"'\u0301a b c")
@example("I\u034f\u0307 İ\u0323 ΑΣ.Β")
def test_a_text_is_found_by_each_of_its_own_terms(text: str) -> None:
    document = lexemes(text)
    for term in lexical_query_terms(text):
        assert bool(lexemes(term)) == lexical_text_matches(document, [term])


@given(TEXTS, TEXTS)
def test_a_query_matches_as_its_terms_do(statement: str, text: str) -> None:
    query = TextQuery.parse(text)
    assume(query is not None)
    assert query is not None
    terms = lexical_query_terms(text)
    for document in (lexemes(statement), lexemes(f"{statement} {text}")):
        assert lexical_text_matches(document, terms) == query.matches(document)
