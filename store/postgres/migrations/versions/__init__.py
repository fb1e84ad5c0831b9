"""The revisions, in the order of their numbers. They only go forward."""
