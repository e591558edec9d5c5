"""SQLite files of others: opened so that nothing on disk can change, read up to any damage."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from traindx.reading.source import File

MAGIC = b"SQLite format 3\0"
# A damaged schema can spoil the text of SQLite's own error messages.
DAMAGE = (sqlite3.Error, UnicodeDecodeError)


@contextmanager
def opened(file: File) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. With a write-ahead log beside the file a copy of both is read."""
    path = file.local_path()
    wal = path.with_name(path.name + "-wal")
    with tempfile.TemporaryDirectory(prefix="traindx-") as scratch:
        if wal.is_file() and wal.stat().st_size:
            copy = Path(scratch, "copy.db")
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, copy.with_name("copy.db-wal"))
            connection = sqlite3.connect(copy)
        else:
            connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)
        try:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA query_only=ON")
            yield connection
        finally:
            connection.close()


def table_columns(file: File, *tables: str) -> dict[str, set[str]]:
    """The columns of the named tables that exist (views do not count); nothing for a broken file."""
    if not file.head.startswith(MAGIC):
        return {}
    found: dict[str, set[str]] = {}
    try:
        with opened(file) as connection:
            kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
            for table in tables:
                if kinds.get(table) == "table":
                    info = connection.execute(f'PRAGMA table_info("{table}")')
                    found[table] = {str(row[1]) for row in info}
    except (*DAMAGE, OSError):
        return {}
    return found


def rows(file: File, connection: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
    """Result rows up to the first damage, which is noted."""
    try:
        yield from connection.execute(query)
    except DAMAGE as error:
        why = str(error) if isinstance(error, sqlite3.Error) else "unreadable text"
        file.note(f"the SQLite database is damaged ({why}); read up to there")
