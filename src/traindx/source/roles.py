"""What a value is in a training: an optimizer, a scheduler, a scaler, a module, a loss, an operation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from traindx.source.execution import CallEvent
from traindx.source.keras import FUNCTIONAL, is_layer, output
from traindx.source.library import is_model_library, is_module_class
from traindx.source.values import Either, Instance, Made, Unknown, Value

_OPTIMIZERS = re.compile(
    r"^(Sparse|Fused|DeepSpeedCPU|CPU|Distributed)?"
    r"(SGD|ASGD|Adam|AdamW|Adamax|Adadelta|Adagrad|NAdam|RAdam|RMSprop|Rprop|LBFGS|Lion|Adafactor|LAMB|Lamb|LARS"
    r"|AdaBelief|AdaBound|Ranger|Muon|Sophia|SophiaG|Shampoo|SOAP|Prodigy|Novograd)(8bit|32bit|Fused)?$"
)
_OPTAX = frozenset(
    """
    sgd adam adamw adamax adamaxw adagrad adadelta adafactor amsgrad lamb lars lion nadam nadamw noisy_sgd
    novograd radam rmsprop rprop sm3 yogi muon adabelief
    """.split()
)
_SCHEDULERS = re.compile(r"(LR|Scheduler|_schedule|_schedule_with_warmup|ReduceLROnPlateau|WarmRestarts)$")
_HINTS = {
    "optimizer": re.compile(r"(?:^|_)(?:opt|optim|optimi[sz]er)(?:s|_?\w{1,3})?$|optimi[sz]er"),
    "scheduler": re.compile(r"sched"),
    "scaler": re.compile(r"(?:^|_)(?:grad|amp|loss)?_?scaler$"),
}
_LOSSES = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
    "KLDivLoss": "kl_div",
    "PoissonNLLLoss": "poisson_nll_loss",
    "GaussianNLLLoss": "gaussian_nll_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "MultiMarginLoss": "multi_margin_loss",
    "SoftMarginLoss": "soft_margin_loss",
    "HingeEmbeddingLoss": "hinge_embedding_loss",
    "CosineEmbeddingLoss": "cosine_embedding_loss",
    "TripletMarginLoss": "triplet_margin_loss",
    "CTCLoss": "ctc_loss",
}
_LOSS_FUNCTIONS = frozenset(_LOSSES.values())
_SHAPES = frozenset(
    """
    squeeze unsqueeze view reshape flatten permute transpose contiguous float double to cuda cpu t view_as
    reshape_as expand expand_as swapaxes movedim type type_as requires_grad_ clone unflatten
    """.split()
)


def is_optimizer(value: Value | None) -> bool:
    """Whether a value is, or by its name seems to be, an optimizer."""
    if isinstance(value, Either):
        return any(is_optimizer(option) for option in value.options)
    if isinstance(value, Instance):
        return any(name.rpartition(".")[2] == "Optimizer" for name in value.cls.library_bases)
    if isinstance(value, Made) and value.kind == "call":
        torch = value.name.startswith("torch.optim.") and "lr_scheduler" not in value.name
        return (
            (torch and value.short[:1].isupper())
            or (bool(_OPTIMIZERS.match(value.short)) and not value.name.startswith("keras"))
            or (value.name.startswith("optax.") and value.short in _OPTAX)
        )
    return _hinted(value, "optimizer") and not _hinted(value, "scheduler")


def is_scheduler(value: Value | None) -> bool:
    """Whether a value is a schedule of the learning rate."""
    if isinstance(value, Either):
        return any(is_scheduler(option) for option in value.options)
    if isinstance(value, Instance):
        return any(_SCHEDULERS.search(name) for name in value.cls.library_bases)
    if isinstance(value, Made) and value.kind == "call":
        return "lr_scheduler" in value.name or bool(_SCHEDULERS.search(value.short))
    return _hinted(value, "scheduler")


def is_scaler(value: Value | None) -> bool:
    """Whether a value is a GradScaler."""
    if isinstance(value, Either):
        return any(is_scaler(option) for option in value.options)
    if isinstance(value, Made) and value.kind == "call":
        return value.short in ("GradScaler", "ShardedGradScaler")
    return _hinted(value, "scaler")


def is_module(value: Value | None) -> bool:
    """Whether a value is certainly a layer or model of PyTorch."""
    if isinstance(value, Instance):
        return is_module_class(value.cls)
    if isinstance(value, Made) and value.kind == "call":
        name = value.name
        layer = name.startswith("torch.nn.") and ".functional." not in name and ".init." not in name
        return (layer and value.short[:1].isupper()) or is_model_library(name)
    return False


def _hinted(value: Value | None, role: str) -> bool:
    """Whether the name of something that is not known says what it is."""
    if isinstance(value, Unknown):
        return bool(_HINTS[role].search(value.name.lower()))
    if isinstance(value, Made) and value.kind == "attribute":
        return bool(_HINTS[role].search(value.name.lower()))
    if isinstance(value, Made) and value.kind == "item" and value.receiver is not None:
        return _hinted(value.receiver, role)
    return False


@dataclass(frozen=True, eq=False)
class LossCall:
    """A loss function called: `cross_entropy`, what it got, and how it was set up."""

    kind: str
    event: CallEvent
    given: Value
    target: Value | None
    setup: Made


def loss_call(event: CallEvent) -> LossCall | None:
    """The loss function that a call is, if it is one of PyTorch's."""
    call = event.value
    if call.kind == "call" and call.short in _LOSS_FUNCTIONS and call.name.startswith("torch.nn.functional."):
        outputs = call.argument(0, "input")
        return LossCall(call.short, event, outputs, call.argument(1, "target"), call) if outputs else None
    layer = call.receiver
    if call.kind == "apply" and isinstance(layer, Made) and layer.kind == "call":
        kind = _LOSSES.get(layer.short) if layer.name.startswith("torch.nn.") else None
        outputs = call.argument(0, "input")
        if kind is not None and outputs is not None:
            return LossCall(kind, event, outputs, call.argument(1, "target"), layer)
    return None


