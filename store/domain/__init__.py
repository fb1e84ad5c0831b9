"""Values and pure rules of the belief store: no I/O, no clock, no framework."""
