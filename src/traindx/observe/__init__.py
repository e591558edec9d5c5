"""Recording a training from inside its own process: appends lines, never loads the diagnosis."""
