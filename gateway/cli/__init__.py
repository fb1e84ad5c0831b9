"""The command line: starting the server, and what operators do beside it."""
