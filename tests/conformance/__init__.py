"""The gateway judged by others' standards: published audits, hostile requests, and clients that were not made for it."""
