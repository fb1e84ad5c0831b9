"""The memory browser in a real Chromium, over the real program and a real PostgreSQL."""
