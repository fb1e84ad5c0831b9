"""The files of a page: known once the server starts, named by their contents, and kept by browsers for ever.

A name is looked up among the files that were there at the start, so that none of them leads out of their directory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml; charset=utf-8",
    ".woff2": "font/woff2",
}
"""What is served, by the end of its name; other files of a page's directory stay in it."""
PAGE = "index.html"
PLACEHOLDER = b"{{assets}}"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is served; the entity tag tells its content from any other."""

    content: bytes
    media_type: str
    etag: str


class Assets:
    """One page and its files, these under a path that changes with any of them."""

    def __init__(self, prefix: str, files: Mapping[str, bytes]) -> None:
        """Take `index.html` as the page, in which `{{assets}}` stands for the path of the other files."""
        others = {name: content for name, content in files.items() if name != PAGE}
        self.release = _release(files)
        self.path = f"{prefix}/{self.release}"
        self.page = _asset(PAGE, files[PAGE].replace(PLACEHOLDER, self.path.encode()))
        self._assets: Mapping[str, Asset] = {name: _asset(name, content) for name, content in others.items()}

    def find(self, release: str, name: str) -> Asset | None:
        """The file of this name, with `/` between its parts; None where there is none, and for another release."""
        return self._assets.get(name) if release == self.release else None


def read_files(directory: Traversable) -> Mapping[str, bytes]:
    """The files of a directory and of those in it that can be served, by their names."""
    return dict(_read(directory, ""))


def _read(directory: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for entry in directory.iterdir():
        name = f"{before}{entry.name}"
        if entry.is_dir():
            yield from _read(entry, f"{name}/")
        elif PurePosixPath(name).suffix in MEDIA_TYPES:
            yield name, entry.read_bytes()


def _asset(name: str, content: bytes) -> Asset:
    return Asset(content, MEDIA_TYPES[PurePosixPath(name).suffix], f'"{sha256(content).hexdigest()[:32]}"')


def _release(files: Mapping[str, bytes]) -> str:
    """The name of this state of the files: any other name or content makes another one."""
    digest = sha256()
    for name, content in sorted(files.items()):
        digest.update(sha256(name.encode()).digest() + sha256(content).digest())
    return digest.hexdigest()[:16]
