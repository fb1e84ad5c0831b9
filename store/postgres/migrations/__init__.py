"""The revisions of the schema, and the environment in which Alembic runs them."""
