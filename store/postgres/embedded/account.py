"""The operating-system account that owns the cluster and runs its programs.

PostgreSQL refuses to run as root, and needs a user with an entry in the password database. An ordinary user runs it
as itself. Root becomes an existing account for it: no account is made, and no permission of a directory that is not
ours is changed.
"""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from store.postgres.embedded.errors import EmbeddedPostgresError

# postgres where the system has it; nobody is there on every system.
_ACCOUNTS_FOR_ROOT = ("postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user with a passwd entry; `assumed` when we are root and become that user for PostgreSQL's programs."""

    name: str
    user_id: int
    group_id: int
    assumed: bool

    def own(self, target: Path | int) -> None:
        """Hand a file or directory of ours, by path or descriptor, to the account; links are not followed."""
        if self.assumed:
            os.chown(target, self.user_id, self.group_id, follow_symlinks=isinstance(target, int))


def choose_account(cluster: Path, *, configured: str | None) -> Account:
    """The account that runs the cluster in that directory, which need not exist yet.

    Ourselves, unless we are root: then the configured name, else the owner of the existing cluster, else `postgres`
    where the system has it, else `nobody`.
    Raises: EmbeddedPostgresError when no such account exists, or when the cluster belongs to another one.
    """
    owner = cluster.stat().st_uid if cluster.exists() else None
    if os.geteuid() == 0:
        account = _account_for_root(configured, owner)
    else:
        entry = _entry(os.geteuid())
        account = Account(name=entry.pw_name, user_id=entry.pw_uid, group_id=entry.pw_gid, assumed=False)
    if owner not in (None, account.user_id):
        raise EmbeddedPostgresError(
            f"The cluster in {cluster} belongs to user id {owner}, not to {account.name} who would run it: run as its "
            f"owner, or give it away with chown -R {account.name} {cluster.parent}."
        )
    return account


def _account_for_root(configured: str | None, owner: int | None) -> Account:
    """The account that root becomes; raises EmbeddedPostgresError when there is none."""
    if configured is None and owner:
        entry = _entry(owner)
    else:
        names = (configured,) if configured else _ACCOUNTS_FOR_ROOT
        known = {entry.pw_name: entry for entry in pwd.getpwall()}
        name = next((name for name in names if name in known), None)
        if name is None:
            raise EmbeddedPostgresError(
                f"PostgreSQL does not run as root, and this system has no user named {' or '.join(names)} to run it as."
            )
        entry = known[name]
    if entry.pw_uid == 0:
        raise EmbeddedPostgresError(f"PostgreSQL does not run as root, and {entry.pw_name} is root: name another user.")
    return Account(name=entry.pw_name, user_id=entry.pw_uid, group_id=entry.pw_gid, assumed=True)


def _entry(user_id: int) -> pwd.struct_passwd:
    """The passwd entry of a user id; raises EmbeddedPostgresError when it has none."""
    try:
        return pwd.getpwuid(user_id)
    except KeyError as error:
        raise EmbeddedPostgresError(
            f"User id {user_id} has no entry in the password database, which PostgreSQL needs: add one, or run as a "
            "user who has one."
        ) from error
