"""Programs that an exception ended: one well-known error, one row of a table."""
