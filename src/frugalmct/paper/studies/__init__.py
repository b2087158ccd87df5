"""Expensive rows: what takes minutes to find out, one dataset and repetition at a time.

A study is a module with NEEDS, the files of a repetition that it reads; SETTINGS, what it is configured by;
`run(case)`, which gives its rows; and PLUGINS, the modules that it imports by name, if it does so by itself:
those of a predictor that it is configured by are known to the workflow. Exhibits make tables and figures of
the rows.
"""
