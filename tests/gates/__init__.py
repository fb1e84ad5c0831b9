"""The hard gates: one rule, one id, one test each, on every adapter and transport that it speaks of."""
