"""The PostgreSQL adapter of the store, and the PostgreSQL server that comes with the package."""
