"""The two sequences of the store, drawn on in statements of their own or where a write is admitted, never in an UPDATE.

A sequence can't be raised safely: it is looked at and then set, and whoever draws in between would see his number given
out again. A lock that all writers share would make each of them wait for imports. So an import sets the sequence far
ahead of what it needs: others would have to draw that many numbers within one statement for the sequence to turn back.
Only imports may meet each other there, and they take turns.
Source: Growing past one machine.
"""

from collections import deque

from sqlalchemy import text

from store.postgres.sessions import Session

_NEXT_OF_BOTH = text("""
    select nextval('belief_positions'), nextval('event_numbers') from generate_series(1, CAST(:count AS integer))
""")
_NEXT_NUMBER = text("select nextval('event_numbers')")
_NEXT_NUMBERS = text("select nextval('event_numbers') from generate_series(1, CAST(:count AS integer))")
_HANDS_OUT = "last_value + CAST(is_called AS integer) <= CAST(:number AS bigint)"
_WOULD_HAND_OUT = text(f"select true from event_numbers where {_HANDS_OUT}")
_TAKE_TURN = text("select pg_advisory_xact_lock(hashtextextended('event_numbers', 0))")
_RISE_ABOVE = text(
    f"select setval('event_numbers', CAST(:number AS bigint) + CAST(:ahead AS bigint)) from event_numbers "
    f"where {_HANDS_OUT}"
)

NUMBERS_AHEAD = 2**32
"""How far beyond an imported number the journal goes on: at a million numbers a second it lasts for an hour, and no
statement does."""


class Sequences:
    """Fresh numbers for one transaction.

    Whoever takes positions writes that many events as a rule, so their numbers come with the positions, in one round
    trip; those that remain unused are gaps.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._numbers: deque[int] = deque()

    async def next_positions(self, count: int) -> list[int]:
        """Fresh positions of beliefs, ascending."""
        drawn = await self._session.fetch(_NEXT_OF_BOTH, {"count": count})
        self._numbers.extend(sorted(row[1] for row in drawn))
        return sorted(row[0] for row in drawn)

    async def next_number(self) -> int:
        """A fresh number of the journal, above all that this transaction took."""
        if not self._numbers:
            self._numbers.append(await self._session.fetch_value(_NEXT_NUMBER))
        return self._numbers.popleft()

    def take(self, number: int) -> None:
        """Keep a number that another statement drew with a position, in place of those kept before."""
        self._numbers = deque([number])

    async def next_numbers(self, count: int) -> list[int]:
        """Fresh numbers of the journal, ascending, in one statement whatever their count."""
        drawn = await self._session.fetch(_NEXT_NUMBERS, {"count": count})
        return sorted(row[0] for row in drawn)

    async def rise_above(self, number: int) -> None:
        """Let every number that is drawn later lie above this one. The sequence never turns back."""
        if await self._session.fetch(_WOULD_HAND_OUT, {"number": number}):
            await self._session.fetch(_TAKE_TURN)
            await self._session.fetch(_RISE_ABOVE, {"number": number, "ahead": NUMBERS_AHEAD})
        self._numbers = deque(held for held in self._numbers if held > number)
