"""A module of the script does not call super().__init__() before it takes layers.

Seen when a class that comes from `nn.Module` has an `__init__` of its own that never calls the one of its
base: PyTorch refuses the first layer, or loses its parameters.

Silent when the bases are not all known, or another method is called that may do it. Known mistake: none yet.
"""

import ast

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import where
from traindx.source.edit_pieces import place, put_before
from traindx.source.library import is_module_class
from traindx.source.values import Class, Function, Spot

DETECTOR = Detector(title="super().__init__() missing", family="script_left_out")


def detect(training: Training) -> Places:
    classes = [one for one in training.trace.classes if is_module_class(one) and _own_init(one) is not None]
    if not classes:
        return Skipped("a model of the script's own")
    return [_finding(one) for one in classes if _forgotten(one)]


def _own_init(cls: Class) -> ast.FunctionDef | None:
    made = cls.attributes.get("__init__")
    return made.node if isinstance(made, Function) and isinstance(made.node, ast.FunctionDef) else None


def _forgotten(cls: Class) -> bool:
    node = _own_init(cls)
    if node is None or not cls.understood:
        return False
    named = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    takes = any(isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) for one in ast.walk(node))
    return "__init__" not in named and "super" not in used and takes


def _finding(cls: Class) -> Finding:
    node = _own_init(cls)
    assert node is not None
    assert cls.spot is not None
    spot = Spot(cls.spot.source, node)
    text = (
        f"{where(spot)}: `{cls.node.name}.__init__` never calls super().__init__(): PyTorch cannot register "
        "the layers it sets."
    )
    body = [
        one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    edits = put_before(Spot(spot.source, body[0]), "super().__init__()", "safe") if body else ()
    return Finding(text, "silent_defect", "high", places=(place(spot),), edits=edits)


def fires() -> Scripts:
    from traindx.source.script import parse_script

    head = "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n"
    yield parse_script(head + "        self.fc = nn.Linear(2, 1)\n")


def silent() -> Scripts:
    from traindx.source.script import parse_script

    yield script()
    head = "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n"
    yield parse_script(head + "        nn.Module.__init__(self)\n        self.fc = nn.Linear(2, 1)\n")
    yield parse_script(head + "        super(Net, self).__init__()\n        self.fc = nn.Linear(2, 1)\n")
    yield parse_script("class A:\n    def __init__(self):\n        self.x = dict()\n")
