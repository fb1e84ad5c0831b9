"""The PostgreSQL server that comes with the package: found, started, shared by processes and stopped."""
