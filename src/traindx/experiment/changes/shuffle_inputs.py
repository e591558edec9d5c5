"""Give the model other samples' inputs: what is left to learn does without them.

In training, each call of a model gets the inputs of other samples, of this batch and those before; masks and
whatever else belongs to a sample come with them, labels stay.

Out of reach: models that are called by `model.forward(x)`, and graphs, whose samples are not rows.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Other samples' inputs for the training.", knobs=("inputs",))


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.labels import is_input, is_label, is_structure, said
    from traindx.experiment.runtime.torch.tensors import Pool

    pools: dict[int, Pool] = {}

    def called(given: Any, root: Any) -> None:
        named = given.tensors()
        if not (given.training and given.fresh and any(is_input(*one) for one in named)):
            return
        if any(is_structure(name) for name, _ in named):
            hooks.cannot("the model is given a graph, whose samples are not the rows of its tensors")
        first = next(one for name, one in named if is_input(name, one))
        rows = first.shape[0] if first.dim() else 0
        movable = [
            i for i, (name, one) in enumerate(named) if not is_label(name) and one.shape[:1] == (rows,)
        ]
        if not rows or not movable:
            return
        drawn = pools.setdefault(id(root), Pool()).drawn_together([named[i][1] for i in movable])
        new = iter(drawn)
        places = iter(range(len(named)))
        given.replace(lambda _, one: next(new) if next(places) in movable else one)
        hooks.changed(f"{said(*named[movable[0]])} of {type(root).__name__} is another sample's")

    hooks.otherwise("no module with parameters was called with tensors that are not computed by another")
    hooks.model_call(called)
