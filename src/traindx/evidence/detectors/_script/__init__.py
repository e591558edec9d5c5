"""Findings from the source of the training script, read without running it.

How to write one. `case.script` holds the parsed files; `case.script.training` is what most detectors ask:
`.iterations` (loops with a backward pass and a step), `.steps`, `.backwards`, `.zeros`, `.scheduler_steps`,
`.losses` (calls of loss functions with what they got), `.managed` (a framework runs the loop).
`case.script.trace` is what the script would do, call by call: `.events` (each with the value, the loops, the
branches and the `with` contexts around it, in order), `.bindings` (every assignment), `.classes`,
`.instances`. Values know what they were made of (`script.values`) and what they are (`script.roles`).
`script.mending` makes edits. `look(case)` gives every place where the thing is seen, or `Skipped`; `detect`
is `first(case, __name__, look(case))`, which heeds `# traindx: ignore` comments. Cases are sources:
`fires()` and `silent()` yield `parse_script(text)`.

Be sure or be silent: what is not understood is `Unknown`, `Either` is one of several. Give an empty list
only when the thing looked for was there to look at (a training loop, a loss); else `Skipped("what is
missing")`.
"""
