"""The settings of one gateway: environment variables `AGENT_MEMORY_*`, or the options of a command, which come first.

A value that can't be taken is refused with the name of its variable, what may stand there, and without the value,
which may be a secret. A variable of the prefix that is not known here is a warning only: the prefix belongs to a family
of programs, and another one's settings may stand in the same environment.
Source: belief store decisions, Review and delete (the key file, receipts); Memory read API, Mounting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsConfigDict

from gateway.database_settings import DatabaseSettings
from gateway.issuer_settings import IssuerSettings
from gateway.limit_settings import LimitSettings
from gateway.serving_settings import ServingSettings
from gateway.setting_values import PREFIX, without_password


class SettingsError(Exception):
    """Settings that can't be taken; the message names the variables or options and holds no value."""


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


# The bases stand in reverse: fields are inherited from the last base on.
class Settings(LimitSettings, IssuerSettings, DatabaseSettings, ServingSettings):
    """Everything that can be set, each with its meaning. `load_settings` makes one."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True, hide_input_in_errors=True)

    def is_given(self, name: str) -> bool:
        """Whether a setting was given at all, rather than left at its default."""
        return name in self.model_fields_set

    def replaced(self, **values: object) -> Self:
        """The same settings with some values changed by the program itself."""
        return self.model_copy(update=values)


def load_settings(**options: object) -> Settings:
    """The settings of this environment; an option that is not None comes before it.

    Raises SettingsError that names each variable or option that can't be taken, and says what can.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}  # Any: any option
    try:
        return Settings(**given)
    except ValidationError as error:
        # The cause would show the values.
        raise SettingsError("\n".join(_refusal(entry, given) for entry in error.errors())) from None


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


def _refusal(error: Mapping[str, Any], options: Mapping[str, object]) -> str:  # Any: the library's own
    """One sentence: the option or variable that can't be taken, and what can."""
    field = str(error["loc"][0])
    name = f"--{field.replace('_', '-')}" if field in options else variable_name(field)
    reason = error.get("ctx", {}).get("error")
    # The library's own words are about types of Python; a rule of ours says itself what it wants.
    return f"{name}: {reason if isinstance(reason, ValueError) else _expected(Settings.model_fields[field])}"


def _expected(field: FieldInfo) -> str:
    """What a setting takes, by its type and its bounds."""
    kind = field.annotation
    if kind is bool:
        return "must be true or false"
    if kind in (int, float):
        bounds = [
            f"{word} {getattr(bound, attribute)}"
            for bound in field.metadata
            for attribute, word in (("gt", "above"), ("ge", "from"), ("le", "to"))
            if hasattr(bound, attribute)
        ]
        return " ".join([f"must be a {'whole ' if kind is int else ''}number", *bounds])
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return f"must be one of {', '.join(kind)}"
    return "must be a text that is not empty"


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
