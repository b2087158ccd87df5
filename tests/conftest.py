"""For all tests; that this file is here also puts `helpers` on the import path."""

from hypothesis import settings

# The same examples in every run, and no failure because a shared machine was slow.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
