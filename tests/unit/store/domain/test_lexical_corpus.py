"""The tokenizer beside PostgreSQL's own parser, over a corpus of tricky texts.

A text row holds the lexemes of `to_tsvector('simple', text)`; a match row whether `plainto_tsquery('simple', term)`
matches subject and statement, both under PostgreSQL's default configuration. The rows where ours differ, they differ by
the tokenizer's documented rules: compounds, signs, markup, symbols, scripts written without spaces.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from store.domain.lexical import lexemes, lexical_text_matches

CORPUS = Path(__file__).parents[3] / "data" / "lexical_corpus.jsonl"
JOINER_BESIDE_A_WORD = re.compile(r"[a-zA-Z0-9][-./:@+][a-zA-Z0-9]")
SIGN_PATH_OR_MARKUP = re.compile(r"[-+/~][a-zA-Z0-9]|[<&]|\.\.")


def corpus(kind: str) -> Iterator[dict[str, Any]]:  # rows of JSON, of two shapes
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == kind:
            yield row


def is_plain(text: str) -> bool:
    """Whether PostgreSQL's parser has no reading of its own for the text, as for `..`, which is a path to it."""
    return text.isascii() and text != ".." and not JOINER_BESIDE_A_WORD.search(text)


def test_plain_words_are_those_of_postgresql() -> None:
    compared = 0
    for row in corpus("text"):
        if row["category"] in {"words", "apostrophes"} and is_plain(row["text"]):
            assert set(row["tsvector_lexemes"]) == lexemes(row["text"]), row["text"]
            compared += 1
    assert compared == 76


def test_the_corpus_is_tokenized_without_exception() -> None:
    rows = list(corpus("text"))
    assert len(rows) == 781
    for row in rows:
        assert all(lexeme == lexeme.strip() for lexeme in lexemes(row["text"]))


def test_plain_triples_match_as_in_postgresql() -> None:
    compared = 0
    for row in corpus("match"):
        texts = (row["subject"], row["statement"], row["term"])
        if all(is_plain(text) and not SIGN_PATH_OR_MARKUP.search(text) for text in texts):
            document = lexemes(row["subject"]) | lexemes(row["statement"])
            assert row["match"] == lexical_text_matches(document, [row["term"]]), row
            compared += 1
    assert compared == 34


def test_a_triples_term_is_found_in_its_own_text() -> None:
    for row in corpus("match"):
        found = bool(lexemes(row["term"]))
        assert found == lexical_text_matches(lexemes(f"{row['statement']} {row['term']}"), [row["term"]])
