"""Records a training from inside its own process: it appends lines and never loads the diagnosis."""
