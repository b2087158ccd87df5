"""Exhibits: one table with its figures, reading and caption each. One file, and one line in `registry`.

A file `<name>.py` has TITLE, SECTION, NEEDS (what it is built from), SETTINGS (what it takes from the
configuration), COLUMNS, CAPTION, DIFFERS (beside the paper), `build(inputs, settings)` and `reading(table)`;
and where it has figures `plot(table)`, one for all datasets, or `plot_each(table)`, one per dataset.
`frugalmct.paper.exhibit` says more.
"""
