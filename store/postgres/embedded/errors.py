"""The one error of the embedded server."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL can't be found, started, reached or stopped.

    The message is written for the operator: what is wrong, where, and what to do about it.
    """
