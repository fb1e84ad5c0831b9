"""The rules of each operation, principal first."""
