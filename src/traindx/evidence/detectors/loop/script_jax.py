"""Slips in loops of JAX."""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Finding, Places, Script, Skipped
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.jax import Scope, full_name, jax_sources, own_nodes, scopes, spot, targets
from traindx.source.script import Source, parse_script

_DRAWS = frozenset(
    """normal uniform bernoulli categorical gumbel randint truncated_normal exponential laplace gamma beta
    rademacher multivariate_normal dirichlet""".split()
)
_ARMS = (ast.If, ast.Try, ast.IfExp, ast.Match)


@Detector("donated array used again", needs=("script",), family="script_donated")
def script_donated_used(script: Script) -> Places:
    """An array that was donated to a compiled function is used again.

    Seen where a function compiled with `donate_argnums` is called with a name that is not bound anew by that
    call and is read afterwards. Its memory belongs to the result by then: JAX raises an error on GPU and
    TPU, and on CPU only where it donates at all.

    Silent where the result takes the name (`params, state = step(params, state)`), and for arguments that
    are no plain names.
    """
    sources = jax_sources(script)
    if not sources:
        return Skipped("a script that uses JAX")
    findings = []
    for source in sources:
        donating = dict(_donating(source))
        for scope in scopes(source) if donating else ():
            findings += [_finding(source, *use) for use in _used(scope, donating)]
    return findings


def _donating(source: Source) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Functions that are compiled so that they take over arguments, and which."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and (places := _places(source, decorator)):
                    yield node.name, places
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for name in targets(node):
                if isinstance(name, ast.Name) and (places := _places(source, node.value)):
                    yield name.id, places


def _places(source: Source, call: ast.Call) -> tuple[int, ...]:
    if "jax.jit" not in (full_name(source, function) for function in (call.func, *call.args[:1])):
        return ()
    for keyword in call.keywords:
        if keyword.arg == "donate_argnums":
            try:
                value = ast.literal_eval(keyword.value)
            except (ValueError, TypeError):
                return ()
            return (
                (value,)
                if isinstance(value, int)
                else tuple(value)
                if isinstance(value, tuple | list)
                else ()
            )
    return ()


def _used(scope: Scope, donating: dict[str, tuple[int, ...]]) -> Iterator[tuple[ast.Call, str, int]]:
    """Calls after which a donated name is read before it is bound anew."""
    nodes = list(own_nodes(scope))
    for statement in (node for node in nodes if isinstance(node, ast.Assign | ast.Expr)):
        call = statement.value
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Name)
            or call.func.id not in donating
        ):
            continue
        bound = {target.id for target in targets(statement) if isinstance(target, ast.Name)}
        for at in donating.get(call.func.id, ()):
            argument = call.args[at] if at < len(call.args) else None
            if isinstance(argument, ast.Name) and argument.id not in bound:
                later = [use for use in nodes if isinstance(use, ast.Name) and use.id == argument.id]
                after = [use for use in later if use.lineno > (statement.end_lineno or statement.lineno)]
                if after and isinstance(after[0].ctx, ast.Load):
                    yield call, argument.id, after[0].lineno


def _finding(source: Source, call: ast.Call, name: str, line: int) -> Finding:
    here = spot(source, call)
    text = f"{where(here)}: {code(here)} takes over the memory of `{name}`, which line {line} uses again."
    return Finding(text, severity="low", places=(place(here),))


_STEP = """
import jax
from functools import partial
@partial(jax.jit, donate_argnums=(0,))
def step(params, x):
    return params - x
{call}
print(params)
"""


@Detector("random key used again", needs=("script",), family="script_key")
def script_key_reused(script: Script) -> Places:
    """One key of JAX gives random numbers twice: they are the same numbers.

    Seen where two draws of a function or file use one key that is not split in between, and in a loop that
    draws with a key from outside of it: each pass gives the numbers of the first. Weights of two layers then
    start alike, and dropout drops the same units at every step.

    Silent for `split` and `fold_in`, for `permutation` (one order for inputs and labels is meant), for draws
    in different branches, and for keys that come from a call. A note: whether it costs anything depends on
    what is drawn.
    """
    sources = jax_sources(script)
    if not sources:
        return Skipped("a script that uses JAX")
    return [
        _key_reused_finding(source, *pair)
        for source in sources
        for scope in scopes(source)
        for pair in _twice(source, scope)
    ]


