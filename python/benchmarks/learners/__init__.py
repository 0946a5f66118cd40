"""The benchmark of the learners: clustering, dictionaries and ensembles, on the same samples for all."""
