"""Work in a process of its own that is ended when its time is up, whatever it is doing.

Solvers look at their clock only now and then; on large models the next time can be minutes away.
"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from frugalmct.errors import FrugalError

GRACE = 1.5
"""A solver that has not stopped by itself at this many times its limit is ended."""


class OutOfTime(Exception):
    """The work was not done in time, and has been ended."""


def guarded(prepare: Callable[[], Any], work: Callable[[], Any], seconds: float) -> Any:
    """What `work` returns; `prepare` goes before it, and each may take so long."""
    # A fresh interpreter would run the calling script again; a fork does not, and needs no import.
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(sender, folder, prepare, work), daemon=True)
        process.start()
        sender.close()
        try:
            _receive(receiver, seconds)
            return _receive(receiver, seconds)
        finally:
            _end(process)
            receiver.close()


def _serve(sender: Connection, folder: str, *steps: Callable[[], Any]) -> None:
    os.setpgrp()  # so that solvers started from here end with this process
    tempfile.tempdir = folder
    for step in steps:
        try:
            sender.send((step(), None))
        except Exception as error:
            sender.send((None, f"{error or type(error).__name__}"))
            return


def _receive(receiver: Connection, seconds: float) -> Any:
    if not receiver.poll(seconds):
        raise OutOfTime
    try:
        result, trouble = receiver.recv()
    except EOFError:
        raise FrugalError("its process ended without an answer, perhaps for want of memory") from None
    if trouble:
        raise FrugalError(trouble)
    return result


def _end(process: BaseProcess) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if process.pid is not None:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
