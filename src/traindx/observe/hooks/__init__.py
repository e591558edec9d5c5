"""The bus: what happens in a training, as events that a framework fills and others listen to.

A framework's folder (`observe/torch/places/`) replaces each function it has to at one place, and nowhere
else is one replaced. Such a place is a source of events: it is there while somebody listens to one of its
events, so a training that nobody changes passes only what the recorder listens to. Two rooms listen: the
recorder (`observe/torch/listeners.py`) and changes at run time (`experiment/runtime/hooks.py`).

Order. Values pass changes first and the recorder after them, so what is recorded is what was trained on.
What a change puts back after a step is put back last. `CHANGE`, `RECORD` and `RESTORE` say which is which.

Kinds of events:

- moments: `call(...)`, before or after something happened.
- values: `call(value, ...) -> value`, what goes on is what the last one returns.
- spans: `begin(...)` returns None or what is called at the end, `end(done)`; ends come in the opposite order.
- replacements: `call(original, *args, **kwargs)`; the first that listens is the outermost.

| event | kind | payload |
| --- | --- | --- |
| `model_call` | moment | a `ModelCall`: the outermost model and its arguments, which may be changed |
| `model_output` | value | what that call gave, the model |
| `loss_call` | moment | a `LossArguments`: a loss function's arguments by name, which may be changed |
| `loss_computed` | moment | name of the loss function, its arguments, its result |
| `backward` | span | the tensors it is called on, further arguments |
| `optimizer_begun`, `optimizer_made` | moment | the optimizer; once it is made, its arguments too |
| `group_added`, `scheduler_made` | moment | the optimizer, the scheduler |
| `step_begins`, `step_ends` | moment | the optimizer, its arguments; `step_begins` may return others |
| `scale`, `unscale` | moment | a loss scaler: what it scaled, the optimizer whose gradients it unscales |
| `scaler_step` | span | the scaler, the optimizer |
| `clip_norm` | moment | parameters, limit, the norm before |
| `loader_made` | moment | arguments of a loader; what is returned is called with it |
| `pass_begins` | moment | the loader, the iterator over it, the time before it was made |
| `fetch` | span | the iterator; `end(batch, error)` |
| `batch` | value | a batch, the iterator |
| `mode` | moment | a module, training or not |
| `file_loaded`, `model_loaded`, `optimizer_loaded` | moment | what was loaded into what |
| `compile`, `transform` | moment | code that will not run as it is written |
| `function:F.relu` and the like | replacement | any function of torch by its place |

Cost. Each step of a long training passes `loss_computed`, `backward`, `clip_norm`, `step_begins` and
`step_ends`. Their sources call the listeners one by one from a tuple; the recorder's are methods of `Quick`,
which keep an ordinary step in about one call each. The step hooks are torch's own: listeners are registered
with torch directly. Nothing is done inside code that is being compiled, and `torch.jit.script` reads all
functions as torch wrote them.
"""
