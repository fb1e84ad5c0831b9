"""The adapter over Python objects, with real rollback."""
