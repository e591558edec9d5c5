"""Modules that arrive while somebody waits for them."""

import builtins
import importlib
import importlib.util
import sys
import threading

from traindx.observe.import_hook import forget, when_imported

before = list(sys.meta_path)
told: list[str] = []

when_imported("json", lambda module: told.append(module.__name__ + " not yet"))
assert told == [] or "json" in sys.modules
told.clear()
forget("json")
when_imported("sys", lambda module: told.append(module.__name__))
assert told == ["sys"]

when_imported("late", lambda module: told.append(f"late {module.DONE} {module.inner.VALUE}"))
when_imported("late", lambda _: 1 / 0)
when_imported("late", lambda _: told.append("after one that failed"))
when_imported("moody", lambda _: told.append("moody"))
when_imported("never.there", lambda _: told.append("never"))
assert len(sys.meta_path) == len(before) + 1
spec = importlib.util.find_spec("late")
assert spec is not None
assert str(spec.origin).endswith("__init__.py")
assert told == ["sys"]

threads = [threading.Thread(target=importlib.import_module, args=("late.inner",)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert told == ["sys", "late True 3", "after one that failed"], told
import late  # noqa: E402

assert type(late.__loader__).__name__ == "SourceFileLoader"
assert late.__spec__.loader is late.__loader__
assert importlib.reload(late) is late
assert len(told) == 3

try:
    __import__("moody")
except ZeroDivisionError as error:
    files = []
    trace = error.__traceback__
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert [file.rpartition("/")[2] for file in files] == ["arrivals.py", "moody.py"], files
assert "moody" not in told
builtins.ready = True  # type: ignore[attr-defined]
__import__("moody")

assert told[-1] == "moody"
forget("never.there")
assert sys.meta_path == before
print("all well")
