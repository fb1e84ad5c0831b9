"""The REST transport: thin routes that parse, call a service and render."""
