"""Programs that an exception ended, by what well-known errors say: one row for each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from traindx.evidence.detector import Cases, Crash, Detected, Detector, Event
from traindx.testing.sketch import run

Reason = str | tuple[str, float]


def _error(
    id: str,
    title: str,
    page: str,
    reason: str | Callable[[re.Match[str]], Reason],
    patterns: Sequence[str],
) -> Detector:
    """The detector of an error that one of the patterns fits; the reason may depend on what was said."""

    def detect(crash: Crash) -> Detected:
        hit = crash.matches(patterns)
        if hit is None:
            return None
        outcome = reason if isinstance(reason, str) else reason(hit)
        text, strength = (outcome, 1.0) if isinstance(outcome, str) else outcome
        return crash.finding(text, strength=strength)

    page += " Nothing to check where no exception ended the program."
    declared = Detector(title, family="ending", explains=("ended_by_error",))
    return replace(declared, id=id, page=page, detect=detect, module=__name__)


def _sizes(hit: re.Match[str]) -> Reason:
    """Which sizes do not fit, where the message has them."""
    match [group for group in hit.groups() if group]:
        case [_, features, expected, _]:
            return f"What comes in has {features} features, the layer takes {expected}."
        case [first, second]:
            return f"One side has {first} where the other has {second}."
    return "Two tensors at this line do not have the shapes that fit each other."


def _index(hit: re.Match[str]) -> Reason:
    if "device-side" in hit[0]:
        return "The device stopped, mostly at a wrong index; CUDA_LAUNCH_BLOCKING=1 shows the line.", 0.7
    return "Tokens, positions or ids are larger than the table (embedding) that they index."


def _label(hit: re.Match[str]) -> Reason:
    label = hit[1] if hit.re.groups else None
    sentence = (
        f"The label {label} is none of the outputs' classes" if label else "A label is none of the outputs"
    )
    return f"{sentence}: the last layer has too few units, or labels do not start at 0."


ERRORS = (
    _error(
        "crash_devices",
        "Tensors on different devices",
        "Tensors of different devices met.\n\n"
        "Seen when the exception that ended the program says that tensors, or a model and its input, "
        "are on different devices.",
        "A model, a batch or a constant was left on another device.",
        (
            r"expected all tensors to be on the same device",
            r"Input type \(torch\.\S+\) and weight type \(torch\.\S+\) should be the same",
            r"expected object of (?:device|backend) type \w+ but got",
            r"can't convert cuda:\d+ device type tensor to numpy",
            r"Attempting to deserialize object on a CUDA device",
            r"module must have its parameters and buffers on device",
        ),
    ),
    _error(
        "crash_dtypes",
        "Number types do not fit",
        "Tensors of different number types met.\n\n"
        "Seen when the exception that ended the program names two dtypes that an operation does not "
        "mix, or one that it does not take.",
        "An operation at this line gets numbers of a type that it does not take.",
        (
            r"expected scalar type (\w+) but found (\w+)",
            r"mat1 and mat2 must have the same dtype",
            r"expected target dtype to be",
            r"to have (?:one of the following )?scalar types?",
            r"expected m1 and m2 to have the same dtype",
            r"found dtype (\w+) but expected (\w+)",
            r"Input type \((?!torch\.cuda)[\w.]*\) and (?:weight|bias) type \((?!torch\.cuda)",
            r"result type \w+ can't be cast to the desired output type",
            r"not implemented for '(?:Long|Int|Half|Bool|Byte|BFloat16|Double|Float)'",
            r"expected tensor for argument .{1,60} scalar types?: ",
            r"can't convert np\.ndarray of type numpy\.object_",
            r"only tensors of floating point (?:and complex )?dtype can require gradients",
            r"mean\(\): could not infer output dtype",
            r"cannot compute \w+ as input #\d+.{0,40}was expected to be a \w+ tensor but is a",
            r"tensor conversion requested dtype \w+ for tensor with dtype",
            r"grad requires real- or complex-valued inputs",
        ),
    ),
    _error(
        "crash_shapes",
        "Shapes do not fit",
        "Two tensors met whose shapes do not fit.\n\n"
        "Seen when the exception that ended the program is one that PyTorch, NumPy, Keras, TensorFlow "
        "or JAX raise for shapes.",
        _sizes,
        (
            r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
            r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
            r"expected (?:input|batch)\S* .{0,40}to have \d+ channels, but got",
            r"expected input\[[\d, ]+\] to have \d+ channels",
            r"expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
            r"target size \(.{1,60}\) must be the same as input size",
            r"stack expects each tensor to be equal size",
            r"sizes of tensors must match except in dimension",
            r"shape '.{1,60}' is invalid for input of size",
            r"expected \d+D.{0,30}input",
            r"given groups=\d+, weight of size",
            r"mat1 dim 1 must match mat2 dim 0",
            r"only batches of spatial targets supported",
            r"input\.size\(-1\) must be equal to input_size",
            r"running_mean should contain \d+ elements",
            r"given normalized_shape=",
            r"calculated padded input size per channel",
            r"the shape of the mask .{1,60} does not match",
            r"expected (?:hidden|target) size",
            r"operands could not be broadcast together",
            r"shapes .{1,40} not aligned",
            r"matmul: Input operand \d has a mismatch",
            r"is incompatible with the layer: expected",
            r"Arguments `target` and `output` must have the same (?:shape|rank)",
            r"matrix size-incompatible",
            r"incompatible shapes: \[",
            r"logits and labels must (?:be broadcastable|have the same)",
            r"Dimensions must be equal, but are",
            r"Shapes \(.{0,40}\) and \(.{0,40}\) are incompatible",
            r"got incompatible shapes for broadcasting",
            r"dot_general requires contracting dimensions to have",
            r"Incompatible shapes for broadcasting",
            r"ScopeParamShapeError",
            r"selected index k out of range",
            r"shape mismatch",
            r"data cardinality is ambiguous",
            r"must have the same shape up until",
            r"multi-target not supported",
            r"expected size for first two dimensions",
            r"does not broadcast with previously seen size",
            r"was expecting embedding dimension of",
        ),
    ),
    _error(
        "crash_index_out_of_range",
        "Index outside a table",
        "An index is larger than the table it is looked up in.\n\n"
        "Seen when an embedding, a gather or the device itself refused an index.",
        _index,
        (
            r"index out of range in self",
            r"srcIndex < srcSelectDimSize",
            r"index (-?\d+) is out of bounds for (?:dimension|axis) \d+ with size (\d+)",
            r"indices\[.{1,40}\] = (-?\d+) is not in \[0, (\d+)\)",
            r"vectorized_gather_kernel.{0,80}index out of bounds",
            r"device-side assert triggered",
            r"idx_min >= 0 && idx_max < num_",
        ),
    ),
    _error(
        "crash_class_out_of_range",
        "Label outside the classes",
        "A label is no class of the model.\n\n"
        "Seen when a loss refused a target that is not between 0 and the number of outputs.",
        _label,
        (
            r"Target (-?\d+) is out of bounds",
            r"Assertion `t >= 0 && t < n_classes` failed",
            r"cur_target >= 0 && cur_target < n_classes",
            r"Received a label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)",
            r"class values must be (?:smaller than num_classes|non-negative)",
        ),
    ),
    _error(
        "crash_not_probabilities",
        "A loss of probabilities got logits",
        "A loss that takes probabilities got something else.\n\n"
        "Seen when binary cross-entropy refused outputs outside 0 to 1: no sigmoid was applied to them.",
        "A binary cross-entropy got raw outputs: no sigmoid was applied to them.",
        (
            r"all elements of input should be between 0 and 1",
            r"Assertion `input_val >= zero && input_val <= one` failed",
        ),
    ),
    _error(
        "crash_targets_not_shares",
        "Targets outside 0 to 1",
        "The targets of a loss of probabilities are on another scale.\n\n"
        "Seen when binary cross-entropy refused targets outside 0 to 1: pixels from 0 to 255 that were not "
        "divided, numbers of classes, values that were standardised.",
        "The targets of a binary cross-entropy are not between 0 and 1: they were not scaled to it, or are "
        "no shares at all.",
        (
            r"all elements of target should be between 0 and 1",
            r"Assertion `target_val >= zero && target_val <= one` failed",
        ),
    ),
    _error(
        "crash_schedule_over",
        "A schedule was stepped past its end",
        "A learning-rate schedule was stepped more often than it was made for.\n\n"
        "Seen when `OneCycleLR` refused a step beyond its last: its length was given in epochs and it is "
        "stepped for every batch, or the training is longer than planned.",
        "The schedule was made for fewer steps than it gets: its length is in epochs and it is stepped for "
        "every batch, or the training was extended.",
        (r"Tried to step \d+ times\. The specified number of total steps is \d+",),
    ),
    _error(
        "crash_norm_of_one",
        "Batch norm of one value",
        "Batch norm got one value per channel.\n\n"
        "Seen when a normalisation layer in training mode refused a batch of a single value per "
        "channel: mostly the last, incomplete batch of an epoch.",
        "A batch of one sample has no variance: mostly the last, incomplete batch of an epoch.",
        (r"expected more than 1 (?:value per channel|spatial element) when training",),
    ),
    _error(
        "crash_no_gradient",
        "Nothing to differentiate",
        "The loss does not depend on anything that can be trained.\n\n"
        "Seen when autograd found no parameter behind the loss, or an optimizer was given none.",
        "No trainable parameter is behind it: detached, frozen or not registered.",
        (
            r"does not require grad and does not have a grad_fn",
            r"optimizer got an empty parameter list",
            r"can't optimize a non-leaf Tensor",
            r"No gradients provided for any variable",
            r"One of the differentiated Tensors (?:does not require grad|appears to not have been used)",
        ),
    ),
    _error(
        "crash_loss_not_scalar",
        "Backward of many numbers",
        "The backward pass was asked of a loss that is not one number.\n\n"
        "Seen when autograd says that gradients can only be made for scalar outputs.",
        "The loss has one value for each sample: its reduction is missing.",
        (
            r"grad can be implicitly created only for scalar outputs",
            r"Gradient only defined for scalar-output functions",
        ),
    ),
    _error(
        "crash_graph_reused",
        "Backward through a graph twice",
        "A second backward pass went through a graph that was freed.\n\n"
        "Seen when autograd says that it was asked to go through the graph a second time: a hidden "
        "state, a memory or a loss was carried over from an earlier step.",
        "A hidden state, a sum or a target still belongs to the graph of an earlier step.",
        (r"trying to backward through the graph a second time",),
    ),
    _error(
        "crash_in_place",
        "Changed in place before backward",
        "A tensor that the backward pass needs was changed in place.\n\n"
        "Seen when autograd says that a variable needed for the gradient was modified by an in-place "
        "operation, or that a leaf was.",
        "A tensor was overwritten after the forward pass; torch.autograd.set_detect_anomaly(True) names it.",
        (
            r"has been modified by an inplace operation",
            r"a leaf variable that requires grad is being used in an in-place operation",
            r"a view of a leaf variable that requires grad is being used in an in-place",
            r"output \d+ of \w+ is a view and (?:is being|its base or another view)",
        ),
    ),
    _error(
        "crash_anomaly",
        "Anomaly found by autograd",
        "Autograd's anomaly detection found a NaN.\n\n"
        "Seen when a backward function returned NaN while anomaly detection was on.",
        "The operation of this line made the first NaN.",
        (
            r"Function '(\w+)' returned nan values in its \d+th output",
            r"encountered NaN value in .{0,40}debug_nans|invalid value \(nan\) encountered in",
            r"Inf/NaN.{0,40}CheckNumerics|CheckNumericsV2",
        ),
    ),
    _error(
        "crash_scaler",
        "Loss scaling out of order",
        "The gradient scaler was used out of order.\n\n"
        "Seen when the scaler of mixed precision refused a call: gradients unscaled twice, or a step "
        "without a scaled backward pass.",
        "Scaled backward, unscale, step and update come once in each step, in this order.",
        (
            r"No inf checks were recorded for this optimizer",
            r"_scale is None",
            r"unscale_\(\) (?:has already been called|is being called after step)",
            r"step\(\) has already been called since the last update",
            r"Attempting to unscale FP16 gradients",
        ),
    ),
    _error(
        "crash_no_data",
        "No data was loaded",
        "The data set is empty.\n\nSeen when a loader or a training was given a set without a sample.",
        "No sample was found where the data were looked for: a wrong path, filter or split.",
        (
            r"num_samples should be a positive integer value, but got num_samples=0",
            r"Found no valid file for the classes|Couldn't find any class folder",
            r"Unexpected result of `train_function` \(Empty Logs\)",
            r"Your (?:input|dataset) .{0,60}ran out of data; interrupting training before",
            r"stack expects a non-empty TensorList",
            r"With n_samples=0",
            r"Found 0 files in subfolders",
        ),
    ),
    _error(
        "crash_worker_died",
        "A loader worker died",
        "A process that loads data was killed.\n\n"
        "Seen when the data loader reports that one of its workers is gone: by the system where "
        "memory runs out, or of shared memory.",
        "The machine ran out of memory, shared memory or open files while workers loaded data.",
        (
            r"DataLoader worker \(pid\(?s?\)? [^)]{1,60}\) (?:is killed by signal|exited unexpectedly)",
            r"insufficient shared memory \(shm\)",
            r"unable to (?:open|write to|m[m]ap \d+ bytes from) "
            r"(?:shared memory|the? ?file).{0,60}(?:torch_|shm)",
            r"received 0 items of ancdata|too many open files",
        ),
    ),
    _error(
        "crash_collective",
        "Ranks lost each other",
        "A collective operation of several ranks failed.\n\n"
        "Seen when NCCL, Gloo or the process group reports a timeout, an error or an unreduced gradient.",
        "One rank did not take part in an operation that all of them wait for.",
        (
            r"watchdog caught collective operation timeout",
            r"NCCL error",
            r"ncclUnhandled|ncclSystemError|ncclInternalError",
            r"gloo.{0,80}(?:timed out|timeout|connection (?:closed|reset))",
            r"connection closed by peer",
            r"Expected to have finished reduction in the prior iteration",
            r"expected to mark a variable ready only once",
            r"DistStoreError|Timed out after \d+ seconds waiting for clients",
            r"mismatch between collective operation",
        ),
    ),
    _error(
        "crash_state_mismatch",
        "A checkpoint does not fit",
        "A checkpoint does not fit the model.\n\n"
        "Seen when loading a state failed because of missing, unexpected or differently sized entries.",
        "The file was saved by a model with other names or sizes of layers.",
        (
            r"error\(s\) in loading state_dict",
            r"missing key\(s\) in state_dict",
            r"loaded state dict (?:contains a parameter group|has a different number of parameter groups)",
            r"Layer .{1,60} expected \d+ (?:weights|variables), but received \d+",
            r"A total of \d+ objects could not be loaded",
            r"Weights only load failed",
            r"Layer count mismatch when loading weights",
        ),
    ),
)
# What each of them is known by; all others stay silent.
_SAID = {
    "crash_devices": (
        "RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu!",
    ),
    "crash_dtypes": (
        "RuntimeError: expected scalar type Float but found Double",
        "RuntimeError: \"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Int'",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    "crash_shapes": (
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (10x16 and 17x3)",
        "ValueError: Expected input batch_size (32) to match target batch_size (31).",
        "ValueError: operands could not be broadcast together with shapes (3,) (4,)",
    ),
    "crash_index_out_of_range": (
        "IndexError: index out of range in self",
        "RuntimeError: CUDA error: device-side assert triggered",
    ),
    "crash_class_out_of_range": (
        "IndexError: Target 10 is out of bounds.",
        "Received a label value of 10 which is outside the valid range of [0, 10).",
    ),
    "crash_not_probabilities": ("RuntimeError: all elements of input should be between 0 and 1",),
    "crash_targets_not_shares": ("RuntimeError: all elements of target should be between 0 and 1",),
    "crash_schedule_over": ("ValueError: Tried to step 9 times. The specified number of total steps is 8",),
    "crash_norm_of_one": ("ValueError: Expected more than 1 value per channel when training",),
    "crash_no_gradient": (
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "ValueError: optimizer got an empty parameter list",
    ),
    "crash_loss_not_scalar": ("RuntimeError: grad can be implicitly created only for scalar outputs",),
    "crash_graph_reused": ("RuntimeError: Trying to backward through the graph a second time .",),
    "crash_in_place": ("RuntimeError: one of the variables has been modified by an inplace operation",),
    "crash_anomaly": (
        "FloatingPointError: invalid value (nan) encountered in jit(mul)",
        "FloatingPointError: invalid value (nan) encountered in jit(log)",
    ),
    "crash_scaler": ("AssertionError: No inf checks were recorded for this optimizer.",),
    "crash_no_data": ("ValueError: num_samples should be a positive integer value, but got num_samples=0",),
    "crash_worker_died": ("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.",),
    "crash_collective": (
        "RuntimeError: [1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4)",
        "RuntimeError: Expected to have finished reduction in the prior iteration",
    ),
    "crash_state_mismatch": ("RuntimeError: Error(s) in loading state_dict for Net:",),
}
_OTHER = ("ValueError: bad batch", "IndexError: list index out of range")


def cases() -> Cases:
    for error in ERRORS:
        yield from error.silent(run({"loss": [3.0, 2.0, 1.0]}))
        for id, messages in [*_SAID.items(), ("", _OTHER)]:
            for text in messages:
                ended = run({}, events=[Event("exception", text)])
                yield from error.fires(ended) if id == error.id else error.silent(ended)
