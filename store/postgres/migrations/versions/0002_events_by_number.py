"""The index by which the journal of all owners is listed and followed.

The statements are final: a later change is a later revision.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index events_by_number on events (number)")
