"""Settings of the OpenID issuer whose signed tokens are taken: all that names it, or nothing."""

from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from gateway.setting_values import PREFIX, key_set_place


class IssuerSettings(BaseSettings):
    """One issuer, and how its tokens are read."""

    oidc_issuer: str | None = Field(
        default=None,
        description="The OpenID issuer whose signed tokens are taken beside our own, as their `iss` names it. Absent: "
        "none are.",
    )
    oidc_audience: str | None = Field(
        default=None, description="For whom signed tokens must be made, as their `aud` names it."
    )
    oidc_jwks: Annotated[str, AfterValidator(key_set_place)] | None = Field(
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

    @field_validator("oidc_jwks", mode="after")
    @classmethod
    def _need_all_of_an_issuer(cls, place: str | None, info: ValidationInfo) -> str | None:
        """Refuse an issuer of whom not everything is said: its tokens could not be judged."""
        said = {info.data.get("oidc_issuer") is None, info.data.get("oidc_audience") is None, place is None}
        if len(said) > 1:
            names = ", ".join(f"{PREFIX}OIDC_{part}" for part in ("ISSUER", "AUDIENCE", "JWKS"))
            raise ValueError(f"is needed with the others or not at all: {names}")
        return place