def operation(value: Value | None) -> str:
    """What made a tensor: `softmax`, `sigmoid`, `Linear`; empty when it is not known."""
    if not isinstance(value, Made):
        return ""
    if value.kind == "apply":
        layer = value.receiver
        if isinstance(layer, Made) and layer.kind == "call" and layer.name.startswith("torch.nn."):
            return _LAYERS.get(layer.short, layer.short)
        return _keras_operation(layer) if isinstance(layer, Made) and layer.kind == "call" else ""
    if value.kind == "call":
        return value.short if value.name.startswith(("torch.", "keras.ops.", "tensorflow.")) else ""
    return value.name if value.kind in ("method", "operator") else ""


def _keras_operation(layer: Made) -> str:
    """The activation of a layer of Keras, `Linear` where it has none; of a model, that of its output."""
    if layer.name in FUNCTIONAL:
        return operation(layer.argument(1, "outputs"))
    activation, _ = output(layer)
    if activation is None:
        return layer.short if is_layer(layer) else ""
    return "Linear" if activation == "linear" else activation


_LAYERS = {
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "ReLU": "relu",
    "ReLU6": "relu",
    "LeakyReLU": "leaky_relu",
    "GELU": "gelu",
    "SiLU": "silu",
    "ELU": "elu",
    "SELU": "selu",
    "Softplus": "softplus",
    "Hardtanh": "hardtanh",
    "LogSigmoid": "logsigmoid",
    "Flatten": "flatten",
    "Unflatten": "unflatten",
    "Identity": "to",
}


def unshaped(value: Value) -> Value:
    """The tensor behind views, casts and moves of it."""
    for _ in range(40):
        if not isinstance(value, Made):
            return value
        if value.kind == "item" and value.name == "[]" and value.receiver is not None:
            return value
        if operation(value) not in _SHAPES:
            return value
        inner = value.receiver if value.kind == "method" else (value.args[0] if value.args else None)
        if inner is None:
            return value
        value = inner
    return value
