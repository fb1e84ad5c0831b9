"""What operators see of a running gateway: logs and metrics, neither with a word of anybody's beliefs."""
