"""The settings of one gateway: environment variables `AGENT_MEMORY_*`, or the options of a command, which come first.

A value that can't be taken is refused with the name of its variable and without the value, which may be a secret.
A variable of the prefix that is not known here is a warning only: the prefix belongs to a family of programs, and
another one's settings may stand in the same environment.
Source: belief store decisions, Review and delete (the key file, receipts); Memory read API, Mounting.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gateway.setting_values import networks, origins, redis_url, separated

PREFIX = "AGENT_MEMORY_"
HIDDEN = "***"
REQUEST_COST_MAX = 850_000
"""What one request may cost at most; the operations themselves are priced where they are served."""
_PROGRAM = "belief-gateway"
_URL_SCHEMES = ("postgresql", "postgresql+asyncpg")
_SECRET_PARAMETERS = ("password", "passfile", "sslpassword")
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class SettingsError(Exception):
    """Settings that can't be taken; the message names the variables or options and holds no value."""


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a line of the log is written."""

    TEXT = "text"
    JSON = "json"


class DocumentsMode(StrEnum):
    """What the trusted GraphQL documents are: known beside all others, or the only ones."""

    ALSO = "also"
    ONLY = "only"


class Introspection(StrEnum):
    """Who may ask what the GraphQL schema is."""

    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    OFF = "off"


class SettingSource(StrEnum):
    """Where the value of a setting comes from."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingReport:
    """One setting as an operator sees it; `value` is None for one that is absent, and shows no secret."""

    name: str
    meaning: str
    value: str | int | float | bool | None
    source: SettingSource


def default_data_directory() -> Path:
    """`/var/lib/belief-gateway` for root, else `$XDG_DATA_HOME/belief-gateway`, by default in `~/.local/share`.

    The working directory has no part in it: a gateway that is started elsewhere must find the same beliefs, and the
    same tombstones. Root's home directory is closed to the account that runs PostgreSQL for root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib") / _PROGRAM
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "share") / _PROGRAM


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


def _address(text: str) -> str:
    if text != "localhost":
        try:
            ip_address(text)
        except ValueError:
            raise ValueError("must be an IP address or localhost") from None
    return text


def _database_url(secret: SecretStr) -> SecretStr:
    """The URL in the driver's spelling. The reasons never quote it: it holds the password."""
    try:
        parts = urlsplit(secret.get_secret_value())
        # Read here since it is parsed when it is read.
        sound = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("must be a URL such as postgresql://user@host:5432/database") from None
    if parts.scheme not in _URL_SCHEMES or not sound:
        raise ValueError("must begin with postgresql:// or postgresql+asyncpg://")
    if not parts.path.strip("/"):
        raise ValueError("must name a database, as in postgresql://user@host:5432/database")
    return SecretStr(_joined(parts._replace(scheme=_URL_SCHEMES[1])))


def _joined(parts: SplitResult) -> str:
    # Not urlunsplit: it drops the slashes of an empty host, which the URL of a socket has.
    return f"{parts.scheme}://{parts.netloc}{parts.path}{parts.query and f'?{parts.query}'}"


def _key_set(text: str) -> str:
    """A URL of https, or of http to this machine, or the absolute path of a file."""
    scheme, separator, _ = text.partition("://")
    if not separator:
        return str(_absolute(Path(text)))
    try:
        host = urlsplit(text).hostname
    except ValueError:
        raise ValueError("must be a path or a URL") from None
    if not host or not (scheme == "https" or (scheme == "http" and host in _THIS_MACHINE)):
        raise ValueError("must be a path or a URL that begins with https://")
    return text


DirectoryOrFile = Annotated[Path, AfterValidator(_absolute)]
Port = Annotated[int, Field(ge=0, le=65_535)]
BindAddress = Annotated[str, AfterValidator(_address)]


