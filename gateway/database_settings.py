"""Settings of the database, of what lies beside it in the data directory, and of what is kept in it.

Source: belief store decisions, Review and delete (the key file, receipts).
"""

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from gateway.setting_values import DirectoryOrFile, postgresql_url, without_password

_PROGRAM = "belief-gateway"


def default_data_directory() -> Path:
    """`/var/lib/belief-gateway` for root, else `$XDG_DATA_HOME/belief-gateway`, by default in `~/.local/share`.

    The working directory has no part in it: a gateway that is started elsewhere must find the same beliefs, and the
    same tombstones. Root's home directory is closed to the account that runs PostgreSQL for root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib") / _PROGRAM
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "share") / _PROGRAM


class DatabaseSettings(BaseSettings):
    """Where beliefs are kept, and for how long what is kept beside them."""

    database_url: Annotated[SecretStr, AfterValidator(postgresql_url)] | None = Field(
        default=None,
        description="An external PostgreSQL, as postgresql://user:password@host:5432/database. Absent: the embedded "
        "one in the data directory.",
    )
    data_dir: DirectoryOrFile = Field(
        default_factory=default_data_directory,
        description="Where the key file, the demo's tokens and the embedded PostgreSQL lie. Default: "
        "/var/lib/belief-gateway for root, ~/.local/share/belief-gateway for others.",
    )
    key_file: DirectoryOrFile | None = Field(
        default=None,
        description="The file of the hash key: the same one on every gateway of a database. Default: `key` in the "
        "data directory.",
    )
    postgres_binaries: DirectoryOrFile | None = Field(
        default=None,
        description="The directory of PostgreSQL's programs for the embedded one. Default: those of the installed "
        "package, else of the system.",
    )
    pool_size: Annotated[int, Field(ge=1, le=90)] = Field(
        default=10, description="How many connections to the database are held at most."
    )
    pool_wait_seconds: Annotated[float, Field(gt=0, le=60)] = Field(
        default=5.0, description="How long a request waits for a connection before it is answered as unavailable."
    )
    receipt_retention_days: Annotated[int, Field(ge=30, le=36_500)] = Field(
        default=30, description="For how many days the receipt of an idempotency key is kept; at least 30."
    )
    sweep_interval_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=60.0, description="How often beliefs that have run out are written as expired."
    )
    encoded_pages: bool = Field(
        default=True,
        description=(
            "Whether pages leave the database as JSON and objects are shown many at a time: faster, the same answers."
        ),
    )

    @property
    def key_path(self) -> Path:
        """Where the key file lies."""
        return self.key_file or self.data_dir / "key"

    @property
    def database_shown(self) -> str | None:
        """The URL of the external database without its password; None for the embedded one."""
        return None if self.database_url is None else without_password(self.database_url.get_secret_value())
