"""What every transport needs before an operation: credentials, bodies, request ids, failures."""
