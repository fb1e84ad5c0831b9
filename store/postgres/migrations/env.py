"""Alembic's environment: it runs on the connection, and inside the transaction, that migrating.py hands over."""

from alembic import context

from store.postgres.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
