"""A script that knows nothing of Tally is run on the same rows in other micro-batches."""
