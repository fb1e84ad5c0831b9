"""The one normalization of statements, and what text may hold at all.

Delete, rejection, reinforcement and every formation check compare statements by `normalized`. It is wide on purpose:
what looks the same must not slip past a delete by another spelling. Decisions:

- NFKC, fold, NFKC again: folding decomposes (ǰ, ΐ) and is not to leave text that NFKC would still change. A second
  fold changes nothing: folding a character in NFKC gives folded characters without a compatibility mapping, and folding
  keeps canonical equivalence once NFKC has put the iota subscript, which folds to a letter, behind all other marks.
- Ignorable characters go first. A combining grapheme joiner keeps marks from composing; removed after NFKC, it would
  leave text that is no longer NFKC.
- Ignorable are all format characters (Cf) and Unicode's other Default_Ignorable_Code_Points: combining grapheme joiner,
  Hangul fillers, variation selectors, tags. So an emoji family is the same as its members one after the other, and a
  flag made of tags the same as the black flag; like `Maßen` and `Massen`, these block each other.
- A zero-width space joins: `foo`, zero-width space, `bar` is `foobar`, as a reader sees it.

Unicode never changes the folding or NFKC form of an assigned character. A statement in characters younger than this
Python's tables may normalize differently under a later Python.

Source: belief store decisions, Review and delete.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

# Planes 2 and above, but for the tags, hold no marks and no format characters.
_SCANNED_CODE_POINTS = (range(0x20000), range(0xE0000, 0xE1000))

# Default_Ignorable_Code_Point beyond category Cf. The plane of tags is ignorable as a whole, unassigned ones included.
_IGNORABLE_BEYOND_FORMAT = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)

_ILL_FORMED = re.compile(r"[\x00\ud800-\udfff]")


def character_class(belongs: Callable[[str], bool]) -> str:
    """The characters of the general categories for which `belongs` holds, as the body of a regular expression's class.

    `belongs` is asked with a category of two letters, such as `Mn`. It serves for marks and format characters alone:
    nothing is escaped, and planes 2 and above are not scanned.
    """
    ranges: list[list[int]] = []
    for category, first, last in _runs():
        if belongs(category):
            if ranges and ranges[-1][1] == first - 1:
                ranges[-1][1] = last
            else:
                ranges.append([first, last])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _runs() -> tuple[tuple[str, int, int], ...]:
    """The scanned code points as runs of one category: it, the first of the run, and its last."""
    # Once, and the calls in C: every start waits for it.
    runs = []
    for scanned in _SCANNED_CODE_POINTS:
        first, former = scanned.start, unicodedata.category(chr(scanned.start))
        for code_point, category in zip(scanned, map(unicodedata.category, map(chr, scanned)), strict=True):
            if category != former:
                runs.append((former, first, code_point - 1))
                first, former = code_point, category
        runs.append((former, first, scanned.stop - 1))
    return tuple(runs)


_IGNORABLE = re.compile(f"[{character_class('Cf'.__eq__)}{_IGNORABLE_BEYOND_FORMAT}]")


def without_ignorable(text: str) -> str:
    """The text without format characters and the other characters that show nothing."""
    return text if text.isascii() else _IGNORABLE.sub("", text)


def normalized(text: str) -> str:
    """The text by which statements are compared: NFKC, case folded, without ignorables, white space collapsed.

    Idempotent. Text of nothing but ignorable characters and white space becomes empty.
    Source: belief store decisions, Review and delete.
    """
    folded = unicodedata.normalize("NFKC", without_ignorable(text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def well_formed(text: str) -> bool:
    """Whether the text holds neither U+0000 nor a lone surrogate: PostgreSQL and UTF-8 can hold neither.

    Source: belief store decisions, The record.
    """
    return _ILL_FORMED.search(text) is None
