"""Whether pages that leave the store as JSON are answered as those made of records."""
