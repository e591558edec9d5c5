"""The interview: what somebody says of a training, weighed like everything else, and what to ask next."""
