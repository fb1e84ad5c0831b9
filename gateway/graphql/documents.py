"""Documents that are known before anybody asks: manifests of trusted ones, and those that were asked before.

A manifest is the JSON object that relay-compiler and graphql-codegen write: the SHA-256 of each document's text, in
hexadecimal and with or without `sha256:` before it, and the text. Several manifests make one set, so that the
operator's own stands beside one that comes with the program.

What is kept of a document is what its text alone decides: its syntax tree, once it lies within the limits and every
rule holds. Whatever depends on variables or on the name of an operation is judged with each request.
Source: GraphQL over HTTP, Appendix on persisted documents.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from hashlib import sha256

from graphql import DocumentNode, GraphQLSchema, OperationDefinitionNode

from gateway.graphql.errors import DocumentError, Label, SurfaceOff
from gateway.graphql.introspection import refuse_introspection
from gateway.graphql.limits import parse_within_limits
from gateway.graphql.unmounted import UnmountedFields
from gateway.graphql.validation import check_document
from gateway.service.errors import MalformedRequest
from gateway.service.strict_json import parse_object

PREFIX = "sha256:"
CACHED_DOCUMENTS_MAX = 500
CACHED_BYTES_MAX = 16 * 1024 * 1024
"""What the kept syntax trees take in memory, as estimated."""
TOKEN_BYTES = 600
"""What a token takes with its node, measured on graphql-core 3.3: 400 to 560 bytes."""

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)

CountDocument = Callable[[bool], None]
"""Told of each document that is asked for: whether it was known already."""


class InvalidManifest(Exception):
    """A manifest that can't be trusted; the message names a document by its hash at most."""


class UnmountedManifest(InvalidManifest):
    """A manifest with a document for a surface that is off; `document` is its hash."""

    def __init__(self, document: str, surface: str) -> None:
        """Name the document by its hash, and the surface as reports do."""
        super().__init__(f"the document {document} asks for a surface that is off")
        self.document = document
        self.surface = surface


def read_manifest(content: bytes) -> Mapping[str, str]:
    """The documents of a manifest by their hash in hexadecimal.

    Raises InvalidManifest for what is no JSON object of texts, each under the hash of itself.
    """
    try:
        members = parse_object("the manifest", content)
    except MalformedRequest as error:
        raise InvalidManifest(error.message) from None
    documents: dict[str, str] = {}
    for name, text in members.items():
        identifier = name.removeprefix(PREFIX)
        if not _HASH.fullmatch(identifier):
            raise InvalidManifest("the manifest must name each document by its SHA-256 in lower-case hexadecimal")
        if not isinstance(text, str) or hash_of(text) != identifier:
            raise InvalidManifest(f"the document {identifier} must be a text of this hash")
        documents[identifier] = text
    return documents


def hash_of(text: str) -> str:
    """The SHA-256 of a document's text, in lower-case hexadecimal."""
    # A lone surrogate, which no document holds, has no UTF-8; it must not be mistaken for another text.
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class TrustedDocuments:
    """The documents of some manifests, each known by the hash of its text."""

    def __init__(self, *manifests: Mapping[str, str], own: Collection[str] = (), only: bool = False) -> None:
        """Trust what the manifests hold; with `only`, nothing else is executed.

        `own` are texts that come with the program. One that asks for a surface that is off is not trusted, and no
        mistake of the operator's.
        """
        self.texts: Mapping[str, str] = {name: text for manifest in manifests for name, text in manifest.items()}
        self.own = own
        self.only = only


NO_TRUSTED_DOCUMENTS = TrustedDocuments()


