"""Messages about programs that could not be instrumented."""

from __future__ import annotations

import errno

from incast.memory.listener import Failure

WHILE_IT_RAN = ("ended", "panic")
"""Failures of processes that the instrument aborted: their results could be wrong, or the instrument failed."""
NOT_STARTED = "the program was not started"


def explained(failure: Failure) -> str:
    """The reason for which the command could not be instrumented, with the remedy."""
    if failure.what == "userfaultfd" and failure.errno in (errno.EPERM, errno.EACCES):
        return (
            f"error: this user may not serve page faults (userfaultfd): {NOT_STARTED}\n"
            " = one of these permits it:\n"
            "     sudo sysctl vm.unprivileged_userfaultfd=1      until the next boot, for all users\n"
            "     sudo setfacl -m u:$USER:rw /dev/userfaultfd    from Linux 6.1 on, for this user\n"
            "     root, or the capability CAP_SYS_PTRACE\n"
            "   In a container, its seccomp profile has to allow userfaultfd as well; with Docker:\n"
            "     docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined ..."
        )
    return f"{reason(failure)}: {NOT_STARTED}"


def describe(failure: Failure) -> str:
    """One line about a child process of the command."""
    if failure.what in WHILE_IT_RAN:
        return f"the instrument aborted `{failure.name}`: {reason(failure)}"
    return f"`{failure.name}` could not be served and was ended: {reason(failure)}"


def reason(failure: Failure) -> str:
    """The reason, in one line."""
    if failure.what == "ended":
        return failure.reason
    if failure.what == "userfaultfd":
        known = {
            errno.EPERM: "this user may not serve page faults (userfaultfd)",
            errno.EACCES: "this user may not serve page faults (userfaultfd)",
            errno.ENOSYS: "this kernel has no userfaultfd (CONFIG_USERFAULTFD)",
            errno.EINVAL: "this kernel's userfaultfd has no write protection: Linux 5.7 or later is needed",
            errno.ENOMEM: "no address space for the program's memory; check limits (ulimit -v, ulimit -d) and "
            "vm.overcommit_memory=2",
        }
        if failure.errno in known:
            return known[failure.errno]
    if failure.what == "close_range":
        return "Linux 5.9 or later is needed (close_range)"
    if failure.what == "panic":
        return f"internal error of the instrument: {failure.reason}"
    return f"{failure.what}: {failure.reason}"
