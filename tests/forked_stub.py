"""The process that a test sees in place of a forked program: `python -IS forked_stub.py SOCKET MODULE …`.

It passes its arguments, folder, environment and standard streams to the process that listens on
SOCKET (`forked_programs.py`), passes on the signals that it receives, and ends as the program ends.
If it is killed, the program is killed. It imports only built-in modules, so its start takes 10 ms.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys

STREAMS = (0, 1, 2)
RELAYED = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGUSR1)
LONGEST_ANSWER = 64


def main() -> None:
    path, module, *arguments = sys.argv[1:]
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    for number in RELAYED:  # Before the program runs: its host may already send one.
        _signal.signal(number, lambda number, _frame: connection.send(b"%d" % number))
    connection.connect(path)
    request = repr((module, arguments, posix.getcwd(), posix.environ)).encode()
    streams = b"".join(fd.to_bytes(4, sys.byteorder) for fd in STREAMS)
    connection.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    for fd in STREAMS:  # Only the program has them, so that its end is their end.
        posix.close(fd)
    code = int(connection.recv(LONGEST_ANSWER) or b"1")
    if code < 0:
        _signal.signal(-code, _signal.SIG_DFL)
        posix.kill(posix.getpid(), -code)
    posix._exit(code)


main()
