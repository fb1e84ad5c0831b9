"""Node and the peers' packages, in a cache folder: installed by npm as the lock file has them, once.

PostGraphile 5 needs Node 22. Where the system's Node is older, the one that npm's own package `node` brings is used.
"""

import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from scripts.benchmarking.contenders import Installation

PEERS_FOLDER = Path(__file__).parent / "peers"
NODE_MAJOR_MIN = 22
NODE_PACKAGE = "node@22.23.3"
INSTALL_SECONDS = 600
_QUIETLY = ("--no-audit", "--no-fund", "--no-progress", "--loglevel=error")


class NodeMissing(Exception):
    """Node or npm is not there, or what npm should install could not be; the message says what to do."""


def installed(cache: Path) -> Installation:
    """The peers' programs beside their packages in the cache folder. Raises NodeMissing."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NodeMissing("The peers need Node and npm, and they are not there: install them, or choose --peers.")
    folder = cache / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(path for path in PEERS_FOLDER.iterdir() if path.suffix in {".json", ".mjs"})
    for source in sources:
        shutil.copyfile(source, folder / source.name)
    state = sha256(b"".join(source.read_bytes() for source in sources if source.suffix == ".json")).hexdigest()
    stamp = folder / "installed"
    if not stamp.is_file() or stamp.read_text() != state:
        # No script of a package is run: none of them needs it.
        _npm("ci", "--ignore-scripts", folder=folder)
        stamp.write_text(state)
    return Installation(node=_node(cache), folder=folder)


def node_version(node: Path) -> str:
    """The version of a Node, as 22.23.3."""
    told = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    return told.strip().removeprefix("v")


def _node(cache: Path) -> Path:
    """The system's Node, where it is new enough, else that of the package."""
    system = Path(shutil.which("node") or "node")
    if int(re.split(r"\D", node_version(system), maxsplit=1)[0]) >= NODE_MAJOR_MIN:
        return system
    folder = cache / NODE_PACKAGE
    node = folder / "node_modules" / "node" / "bin" / "node"
    if not node.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        # Its script is what brings the program for this kind of machine.
        _npm("install", "--no-save", "--ignore-scripts=false", NODE_PACKAGE, folder=folder)
    if not node.is_file():
        raise NodeMissing(f"npm brought no program with {NODE_PACKAGE}: install Node {NODE_MAJOR_MIN} or newer.")
    return node


def _npm(command: str, *arguments: str, folder: Path) -> None:
    finished = subprocess.run(
        [shutil.which("npm") or "npm", command, *_QUIETLY, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if finished.returncode != 0:
        raise NodeMissing(f"npm {command} failed in {folder}: {finished.stderr.strip()[-500:]}")
