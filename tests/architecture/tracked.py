"""The files that make up the repository, as the architecture tests read them."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that git tracks, or would track once added, relative to the root and sorted."""
    # A checkout may belong to another user than the one who tests it, which git would otherwise refuse to list.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(sorted(path for name in set(listed.split("\0")) - {""} if (ROOT / (path := Path(name))).is_file()))


def text_of(path: Path) -> str:
    """The text of a tracked file; of a picture, what can be read of it."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace" if path.suffix == ".png" else "strict")


def python_files(*folders: str) -> list[Path]:
    """The tracked Python files beneath these top-level folders."""
    return [path for path in tracked_files() if path.suffix == ".py" and path.parts[0] in folders]


@cache
def syntax_of(path: Path) -> ast.Module:
    """The syntax tree of a tracked Python file."""
    return ast.parse(text_of(path), filename=str(path))
