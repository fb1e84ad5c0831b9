"""The benchmark behind `scripts/bench`: this gateway beside its peers, over the same rows on one machine."""
