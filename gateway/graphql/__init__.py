"""The GraphQL transport: types, fields, and the exchange that carries them."""
