"""What is worked out about documents and remembered for as long as they are, and not longer.

The bound on documents that are kept is a bound on memory, so nothing beside them may keep one: what is noted here holds
nodes of a document, and goes with it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import ref

from graphql import DocumentNode, OperationDefinitionNode

NOTES_MAX = 16
"""What is remembered of one document: for each operation and each choice of the variables that matter."""

Key = TypeVar("Key", bound=Hashable)
Note = TypeVar("Note")


class DocumentNotes(Generic[Key, Note]):
    """One kind of thing to know about the operations of documents."""

    def __init__(self) -> None:
        """Know nothing."""
        self._documents: dict[int, tuple[ref[DocumentNode], OrderedDict[tuple[int, Key], Note]]] = {}

    def find(
        self, document: DocumentNode, operation: OperationDefinitionNode, key: Key, make: Callable[[], Note]
    ) -> Note:
        """What is noted of an operation of the document under a key; made now if nothing is."""
        # Not by equality: to compare or hash a document takes as long as it is.
        number = id(document)
        known = self._documents.get(number)
        if known is None:
            known = self._documents[number] = ref(document, lambda _: self._forget(number)), OrderedDict()
        notes = known[1]
        place = id(operation), key
        if place in notes:
            notes.move_to_end(place)
            return notes[place]
        note = notes[place] = make()
        if len(notes) > NOTES_MAX:
            notes.popitem(last=False)
        return note

    def _forget(self, number: int) -> None:
        del self._documents[number]
