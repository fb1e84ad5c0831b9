"""Proof by outsiders: fuzzers, strangers and other principals against the whole gateway."""
