"""How a store fails. The driver's own error stands in `__cause__` and is never shown."""


class StoreError(Exception):
    """The store could not answer."""


class StoreUnavailable(StoreError):
    """The store can't be reached, is too busy, or refuses for now; asking again may help."""


class StoreContention(StoreUnavailable):
    """Two transactions stood in each other's way; the adapter tries the work again before it gives up."""


class StoreInconsistent(StoreError):
    """What the store holds contradicts its own rules."""
