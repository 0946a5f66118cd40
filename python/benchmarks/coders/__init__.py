"""The benchmark of the coders: the same samples for all, timed in turn, judged by the same certificate."""
