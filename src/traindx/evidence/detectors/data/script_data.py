"""What the script does with samples and targets."""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Edit, Finding, Places, Script, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced
from traindx.source.jax import own_nodes, scopes, spot, targets
from traindx.source.script import Source, parse_script
from traindx.source.values import Const, Instance, Made, Spot, Value, options

_BOTH_WAYS = frozenset(
    """BertLMHeadModel BertGenerationDecoder RobertaForCausalLM ElectraForCausalLM CamembertForCausalLM
    XLMRobertaForCausalLM RoFormerForCausalLM MegatronBertForCausalLM RemBertForCausalLM""".split()
)
_MODEL = """
from transformers import BertConfig, BertLMHeadModel
model = BertLMHeadModel(BertConfig(vocab_size=20{more}))
"""
_INPUTS = frozenset("x xb inp inputs input input_ids tokens".split())
_TARGETS = frozenset("y yb tgt targets target labels label".split())
_WHOLE = ast.dump(ast.Slice())


@Detector("next token visible", needs=("script",), family="script_future", measured_by="future_attended")
def script_future_visible(script: Script) -> Places:
    """A language model of transformers is trained on the next token and sees it.

    `BertLMHeadModel` and its kin read in both directions unless their configuration says `is_decoder=True`:
    each place then sees the token that it is asked for. Seen where such a model is made of a configuration
    that is written in the script without it, and labels go into its own loss.

    Silent for configurations from elsewhere, for masked language models, and for models that read one way
    only (GPT-2, Llama).
    """
    calls = [(source, node) for source in script.sources for node in ast.walk(source.tree) if _is_model(node)]
    if not calls:
        return Skipped("a causal language model of transformers that may read both ways")
    return [
        _finding(source, node, config)
        for source, node in calls
        if isinstance(node, ast.Call) and (config := _open_config(source, node)) is not None
    ]


def _is_model(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in _BOTH_WAYS


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _open_config(source: Source, call: ast.Call) -> ast.Call | None:
    """The configuration that a model is made of, written here, where nothing says that it decodes."""
    config: ast.AST | None = call.args[0] if call.args else None
    if isinstance(config, ast.Name):
        name = config.id
        bound = [
            node.value
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Assign)
            for target in targets(node)
            if isinstance(target, ast.Name) and target.id == name
        ]
        config = bound[0] if len(bound) == 1 else None
    if not isinstance(config, ast.Call) or not _name(config.func).endswith("Config"):
        return None
    open_ended = any(keyword.arg is None for keyword in config.keywords)
    decodes = any(keyword.arg == "is_decoder" for keyword in config.keywords) or "is_decoder" in source.text
    return None if open_ended or decodes else config


def _finding(source: Source, call: ast.Call, config: ast.Call) -> Finding:
    here, there = spot(source, call), spot(source, config)
    text = (
        f"{where(here)}: {code(here)} sees the token that it is asked for: its configuration (line "
        f"{there.line}) does not say `is_decoder=True`."
    )
    return Finding(text, "silent_defect", "high", places=(place(here), place(there)))


@Detector("target is the input", needs=("script",), family="script_target_input")
def script_target_is_input(script: Script) -> Places:
    """The same piece of a sequence is given as input and as target.

    Seen in an assignment such as `inputs, targets = batch[:, 1:], batch[:, 1:]`, or of both one after the
    other, where the names are those of inputs and targets and the piece is a part of a sequence: the model
    is asked for what it gets, and the target should be the input shifted by one.

    Silent for whole batches, which autoencoders are asked for, and for other names.
    """
    return [
        _target_is_input_finding(source, node)
        for source in script.sources
        for scope in scopes(source)
        for node in _pairs(scope)
    ]


def _pairs(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> Iterator[ast.AST]:
    """Assignments after which a name of inputs and one of targets hold the same slice."""
    last: dict[str, str] = {}
    for node in own_nodes(scope):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        names, values = node.targets[0], node.value
        listed = [(names, values)]
        if isinstance(names, ast.Tuple) and isinstance(values, ast.Tuple):
            listed = list(zip(names.elts, values.elts, strict=False))
        for name, value in listed:
            if isinstance(name, ast.Name):
                last[name.id] = ast.dump(value) if _is_slice(value) else ""
                if name.id.lower() in _TARGETS and last[name.id]:
                    inputs = [
                        key for key, cut in last.items() if cut == last[name.id] and key.lower() in _INPUTS
                    ]
                    if inputs:
                        yield node


def _is_slice(value: ast.expr) -> bool:
    """`batch[:, 1:]`: a part of a sequence along its second dimension."""
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Tuple):
        return False
    parts = value.slice.elts
    plain = isinstance(parts[0], ast.Slice) and parts[0].lower is None and parts[0].upper is None
    return plain and len(parts) == 2 and isinstance(parts[1], ast.Slice) and ast.dump(parts[1]) != _WHOLE


