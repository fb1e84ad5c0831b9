"""`python -m gateway`, and the console command: the command line."""

from gateway.cli.application import main

if __name__ == "__main__":
    main()