class Documents:
    """The documents of one schema, parsed and checked once while they are remembered."""

    def __init__(
        self,
        schema: GraphQLSchema,
        trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
        count: CountDocument = lambda _: None,
        *,
        introspection: bool = True,
        unmounted: UnmountedFields | None = None,
        documents_max: int = CACHED_DOCUMENTS_MAX,
        bytes_max: int = CACHED_BYTES_MAX,
    ) -> None:
        """Prepare the trusted documents. Raises InvalidManifest for one that the schema refuses.

        `introspection` False: the schema can't be asked for, and no refusal tells a name of it. `unmounted` are root
        fields of surfaces that are off.
        """
        self._schema = schema
        self._introspection = introspection
        self._unmounted = unmounted
        self._only = trusted.only
        self._count = count
        self._documents_max = documents_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._recent: OrderedDict[str, DocumentNode] = OrderedDict()
        self._trusted_by_text = {text: self._trust(name, text) for name, text in trusted.texts.items()}
        self._trust_own(trusted.own)
        self._trusted = {hash_of(text): document for text, document in self._trusted_by_text.items()}
        # By identity: a tree that a caller sent may be equal to a trusted one, and hashing one walks all of it.
        self._trusted_ids = frozenset(map(id, self._trusted.values()))

    def find(self, *, query: str | None, identifier: str | None) -> DocumentNode:
        """The document of a text, or the trusted one of a hash; of both, the text has the hash.

        Raises DocumentError for one that is not trusted where it must be, or that can't be executed; SurfaceOff where
        it asks for what is not mounted.
        """
        if query is None:
            assert identifier is not None, "a request has one of them"
            return self._find_trusted(identifier)
        if self._only:
            return self._find_trusted(hash_of(query))
        document = self._trusted_by_text.get(query) or self._recent.get(query)
        self._count(document is not None)
        if document is None:
            document = self._prepare(query, tells_names=self._introspection)
            self._remember(query, document)
        elif query in self._recent:
            self._recent.move_to_end(query)
        return document

    def trusted_name(self, document: DocumentNode, operation: OperationDefinitionNode) -> str | None:
        """The name of an operation of a document that `find` gave; None without a name, and for what a caller made."""
        is_trusted = id(document) in self._trusted_ids
        return operation.name.value if is_trusted and operation.name is not None else None

    def _find_trusted(self, identifier: str) -> DocumentNode:
        document = self._trusted.get(identifier)
        self._count(document is not None)
        if document is None:
            message = "the document is not among those that this server trusts"
            raise DocumentError(message, Label.PERSISTED_QUERY_NOT_FOUND)
        return document

    def _trust(self, name: str, text: str) -> DocumentNode:
        try:
            # The operator is told what is wrong with a document of theirs.
            return self._prepare(text, tells_names=True)
        except SurfaceOff as off:
            raise UnmountedManifest(name, off.surface) from None
        except DocumentError as error:
            raise InvalidManifest(f"the document {name} can't be executed: {error.message}") from error

    def _trust_own(self, texts: Collection[str]) -> None:
        for text in texts:
            with suppress(SurfaceOff):
                self._trusted_by_text.setdefault(text, self._prepare(text, tells_names=True))

    def _prepare(self, text: str, *, tells_names: bool) -> DocumentNode:
        """The document of a text, within the limits and valid. Raises DocumentError, as SurfaceOff for what is off."""
        document = parse_within_limits(text)
        try:
            if not self._introspection:
                refuse_introspection(document)
            check_document(self._schema, document, tells_names=tells_names)
        except DocumentError as error:
            surface = None if self._unmounted is None else self._unmounted.surface_of(document)
            if surface is not None:
                raise SurfaceOff(error, surface) from error
            raise
        return document

    def _remember(self, text: str, document: DocumentNode) -> None:
        """Keep a document unless it is too large by itself; those asked for longest ago make room for it."""
        size = _size(text, document)
        if size > self._bytes_max:
            return
        self._recent[text] = document
        self._bytes += size
        while len(self._recent) > self._documents_max or self._bytes > self._bytes_max:
            self._bytes -= _size(*self._recent.popitem(last=False))


def _size(text: str, document: DocumentNode) -> int:
    return len(text) * 4 + document.token_count * TOKEN_BYTES
