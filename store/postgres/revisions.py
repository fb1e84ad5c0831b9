"""The revisions of the schema, by Alembic: which are known, and the way to the newest.

Apart from the rest of the store: to load Alembic takes longer than a start that finds the schema as it should be.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def newest_revision() -> str:
    """The revision that the migrations lead to."""
    head = ScriptDirectory.from_config(_configuration()).get_current_head()
    assert head is not None, "there is at least one revision"
    return head


def knows_revision(revision: str) -> bool:
    """Whether this program's migrations lead from a revision to the newest."""
    return any(each.revision == revision for each in ScriptDirectory.from_config(_configuration()).walk_revisions())


def upgrade(connection: Connection) -> None:
    """Bring the schema to the newest revision, in the transaction of the connection."""
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return configuration
