"""The belief store: domain values and rules, the port, and its adapters. It knows nothing of the gateway."""
