"""SQLite files of others: opened so that nothing on disk can change, read up to any damage.

A schema is code: a view may never end, a generated column or a trigger may do anything its functions can.
Nothing but plain columns of plain tables is read, and a query that takes more steps than the rows of such
a file can need is broken off.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from traindx.logs.log_file import File

MAGIC = b"SQLite format 3\0"
# A damaged schema can spoil the text of SQLite's own error messages.
DAMAGE = (sqlite3.Error, UnicodeDecodeError, MemoryError)
_CELL_MOST = 32 << 20
_STEPS_LEAST = 20_000_000
_STEPS_PER_BYTE = 20
_STEPS_BETWEEN = 1_000_000


@contextmanager
def opened(file: File) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. With a write-ahead log next to the file a copy of both is read."""
    path = file.local_path()
    wal = path.with_name(path.name + "-wal")
    with tempfile.TemporaryDirectory(prefix="traindx-") as scratch:
        if wal.is_file() and wal.stat().st_size:
            copy = Path(scratch, "copy.db")
            _copy(path, copy)
            _copy(wal, copy.with_name("copy.db-wal"))
            connection = sqlite3.connect(copy)
        else:
            connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)
        try:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            for setting in ("trusted_schema=OFF", "query_only=ON", "mmap_size=0", "cell_size_check=ON"):
                connection.execute(f"PRAGMA {setting}")
            _confine(connection, path.stat().st_size)
            yield connection
        finally:
            connection.close()


def _copy(path: Path, target: Path) -> None:
    with open(target, "wb") as out:
        for chunk in File(path).chunks():
            out.write(chunk)


def _confine(connection: sqlite3.Connection, size: int) -> None:
    """Plain reads only, of cells that fit into memory, for as long as a file of this size can take."""
    calls_left = (_STEPS_LEAST + _STEPS_PER_BYTE * size) // _STEPS_BETWEEN

    def too_long() -> bool:
        nonlocal calls_left
        calls_left -= 1
        return calls_left < 0

    connection.set_progress_handler(too_long, _STEPS_BETWEEN)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL_MOST)
    connection.set_authorizer(_plain)


def _plain(action: int, first: str | None, second: str | None, schema: str | None, within: str | None) -> int:
    """Whether SQLite may do this; `within` is the view or trigger that wants it."""
    del second, schema
    reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) and within is None
    asks = action == sqlite3.SQLITE_PRAGMA and first == "table_info"
    return sqlite3.SQLITE_OK if reads or asks else sqlite3.SQLITE_DENY


def table_columns(file: File, *tables: str) -> dict[str, set[str]]:
    """The columns of the named tables that exist (views do not count); nothing for a broken file."""
    if not file.head.startswith(MAGIC):
        return {}
    columns: dict[str, set[str]] = {}
    try:
        with opened(file) as connection:
            # SQLite goes by the text; the stored type may be false.
            statements = {
                str(name): str(text)
                for name, text in connection.execute("SELECT name, sql FROM sqlite_master")
            }
            for table in tables:
                if statements.get(table, "").upper().startswith("CREATE TABLE"):
                    info = connection.execute(f'PRAGMA table_info("{table}")')
                    columns[table] = {str(row[1]) for row in info}
    except (*DAMAGE, OSError):
        return {}
    return columns


def rows(file: File, connection: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
    """Result rows up to the first damage, which is noted."""
    try:
        yield from connection.execute(query)
    except DAMAGE as error:
        file.note(f"the SQLite database {_why(error)}; read up to there")


def _why(error: Exception) -> str:
    message = str(error) if isinstance(error, sqlite3.Error) else "unreadable text"
    if message == "interrupted":
        return "takes longer than its size explains"
    if "too big" in message or isinstance(error, MemoryError):
        return f"holds a cell of more than {_CELL_MOST >> 20} MiB"
    return f"is damaged ({message})"
