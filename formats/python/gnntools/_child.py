# SPDX-License-Identifier: Apache-2.0
"""Programs of gnn-tools as child processes: found, started, watched, and ended with the object that needs them."""
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import IO

PATIENCE = 2.0  # seconds until a child that has closed its output must have ended


class ProgramError(RuntimeError):
    """A program failed; the text is its own last line. `program`: its name; `status`: of its exit (-9: by signal 9)."""

    def __init__(self, text: str, program: str = "", status: int | None = None):
        super().__init__(text)
        self.program, self.status = program, status

    def __reduce__(self):
        return type(self), (str(self), self.program, self.status)


def find(program: str) -> str:
    """The path of a program: in $GNN_BIN, where pip puts scripts, beside the package, in PATH, or ProgramError."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [os.environ.get("GNN_BIN"), os.path.dirname(sys.executable), sysconfig.get_path("scripts"),
               sysconfig.get_path("scripts", f"{os.name}_user"), os.path.join(os.path.dirname(package), "bin"),
               os.path.join(package, "../../../bin")]  # of pip --target, of make install
    for folder in filter(None, folders):
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    path = shutil.which(program)
    if path is None:
        raise ProgramError(f"{program}: not found in $GNN_BIN, beside Python or in PATH: install gnn-tools, or set "
                           "GNN_BIN to the folder of its programs", program)
    return path


def _scratch() -> IO[bytes]:
    """A file without a name, in memory where that is possible."""
    try:
        return os.fdopen(os.memfd_create("gnn-python"), "w+b", buffering=0)
    except (AttributeError, OSError):
        return tempfile.TemporaryFile(buffering=0)


def text_file(data: bytes) -> IO[bytes]:
    """A file without a name that holds the data, to pass to a child as /dev/fd/N."""
    file, rest = _scratch(), memoryview(data)
    while rest:
        rest = rest[file.write(rest):]
    file.seek(0)
    return file


def temporary_folder(prefix: str) -> tuple[str, Callable[[], None]]:
    """A new folder, and its removal, which a child sees to if this process and its forks end before, however it is."""
    folder = tempfile.mkdtemp(prefix=prefix)
    guard = subprocess.Popen(["sh", "-c", 'read -r _; rm -rf "$1"', "sh", folder], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        guard.kill()
        guard.communicate()

    return folder, remove


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block: nobody could end a child of which it has kept the process id from us."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list = []
    signal.signal(signal.SIGINT, lambda *what: came.append(what))  # a child has the default again
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])


class Pipeline:
    """Commands joined by pipes, as in a shell; the first word of each is looked for by find().

    output: the last one's standard output, unbuffered. feed: the first one's standard input: a file, or True for a
    pipe, which is `input`.
    The children are in a session of their own, so that Ctrl-C stops the caller, who closes them. They end when this
    object is closed or collected, or the interpreter ends. A fork of the process leaves them to its parent.
    """

    def __init__(self, commands: Sequence[Sequence[str]], *, feed: bool | IO[bytes] = False,
                 pass_fds: Sequence[int] = ()):
        self.names = [os.path.basename(command[0]) for command in commands]
        self._pid, self._told = os.getpid(), [0] * len(commands)
        self._errors: list[IO[bytes]] = []
        self._children: list[subprocess.Popen] = []
        self.input = self.output = None
        self._finalizer = weakref.finalize(self, _end, self._children, self._errors, self._pid)
        _alive.add(self)
        before = None
        try:
            for command in commands:
                self._errors.append(_scratch())
                stdin = before or (subprocess.PIPE if feed is True else feed or subprocess.DEVNULL)
                with _uninterrupted():
                    child = subprocess.Popen([find(command[0]), *map(str, command[1:])], bufsize=0, pass_fds=pass_fds,
                                             stdin=stdin, stdout=subprocess.PIPE, stderr=self._errors[-1],
                                             start_new_session=True)
                    self._children.append(child)
                if before is not None:
                    before.close()
                before = child.stdout
        except OSError as why:
            self.close()
            raise ProgramError(f"{self.names[len(self._children)]}: cannot be started: {why}") from why
        except BaseException:
            self.close()
            raise
        self.output, self.input = before, self._children[0].stdin

    def failure(self, patience: float | None = PATIENCE) -> ProgramError | None:
        """Why the first of them failed, or None if none did. Waits so many seconds for their end (None: until it)."""
        end = None if patience is None else time.monotonic() + patience
        late = []
        for name, child in zip(self.names, self._children):
            try:
                child.wait(None if end is None else max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(name)
        for i, child in enumerate(self._children):
            if child.returncode not in (None, 0, -signal.SIGPIPE):
                return ProgramError(self._reason(i, child.returncode), self.names[i], child.returncode)
        return ProgramError(f"{late[0]}: has closed its output and does not end", late[0]) if late else None

    def _reason(self, i: int, status: int) -> str:
        lines = self._said(i).splitlines()
        if status < 0:
            last = f"; its last line: {lines[-1]}" if lines else ""
            return f"{self.names[i]}: killed by {signal.Signals(-status).name}{last}"
        return lines[-1] if lines else f"{self.names[i]}: ended with status {status} without a word"

    def said(self, start: int = 0, i: int = 0) -> bytes:
        """What child i has said on stderr so far, from this byte on."""
        fd = self._errors[i].fileno()
        return os.pread(fd, max(0, os.fstat(fd).st_size - start), start)

    def _said(self, i: int, start: int = 0) -> str:
        return self.said(start, i).decode(errors="replace").strip()

    def interrupt(self) -> None:
        """What Ctrl-C does in a shell: children that train write the best model so far."""
        for child in self._children:
            child.send_signal(signal.SIGINT)

    def tell(self) -> None:
        """Passes on to sys.stderr what the children have said since the last call."""
        for i, file in enumerate(self._errors):
            size = os.fstat(file.fileno()).st_size
            if size > self._told[i]:
                text, self._told[i] = self._said(i, self._told[i]), size
                print(text, file=sys.stderr)

    def close(self) -> None:
        """Ends the children. May be called repeatedly, and in a fork, where it leaves them alone."""
        self._hang_up()
        self._finalizer()

    def _hang_up(self) -> None:
        for file in (self.input, self.output):
            if file is not None:
                file.close()


_alive: weakref.WeakSet[Pipeline] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """A fork must not hold open the pipes of programs that its parent has started."""
    for pipeline in list(_alive):
        pipeline._hang_up()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _end(children: list, errors: list, pid: int) -> None:
    interrupt = None
    for child in children if os.getpid() == pid else ():
        while child.returncode is None:
            try:
                child.kill()
                child.wait()
            except KeyboardInterrupt as why:  # not before all have ended
                interrupt = why
        errors += filter(None, (child.stdin, child.stdout))
    for file in errors:
        file.close()
    if interrupt:
        raise interrupt


def words(options: dict) -> list[str]:
    """Options as programs take them: edge_ids=True is --edge-ids, weight="w" --weight=w; False, None are left out."""
    out = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                out.append(f"--{name.replace('_', '-')}" + ("" if one is True else f"={one}"))
    return out
