"""`python -m gateway`, and the console command: the command line."""

import sys

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


def main() -> None:
    """Run the command line."""
    try:
        # Here and not above: while it loads, Ctrl-C has nothing to stop, and should show no traceback.
        from gateway.cli.application import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