def _twice(source: Source, scope: Scope) -> Iterator[tuple[ast.Call, int]]:
    """Draws with a key that has been drawn with, and the line of the first."""
    drawn: dict[str, int] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Call) and (key := _key(source, node)) and not _in_branch(source, node, scope):
            loop = _loop(source, node, scope)
            if key in drawn:
                yield node, drawn[key]
            elif loop is not None and not _bound_in(loop, key):
                yield node, node.lineno
            drawn[key] = node.lineno
        statement = node if isinstance(node, ast.Assign | ast.AnnAssign | ast.For) else None
        for target in targets(statement) if statement is not None else ():
            # The value of an assignment comes after its target in this order, though it is computed before.
            if isinstance(target, ast.Name) and not _draws_in(source, statement, target.id):
                drawn.pop(target.id, None)


def _key(source: Source, call: ast.Call) -> str:
    module, _, name = full_name(source, call.func).rpartition(".")
    key = call.args[0] if call.args else None
    return key.id if module == "jax.random" and name in _DRAWS and isinstance(key, ast.Name) else ""


def _draws_in(source: Source, statement: ast.AST | None, key: str) -> bool:
    inside = ast.walk(statement) if isinstance(statement, ast.Assign) else ()
    return any(isinstance(inner, ast.Call) and _key(source, inner) == key for inner in inside)


def _around(source: Source, node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    above = source.parents.get(node)
    while above is not None and above is not scope:
        yield above
        above = source.parents.get(above)


def _in_branch(source: Source, node: ast.AST, scope: Scope) -> bool:
    return any(isinstance(outer, _ARMS) for outer in _around(source, node, scope))


def _loop(source: Source, node: ast.AST, scope: Scope) -> ast.AST | None:
    loops = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
    return next((outer for outer in _around(source, node, scope) if isinstance(outer, loops)), None)


def _bound_in(loop: ast.AST, key: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == key and isinstance(node.ctx, ast.Store)
        for node in ast.walk(loop)
    )


def _key_reused_finding(source: Source, call: ast.Call, first: int) -> Finding:
    here = spot(source, call)
    again = "in each pass of its loop" if first == call.lineno else f"as line {first} did"
    text = f"{where(here)}: {code(here)} draws with the same key {again}: the numbers are the same."
    return Finding(text, severity="low", places=(place(here),))


def _script(body: str) -> Script:
    return parse_script("import jax\nkey = jax.random.PRNGKey(0)\n" + body)


def cases() -> Cases:
    yield from script_donated_used.fires(parse_script(_STEP.format(call="new = step(params, x)")))
    yield from script_donated_used.silent(parse_script(_STEP.format(call="params = step(params, x)")))
    yield from script_donated_used.silent(
        parse_script(_STEP.format(call="new = step(params, x)\nparams = new"))
    )
    yield from script_key_reused.fires(
        _script("a = jax.random.normal(key, (3, 4))\nb = jax.random.normal(key, (4, 5))"),
        _script("for step in range(9):\n    keep = jax.random.bernoulli(key, 0.5, (8,))"),
    )
    yield from script_key_reused.silent(
        _script(
            "a = jax.random.normal(key, (3,))\nkey, _ = jax.random.split(key)\njax.random.normal(key, (4,))"
        ),
        _script(
            "for step in range(9):\n    key, s = jax.random.split(key)\n    k = jax.random.normal(s, (8,))"
        ),
        _script("x = jax.random.permutation(key, x)\ny = jax.random.permutation(key, y)"),
        _script("a = [jax.random.normal(k, (3,)) for k in jax.random.split(key, 4)]"),
    )
