"""The gateway judged by standards of others: published audits, hostile requests, clients not made for it."""
