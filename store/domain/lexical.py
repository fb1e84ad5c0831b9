"""Text search: the one tokenizer, and the rules by which a query's terms meet a belief.

Both adapters use these lexemes, for records and for query terms alike, so that they agree by construction. No lexeme
depends on a locale; a change of this module's rules needs a new LEXICAL_VERSION, since lexemes are stored.

Rules of `lexemes`, with the decisions that the documents leave open:

- Text is composed (NFC) and lower-cased, not case folded: `strasse` does not find Straße. A final sigma counts as a
  sigma, because lower() chooses between the two by the neighbours, which a query's term does not have.
- A word is a maximal run of letters, numbers (`½` and `₂` too) and combining marks. Everything else separates,
  apostrophes and underscores included. Markup is text.
- Characters that show nothing (soft hyphen, joiners, variation selectors) are not there: a word is found as it looks.
- Words joined by one of `- . / : @ +` are kept whole and by part, the parts nested. A compound of n words gives at most
  4n lexemes, never one for each of its n² stretches.
- Scripts written without spaces give overlapping pairs of characters, and a run of one character that character. Such a
  run ends where another script begins and joins no compound, so that `GPT-4` is found in `GPT-4を使う`.
- An emoji is one lexeme, together with the joiners, modifiers and tags of its sequence: a family, a flag, a skin tone.
  Variation selectors don't count, so that ❤ finds ❤️; whole lexemes only, so 👍 does not find 👍🏽.
- A lexeme longer than 255 characters is cut to its first 255, in records and queries alike.

Source: Text search: one tokenizer, PostgreSQL's index; belief store decisions, Reading.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from store.domain.normalization import character_class, without_ignorable
from store.domain.people import person_key

LEXICAL_VERSION = f"1+unicode-{unicodedata.unidata_version}"

# 255 characters are at most 1,020 bytes in UTF-8; PostgreSQL takes 2,046, and the adapter adds a prefix.
LEXEME_LENGTH_MAX = 255
# Source of the other limits: belief store decisions, Reading.
TEXT_LENGTH_MAX = 1_024
TERMS_MAX = 64
LEXEMES_MAX = 256

_TERM_LENGTH_MIN = 3
_UNSPACED_TERM_LENGTH_MIN = 2
_TERM_EDGES = ".,:;!?()[]{}\"'"

_MARKS = character_class(lambda category: category.startswith("M"))

# Letters and marks of scripts written without spaces. Their digits are left out: numbers are kept whole.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u3005-\u3007\u3021-\u302d\u3031-\u3035\u3038-\u303c"  # Han: marks and numerals
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han: ideographs
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\uff66-\uff9f\U0001aff0-\U0001b16f"  # half-width and historical kana
)

# Blocks of pictographs without their numbers and brackets: hourglasses and media controls, squares, Miscellaneous
# Symbols and Dingbats, the star and the circle, and the blocks of emoji with what is yet to be assigned there.
_EMOJI = (
    "\u231a\u231b\u23e9-\u23fa\u25fb-\u25fe\u2600-\u2767\u2794-\u27bf\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001faff"
)

# No group is possessive, though nothing behind one could make it give way: Python before 3.11.5 matches such groups
# wrongly, and some of them without end.
_ASCII_COMPOUND = re.compile(r"[a-z0-9]+(?:[-./:@+][a-z0-9]+)*")
# An underscore is part of \w and no part of a word: it is a space by the time this is asked.
_COMPOUND = re.compile(rf"[\w{_MARKS}]++(?:[-./:@+][\w{_MARKS}]++)*")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}][{_UNSPACED}{_MARKS}]*+")
_JOINERS_BY_LEVEL = (re.compile("/"), re.compile("[:@+]"), re.compile("[-.]"))

_REGIONAL_INDICATOR = "[\U0001f1e6-\U0001f1ff]"
_EMOJI_MODIFIERS = f"[{_MARKS}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*+"
# Two arrows (shaking heads) are no emoji of their own here, but members of sequences.
_EMOJI_SEQUENCE = re.compile(
    f"[{_EMOJI}](?:(?<={_REGIONAL_INDICATOR}){_REGIONAL_INDICATOR})?{_EMOJI_MODIFIERS}"
    f"(?:\u200d[{_EMOJI}\u2194\u2195]{_EMOJI_MODIFIERS})*"
)
_VARIATION_SELECTOR = re.compile("[\ufe00-\ufe0f]")


class TextQueryTooLarge(ValueError):
    """A text query beyond its limits. The message names the limit and never echoes the text."""


def _lowered(text: str) -> str:
    # Composed once more, since lower() decomposes İ.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _nested_parts(compounds: Iterable[str]) -> set[str]:
    found = set(compounds)
    for compound in [word for word in found if not word.isalnum()]:
        level = [compound]
        for joiners in _JOINERS_BY_LEVEL:
            level = [part for whole in level for part in joiners.split(whole)]
            found.update(level)
    return found


def _cut(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:LEXEME_LENGTH_MAX] for word in words)


def lexemes(text: str) -> frozenset[str]:
    """The lexemes of a text by the rules of this module; empty for a text without any.

    Each is NFC, free of white space and U+0000, and at most 255 characters long. The time is linear in the text.
    """
    if text.isascii():
        return _cut(_nested_parts(_ASCII_COMPOUND.findall(text.lower())))
    emoji = _EMOJI_SEQUENCE.findall(text)
    if emoji:
        text = _EMOJI_SEQUENCE.sub(" ", text)
    text = _lowered(without_ignorable(text)).replace("ς", "σ").replace("_", " ")
    runs = _UNSPACED_RUN.findall(text)
    if runs:
        text = _UNSPACED_RUN.sub(" ", text)
    found = _nested_parts(_COMPOUND.findall(text))
    found.update(run[start : start + 2] for run in runs for start in range(max(1, len(run) - 1)))
    found.update(unicodedata.normalize("NFC", _VARIATION_SELECTOR.sub("", sequence)) for sequence in emoji)
    return _cut(found)


def record_lexemes(*, subject: str, display_subject: str, statement: str) -> frozenset[str]:
    """The lexemes by which a belief is found: those of its subject and its statement.

    A person's subject is found by its key and the name that is shown, not by the word person.
    Source: belief store decisions, People.
    """
    key = person_key(subject)
    subjects = (subject,) if key is None else (key, display_subject)
    return frozenset().union(*map(lexemes, (*subjects, statement)))


def _split_terms(text: str) -> tuple[str, ...]:
    if len(text) > TEXT_LENGTH_MAX:
        raise TextQueryTooLarge(f"text must have at most {TEXT_LENGTH_MAX} characters")
    words = _lowered(text).split()
    terms = {term for word in words if _is_long_enough(term := word.strip(_TERM_EDGES))}
    if not terms and words:
        terms.add(" ".join(words))
    if len(terms) > TERMS_MAX:
        raise TextQueryTooLarge(f"text must have at most {TERMS_MAX} terms")
    return tuple(sorted(terms))


def _is_long_enough(term: str) -> bool:
    if len(term) >= _TERM_LENGTH_MIN:
        return True
    return len(term) >= _UNSPACED_TERM_LENGTH_MIN and _UNSPACED_CHARACTER.search(term) is not None


def _term_lexemes(terms: Sequence[str]) -> tuple[frozenset[str], ...]:
    found = tuple(lexemes(term) for term in terms)
    if sum(map(len, found)) > LEXEMES_MAX:
        raise TextQueryTooLarge(f"text must have at most {LEXEMES_MAX} words, the parts of compounds included")
    return found


def lexical_query_terms(text: str) -> tuple[str, ...]:
    """The terms of a text query, lower-cased, sorted, each once; empty for blank text, which is no filter.

    Words are stripped of punctuation at both ends and kept from 3 characters on (2 in scripts written without spaces);
    if none remains, the whole collapsed text is the one term.
    Raises: TextQueryTooLarge beyond 1,024 characters, 64 terms, or 256 lexemes over all terms.
    Source: belief store decisions, Reading.
    """
    terms = _split_terms(text)
    _term_lexemes(terms)
    return terms


def lexical_text_matches(document: frozenset[str], terms: Iterable[str]) -> bool:
    """Whether all lexemes of at least one term are among the document's; a term without any lexeme matches nothing."""
    return any(wanted and wanted <= document for wanted in map(lexemes, terms))


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A text filter as both adapters use it: for each term its lexemes, each set once and none of them empty.

    Without any term it matches nothing: that is a text such as `...`, which yields no lexeme. No filter is None.
    """

    terms: tuple[frozenset[str], ...]

    def __post_init__(self) -> None:
        assert all(self.terms), "a term without lexemes would match everything"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The query of a text, None for a blank one. Raises TextQueryTooLarge as lexical_query_terms does."""
        terms = _split_terms(text)
        if not terms:
            return None
        return cls(tuple(dict.fromkeys(filter(None, _term_lexemes(terms)))))

    def matches(self, document: frozenset[str]) -> bool:
        """Whether all lexemes of at least one term are among the document's. Equal to lexical_text_matches."""
        return any(wanted <= document for wanted in self.terms)
