"""Expensive rows: what takes minutes to find out, one dataset and repetition at a time.

A study is a module with NEEDS, the files of a repetition that it reads; SETTINGS, what it is configured by;
and `run(case)`, which gives its rows. Exhibits make tables and figures of them.
"""
