"""The names of a model's inputs in a script, and where they are passed on."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from traindx.experiment.edit.job import Job
from traindx.experiment.edit.nodes import argument_node, last_name
from traindx.experiment.edit.result import Uncertain

_CASTS = frozenset(
    """
    tensor from_numpy as_tensor FloatTensor Tensor asarray array ascontiguousarray float to astype copy clone
    to_numpy numpy contiguous float32 view reshape flatten unsqueeze squeeze
    """.split()
)
_LIBRARIES = frozenset({"torch", "np", "numpy", "th"})
_FRAMES = frozenset("iloc loc drop columns DataFrame read_csv read_parquet reset_index sample dropna".split())
_DEEP = 6


@dataclass(frozen=True)
class NamedInputs:
    """A name of inputs: last bound by `bound`, first passed on by `used`, both in one block."""

    name: str
    block: list[ast.stmt]
    bound: ast.stmt
    used: ast.stmt
    cut: str = ""
    """The part of it that is passed on, where that is a slice: `x[:800]`."""

    @property
    def begins(self) -> int:
        return self.block.index(self.bound)

    @property
    def ends(self) -> int:
        return self.block.index(self.used)


def named_inputs(job: Job, expression: ast.expr, words: str) -> NamedInputs:
    """The name behind an expression; raises Uncertain with the words when there is none."""
    current: ast.expr = expression
    for _ in range(_DEEP):
        base = _base(job, current, words)
        piece = _piece(job, base)
        if piece is not None:
            current = piece
            continue
        function = job.function_of(current)
        if not isinstance(function, ast.FunctionDef) or base.id not in _parameters(function):
            return _bound(job, base, words)
        current = _passed(job, function, base.id, words)
    raise Uncertain(words, expression)


def batched(job: Job, expression: ast.expr) -> bool:
    """Whether an expression is what a loop iterates over: a batch of a loader."""
    current: ast.expr | None = expression
    for _ in range(_DEEP):
        if current is None:
            return False
        try:
            base = _base(job, current, "")
        except Uncertain:
            names = {node.id for node in ast.walk(current) if isinstance(node, ast.Name)}
            return bool(names & _turns(job, current))
        if base.id in _turns(job, base):
            return True
        current = _piece(job, base)
    return False


def _turns(job: Job, node: ast.AST) -> set[str]:
    """The names that loops of the same function bind in turn."""
    function = job.function_of(node)
    loops = [n for n in ast.walk(job.file(node).tree) if isinstance(n, ast.For | ast.comprehension)]
    return {
        target.id
        for loop in loops
        for target in ast.walk(loop.target)
        if isinstance(target, ast.Name) and job.function_of(target) is function
    }


def _piece(job: Job, name: ast.Name) -> ast.expr | None:
    """What a name is cut from, where a loop binds it again in each iteration: `xb = x[rows]`."""
    stores = _stores(job, name)
    if len(stores) != 1 or not isinstance(stores[0], ast.Assign):
        return None
    inside = [ancestor for ancestor in job.ancestors(stores[0]) if isinstance(ancestor, ast.For | ast.While)]
    same = job.function_of(inside[0]) is job.function_of(name) if inside else False
    return stores[0].value if same else None


def _base(job: Job, node: ast.expr, words: str) -> ast.Name:
    """The name behind casts and stretches: `torch.tensor(x.values)[a:b]` -> `x`."""
    first = node
    for _ in range(_DEEP):
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Subscript):
            rows = isinstance(node.slice, ast.Slice)
            if not rows and isinstance(node.value, ast.Name) and _is_frame(job, node.value):
                break
            node = node.value
        elif isinstance(node, ast.Attribute) and node.attr == "values":
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS:
            library = isinstance(node.func.value, ast.Name) and node.func.value.id in _LIBRARIES
            if library and not node.args:
                break
            node = node.args[0] if library else node.func.value
        else:
            break
    raise Uncertain(words, first)


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [
        parameter.arg
        for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]


def _passed(job: Job, function: ast.FunctionDef, name: str, words: str) -> ast.expr:
    """What the one call of a function gives for a parameter."""
    calls = [
        n
        for n in ast.walk(job.file(function).tree)
        if isinstance(n, ast.Call) and last_name(n) == function.name
    ]
    is_method = isinstance(job.parent(function), ast.ClassDef)
    argument = (
        argument_node(calls[0], name, _parameters(function).index(name) - is_method)
        if len(calls) == 1
        else None
    )
    if argument is None:
        raise Uncertain(words, function)
    return argument


def _stores(job: Job, name: ast.Name, *, top: bool = False) -> list[ast.stmt]:
    """The statements of the function around a name, or of the top of its file, that bind it, in order."""
    stores = job.stores(name.id, None if top else job.function_of(name), job.file(name))
    return sorted(dict.fromkeys(map(job.statement_of, stores)), key=lambda statement: statement.lineno)


def _bound(job: Job, name: ast.Name, words: str) -> NamedInputs:
    stores = _stores(job, name) or _stores(job, name, top=True)
    block = getattr(job.parent(stores[-1]), "body", []) if stores else []
    plain = isinstance(block, list) and all(
        statement in block and isinstance(statement, ast.Assign | ast.AnnAssign) for statement in stores
    )
    use = _statement_using(job, name, block) if plain and stores else None
    if use is None or block.index(use) <= block.index(stores[-1]):
        raise Uncertain(words, stores[-1] if stores else name)
    around = job.parent(name)
    stretch = isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Slice)
    return NamedInputs(name.id, block, stores[-1], use, ast.unparse(around) if stretch and around else "")


def _statement_using(job: Job, node: ast.AST, block: list[ast.stmt]) -> ast.stmt | None:
    """The statement of a block in which something is done: itself, or by way of a function that is called."""
    chain = [node, *job.ancestors(node)]
    direct = next(
        (statement for statement in block if any(statement is ancestor for ancestor in chain)), None
    )
    if direct is not None and not isinstance(direct, ast.FunctionDef | ast.ClassDef):
        return direct
    reaching = {function.name for function in chain if isinstance(function, ast.FunctionDef)}
    defined = [
        function for function in ast.walk(job.file(node).tree) if isinstance(function, ast.FunctionDef)
    ]
    for _ in range(_DEEP):
        reaching |= {function.name for function in defined if reaching & _names(function)}
    running = [statement for statement in block if not isinstance(statement, ast.FunctionDef | ast.ClassDef)]
    return next((statement for statement in running if reaching & _names(statement)), None)


def _names(node: ast.AST) -> set[str]:
    return {last_name(inner) for inner in ast.walk(node) if isinstance(inner, ast.Call)}


def _is_frame(job: Job, name: ast.Name, depth: int = 4) -> bool:
    """Whether a name is bound, in the end, to a table of pandas: what is taken of it by a key are columns."""
    stores = _stores(job, name) or _stores(job, name, top=True)
    value = getattr(stores[-1], "value", None) if stores else None
    if value is None or depth == 0:
        return False
    inner = list(ast.walk(value))
    words = {node.attr for node in inner if isinstance(node, ast.Attribute)}
    if words & {"values", "to_numpy", "tensor", "from_numpy", "as_tensor"}:
        return False
    if words & _FRAMES:
        return True
    return any(
        isinstance(node, ast.Name) and node.id != name.id and _is_frame(job, node, depth - 1)
        for node in inner
    )
