"""Does each adapter meet the port? One suite, run on every adapter; expectations are fixed."""
