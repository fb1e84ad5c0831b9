"""The two sequences of the store, drawn on in statements of their own: no volatile function stands in a write.

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
_RISE_ABOVE = text("select setval('event_numbers', :number) from event_numbers where last_value < :number")


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

    async def next_numbers(self, count: int) -> list[int]:
        """Fresh numbers of the journal, ascending, in one statement whatever their count."""
        drawn = await self._session.fetch(_NEXT_NUMBERS, {"count": count})
        return sorted(row[0] for row in drawn)

    async def rise_above(self, number: int) -> None:
        """Let every later number lie above this one."""
        await self._session.fetch(_RISE_ABOVE, {"number": number})
        self._numbers = deque(held for held in self._numbers if held > number)