class Settings(BaseSettings):
    """Everything that can be set, each with its meaning. `load_settings` makes one."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True, hide_input_in_errors=True)

    api_enabled: bool = Field(
        default=False,
        description="Whether the memory surface is mounted: on REST, GraphQL and OpenAPI alike. The demo turns it on "
        "unless this says otherwise.",
    )
    database_url: Annotated[SecretStr, AfterValidator(_database_url)] | None = Field(
        default=None,
        description="An external PostgreSQL, as postgresql://user:password@host:5432/database. Absent: the embedded "
        "one in the data directory.",
    )
    bind: BindAddress = Field(default="127.0.0.1", description="The address that is listened on.")
    port: Port = Field(default=8000, description="The port that is listened on; 0 takes a free one.")
    metrics_bind: BindAddress = Field(
        default="127.0.0.1", description="The address of /metrics. It asks for no credential: keep it closed."
    )
    metrics_port: Port = Field(
        default=9464, description="The port of /metrics; a free one is taken where this one is not free, or is 0."
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
    pool_size: Annotated[int, Field(ge=1, le=90)] = Field(
        default=10, description="How many connections to the database are held at most."
    )
    request_deadline_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        default=20.0, description="How long a request may take; then it is unavailable, and a write undone."
    )
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = Field(
        default=0.0, description="How long a gateway that is told to stop serves on, no longer ready."
    )
    pool_wait_seconds: Annotated[float, Field(gt=0, le=60)] = Field(
        default=5.0, description="How long a request waits for a connection before it is answered as unavailable."
    )
    postgres_binaries: DirectoryOrFile | None = Field(
        default=None,
        description="The directory of PostgreSQL's programs for the embedded one. Default: those of the installed "
        "package, else of the system.",
    )
    documents: DirectoryOrFile | None = Field(
        default=None,
        description="A manifest of trusted GraphQL documents by their SHA-256, as relay-compiler and graphql-codegen "
        "write it; a client may then send the hash in place of the text.",
    )
    documents_mode: Annotated[DocumentsMode, BeforeValidator(lambda value: str(value).lower())] = Field(
        default=DocumentsMode.ALSO,
        description="Whether trusted documents are executed `also`, or are the `only` ones.",
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="The OpenID issuer whose signed tokens are taken beside our own, as their `iss` names it. Absent: "
        "none are.",
    )
    oidc_audience: str | None = Field(
        default=None, description="For whom signed tokens must be made, as their `aud` names it."
    )
    oidc_jwks: Annotated[str, AfterValidator(_key_set)] | None = Field(
        default=None,
        validate_default=True,
        description="Where the issuer's public keys are: the path of a JSON Web Key Set, or its URL, of https.",
    )
    oidc_tenant_claim: Annotated[str, Field(min_length=1)] = Field(
        default="tenant", description="The claim of a signed token that names the tenant; `sub` is the principal."
    )
    oidc_scopes_claim: Annotated[str, Field(min_length=1)] = Field(
        default="scope",
        description="The claim of a signed token that holds its scopes, as a list or separated by spaces; those that "
        "are not known here are left out.",
    )
    oidc_leeway_seconds: Annotated[float, Field(ge=0, le=300)] = Field(
        default=30.0, description="How far the issuer's clock and ours may lie apart."
    )
    rate_limit_cost_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=5_000_000,
        description="How many points of cost a principal may ask for within a minute; 0: any number. What "
        "one request may cost must fit.",
    )
    rate_limit_failed_authentications_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=60,
        description="How many requests without a valid credential one client address may make within a minute before "
        "they are refused as rate limited; 0: any number. A valid credential is never refused by it.",
    )
    rate_limit_url: Annotated[SecretStr, AfterValidator(redis_url)] | None = Field(
        default=None,
        description="A Redis in which the rates are counted, as redis://user:password@host:6379/0, where several "
        "gateways share them; it needs the extra `redis`. Absent: in this process.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode, BeforeValidator(separated), AfterValidator(networks)] = Field(
        default=(),
        description="The addresses or networks of proxies, separated by commas, whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed. Absent: nobody's.",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(separated), AfterValidator(origins)] = Field(
        default=(),
        description="The origins, separated by commas, whose pages may read answers, never with cookies. Absent: none.",
    )
    introspection: Annotated[Introspection, BeforeValidator(lambda value: str(value).lower())] = Field(
        default=Introspection.AUTHENTICATED,
        description="Who may ask what the GraphQL schema is: public, authenticated or off. With off, no error tells "
        "a name of the schema either.",
    )
    log_level: Annotated[LogLevel, BeforeValidator(lambda value: str(value).lower())] = Field(
        default=LogLevel.INFO, description="How much is logged: debug, info, warning or error."
    )
    log_format: Annotated[LogFormat, BeforeValidator(lambda value: str(value).lower())] = Field(
        default=LogFormat.TEXT, description="How a line of the log is written: text or json."
    )
    receipt_retention_days: Annotated[int, Field(ge=30, le=36_500)] = Field(
        default=30, description="For how many days the receipt of an idempotency key is kept; at least 30."
    )
    sweep_interval_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=60.0, description="How often beliefs that have run out are written as expired."
    )
    encoded_pages: bool = Field(default=True, description="Whether lists leave the database as JSON, which is faster.")

    @field_validator("rate_limit_cost_per_minute", mode="after")
    @classmethod
    def _leave_room_for_a_request(cls, points: int) -> int:
        """Refuse a limit that a request within the limit on its own cost could never meet."""
        if 0 < points < REQUEST_COST_MAX:
            raise ValueError(f"must be 0, or at least the {REQUEST_COST_MAX} that one request may cost")
        return points

    @field_validator("documents_mode", mode="after")
    @classmethod
    def _need_a_manifest(cls, mode: DocumentsMode, info: ValidationInfo) -> DocumentsMode:
        """Refuse to execute trusted documents only where none are named: nothing could be asked."""
        if mode is DocumentsMode.ONLY and info.data.get("documents") is None:
            raise ValueError(f"only needs a manifest, in {PREFIX}DOCUMENTS or --documents")
        return mode

    @field_validator("oidc_jwks", mode="after")
    @classmethod
    def _need_all_of_an_issuer(cls, place: str | None, info: ValidationInfo) -> str | None:
        """Refuse an issuer of whom not everything is said: its tokens could not be judged."""
        said = {info.data.get("oidc_issuer") is None, info.data.get("oidc_audience") is None, place is None}
        if len(said) > 1:
            names = ", ".join(f"{PREFIX}OIDC_{part}" for part in ("ISSUER", "AUDIENCE", "JWKS"))
            raise ValueError(f"is needed with the others or not at all: {names}")
        return place

    @property
    def key_path(self) -> Path:
        """Where the key file lies."""
        return self.key_file or self.data_dir / "key"

    @property
    def database_shown(self) -> str | None:
        """The URL of the external database without its password; None for the embedded one."""
        return None if self.database_url is None else without_password(self.database_url.get_secret_value())

    def is_given(self, name: str) -> bool:
        """Whether a setting was given at all, rather than left at its default."""
        return name in self.model_fields_set

    def replaced(self, **values: object) -> Self:
        """The same settings with some values changed by the program itself."""
        return self.model_copy(update=values)


def load_settings(**options: object) -> Settings:
    """The settings of this environment; an option that is not None comes before it.

    Raises SettingsError that names each variable or option that can't be taken.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}  # Any: any option
    try:
        return Settings(**given)
    except ValidationError as error:
        reasons = [f"{_given_as(str(entry['loc'][0]), given)}: {_reason(entry['msg'])}" for entry in error.errors()]
        # The cause would show the values.
        raise SettingsError("\n".join(reasons)) from None


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables of our prefix that mean nothing here, sorted."""
    known = {variable_name(name) for name in Settings.model_fields}
    return sorted(name for name in environment if name.upper().startswith(PREFIX) and name.upper() not in known)


def report_settings(settings: Settings, *, options: Mapping[str, object]) -> list[SettingReport]:
    """Every setting with its meaning, its value and where that comes from, in the order of declaration."""
    return [
        SettingReport(
            name=variable_name(name),
            meaning=str(field.description),
            value=_shown(name, settings),
            source=_source(name, settings, options),
        )
        for name, field in Settings.model_fields.items()
    ]


def variable_name(field: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{field.upper()}"


def without_password(url: str) -> str:
    """A URL as it may be shown: the password hidden, in its own place and as a parameter."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    if ":" in user:
        user = f"{user.partition(':')[0]}:{HIDDEN}"
    query = [
        (name, HIDDEN if name.lower() in _SECRET_PARAMETERS else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    shown = parts._replace(netloc=f"{user}@{host}" if user else host, query=urlencode(query, safe="*/"), fragment="")
    return _joined(shown)


def _given_as(field: str, options: Mapping[str, object]) -> str:
    return f"--{field.replace('_', '-')}" if field in options else variable_name(field)


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Input should be", "must be")


def _source(field: str, settings: Settings, options: Mapping[str, object]) -> SettingSource:
    if options.get(field) is not None:
        return SettingSource.OPTION
    return SettingSource.ENVIRONMENT if settings.is_given(field) else SettingSource.DEFAULT


def _shown(field: str, settings: Settings) -> str | int | float | bool | None:
    match getattr(settings, field):
        case SecretStr() as secret:
            return without_password(secret.get_secret_value())
        case tuple() as parts:
            return ", ".join(parts)
        case Path() as path:
            return str(path)
        case None if field == "key_file":
            return str(settings.key_path)
        case str() | bool() | int() | float() as value:
            return value
        case _:
            return None
