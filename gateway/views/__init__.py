"""What a caller may see, as frozen models."""
