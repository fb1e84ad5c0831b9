"""Settings of what is served, to whom it is shown, and what is told of it.

Source: Memory read API, Mounting.
"""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode

from gateway.setting_values import (
    PREFIX,
    BindAddress,
    DirectoryOrFile,
    DocumentsMode,
    Introspection,
    LogFormat,
    LogLevel,
    Port,
    networks,
    origins,
    separated,
)


class ServingSettings(BaseSettings):
    """The surfaces of a gateway, its addresses, and its log."""

    api_enabled: bool = Field(
        default=False,
        description="Whether the memory surface is mounted: on REST, GraphQL and OpenAPI alike. The demo turns it on "
        "unless this says otherwise.",
    )
    reconsolidation_enabled: bool = Field(
        default=False,
        description="Whether derived records are shown, reviewed and deleted, as a part of the memory surface. The "
        "demo turns it on unless this says otherwise.",
    )
    evidence_enabled: bool = Field(
        default=False,
        description="Whether the graph of what records rest on can be read, as a part of the memory surface. The demo "
        "turns it on unless this says otherwise.",
    )
    browser_enabled: bool = Field(
        default=False,
        description="Whether the memory browser is shown at /. The demo turns it on unless this says otherwise.",
    )
    graphiql_enabled: bool = Field(
        default=False,
        description="Whether who opens /graphql in a browser is shown GraphiQL, which npm installs into the data "
        "directory. The demo turns it on where it is installed, unless this says otherwise.",
    )
    bind: BindAddress = Field(default="127.0.0.1", description="The address that is listened on.")
    port: Port = Field(default=8000, description="The port that is listened on; 0 takes a free one.")
    metrics_bind: BindAddress = Field(
        default="127.0.0.1", description="The address of /metrics. It asks for no credential: keep it closed."
    )
    metrics_port: Port = Field(
        default=9464, description="The port of /metrics; a free one is taken where this one is not free, or is 0."
    )
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = Field(
        default=0.0, description="How long a gateway that is told to stop serves on, no longer ready."
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

    @field_validator("documents_mode", mode="after")
    @classmethod
    def _need_a_manifest(cls, mode: DocumentsMode, info: ValidationInfo) -> DocumentsMode:
        """Refuse to execute trusted documents only where none are named: nothing could be asked."""
        if mode is DocumentsMode.ONLY and info.data.get("documents") is None:
            raise ValueError(f"only needs a manifest, in {PREFIX}DOCUMENTS or --documents")
        return mode
