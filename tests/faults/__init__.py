"""What happens when clients, the database, the disk or the server itself go away: nothing half, nothing wrong."""