def _target_is_input_finding(source: Source, node: ast.AST) -> Finding:
    here = spot(source, node)
    text = f"{where(here)}: {code(here)} gives the model as target what it gets as input: shift one of them."
    return Finding(text, "silent_defect", "high", places=(place(here),))


@Detector("training data not shuffled", family="script_shuffle")
def script_not_shuffled(training: Training) -> Places:
    """The loader of the training data does not shuffle.

    Seen when the training loop runs over a `DataLoader` without `shuffle=True`, without a sampler, over a
    dataset that is not an iterable stream. In Keras: `shuffle=False` in `fit`.

    It matters when the data are ordered, which the source does not tell: a sign. Silent when the data are
    shuffled beforehand. Known mistake: time series fed in order on purpose.
    """
    keras = [e for e in training.trace.methods("fit") if _is_false(e.value.keywords.get("shuffle"))]
    loaders = {
        id(loader): loader
        for iteration in training.iterations
        for loop in iteration.step.event.loops
        for loader in _loaders(loop.over)
    }
    if not loaders and not keras:
        return Skipped("a loader of training data")
    if _shuffled_before(training):
        return []
    plain = [loader for loader in loaders.values() if _unshuffled(loader)]
    spots = [loader.spot for loader in plain if loader.spot is not None] + [e.spot for e in keras]
    return [_not_shuffled_finding(spot) for spot in spots]


def _loaders(value: Value | None) -> list[Made]:
    loaders = []
    for option in options(value):
        inner: Value = option
        for _ in range(4):
            if isinstance(inner, Made) and inner.kind == "call" and inner.short == "DataLoader":
                loaders.append(inner)
            if not isinstance(inner, Made) or not inner.args:
                break
            inner = inner.args[0]
    return loaders


def _is_false(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is False


def _unshuffled(loader: Made) -> bool:
    """Whether a loader goes through its dataset in order."""
    shuffle = loader.argument(2, "shuffle")
    if loader.open or {"sampler", "batch_sampler"} & loader.keywords.keys() or len(loader.args) > 3:
        return False
    data = loader.argument(0, "dataset")
    stream = isinstance(data, Instance) and any("Iterable" in name for name in data.cls.library_bases)
    ordered = isinstance(data, Instance) or (
        isinstance(data, Made) and data.short in ("TensorDataset", "ImageFolder")
    )
    return ordered and not stream and (shuffle is None or _is_false(shuffle))


def _shuffled_before(training: Training) -> bool:
    """Whether anything shuffles the data by itself, or draws it at random."""
    names = (
        "randperm",
        "permutation",
        "shuffle",
        "random_split",
        "train_test_split",
        "randn",
        "rand",
        "randint",
    )
    return any(e.value.short in names for e in training.trace.events if not e.grad_off)


def _not_shuffled_finding(spot: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} feeds the training data in the order of the dataset (line {spot.line})."
    )
    edits: tuple[Edit, ...] = ()
    node = spot.node
    if isinstance(node, ast.Call) and len(node.args) < 3 and node.lineno == node.end_lineno:
        written = ast.unparse(node)
        if not any(keyword.arg == "shuffle" for keyword in node.keywords):
            edits = replaced(spot, f"{written[:-1]}, shuffle=True)", "ask")
    return Finding(text, places=(place(spot),), edits=edits)


def cases() -> Cases:
    yield from script_future_visible.fires(parse_script(_MODEL.format(more="")))
    yield from script_future_visible.silent(parse_script(_MODEL.format(more=", is_decoder=True")))
    yield from script_future_visible.silent(parse_script(_MODEL.format(more=", **settings")))
    yield from script_target_is_input.fires(
        parse_script("def loss(batch):\n    inputs, targets = batch[:, 1:], batch[:, 1:]"),
        parse_script("x = seq[:, :-1]\ny = seq[:, :-1]"),
    )
    yield from script_target_is_input.silent(parse_script("inputs, targets = batch[:, :-1], batch[:, 1:]"))
    yield from script_target_is_input.silent(parse_script("inputs, targets = batch, batch"))
    yield from script_target_is_input.silent(parse_script("x = seq[:, :-1]\ny = seq[:, -1]"))
    yield from script_not_shuffled.fires(
        script(setup="loader = DataLoader(TensorDataset(X, y), batch_size=8)")
    )
    yield from script_not_shuffled.silent(
        script(setup="loader = DataLoader(TensorDataset(X, y), batch_size=8, shuffle=True)"),
        script(setup="loader = DataLoader(TensorDataset(X, y), sampler=weights)"),
        script(setup="X = torch.randn(9, 8)\nloader = DataLoader(TensorDataset(X, y), batch_size=8)"),
        script(),
    )
