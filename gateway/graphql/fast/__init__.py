"""Pages from the store to the answer without an object for each value; whatever is not known here is declined."""
