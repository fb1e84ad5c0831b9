"""Protocols: what a store must do."""
