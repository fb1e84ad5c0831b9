"""The server's settings.

They stand in `gateway.conf` in the root directory, which includes the `postgresql.conf` that initdb made and comes
after it. It is written anew at every start of the server, so that a change of our settings reaches clusters that
exist, and nothing inside the data directory is edited. What an operator sets by ALTER SYSTEM is read last and stands.

Nothing of a row or a statement may reach the server's log. The settings leave out every statement, parameter and
detail. Errors are left out whole, since their very message quotes input ('invalid input syntax for type uuid: "..."'):
the client has them, and the server's log keeps its own messages (LOG), FATAL and PANIC.
Source: The embedded PostgreSQL, "Shape of the supervisor".
"""

from pathlib import Path

CONFIGURATION_FILE = "gateway.conf"
LOG_DIRECTORY = "log"
PORT = 5432
USER = "postgres"

_SETTINGS = {
    # The only way in is the socket, in a directory that only one account may enter: authentication can be trust.
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    # Names our processes in the list of processes.
    "cluster_name": "belief-gateway",
    "max_connections": "100",
    "autovacuum": "on",
    "jit": "off",
    # GMT is known without time-zone files, which a bare image may lack.
    "timezone": "GMT",
    "log_timezone": "GMT",
    # One file for each day of the week, emptied when its day comes again.
    "logging_collector": "on",
    "log_destination": "stderr",
    "log_directory": f"../{LOG_DIRECTORY}",
    "log_filename": "postgresql-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_statement": "none",
    "log_duration": "off",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_lock_waits": "off",
    "log_connections": "off",
    "log_disconnections": "off",
    "log_checkpoints": "off",
    "debug_print_parse": "off",
    "debug_print_rewritten": "off",
    "debug_print_plan": "off",
}


def configuration(socket_directory: Path, *, durable: bool) -> str:
    """The text of `gateway.conf`. Without `durable` an acknowledged write can be lost: for clusters of tests only."""
    safe = "on" if durable else "off"
    settings = {
        **_SETTINGS,
        # A list of directories: the inner quotes keep one with spaces whole.
        "unix_socket_directories": '"' + str(socket_directory).replace('"', '""') + '"',
        "fsync": safe,
        "synchronous_commit": safe,
        "full_page_writes": safe,
    }
    lines = [f"{name} = {_quoted(value)}" for name, value in settings.items()]
    return "\n".join(["# Written at every start: edits are lost.", "include 'data/postgresql.conf'", *lines, ""])


def _quoted(value: str) -> str:
    """A value as postgresql.conf writes it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
