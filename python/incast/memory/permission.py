"""What a program says that could not be instrumented, for people."""

from __future__ import annotations

import errno

from incast.memory.listener import Failure

WHILE_IT_RAN = ("ended", "panic")
"""What is said of processes that ran under the instrument, until that ended them (abort): as results could have been
wrong, or as it failed itself."""
NOT_STARTED = "the program was not started"


def explained(failure: Failure) -> str:
    """Why the command could not be instrumented, and what can be done."""
    if failure.what == "userfaultfd" and failure.errno in (errno.EPERM, errno.EACCES):
        return (
            f"error: this user may not serve page faults (userfaultfd): {NOT_STARTED}\n"
            " = one of these allows it:\n"
            "     sudo sysctl vm.unprivileged_userfaultfd=1      until the next boot, for all users\n"
            "     sudo setfacl -m u:$USER:rw /dev/userfaultfd    from Linux 6.1 on, for this user\n"
            "     root, or the capability CAP_SYS_PTRACE\n"
            "   In a container, its seccomp profile has to allow userfaultfd as well; with Docker:\n"
            "     docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined ..."
        )
    return f"{reason(failure)}: {NOT_STARTED}"


def told(failure: Failure) -> str:
    """What happened to a process that the command has started, in a line."""
    if failure.what in WHILE_IT_RAN:
        return f"the instrument has ended `{failure.name}`: {reason(failure)}"
    return f"`{failure.name}` could not be served, and has ended: {reason(failure)}"


def reason(failure: Failure) -> str:
    """Why, in a line."""
    if failure.what == "ended":
        return failure.reason
    if failure.what == "userfaultfd":
        known = {
            errno.EPERM: "this user may not serve page faults (userfaultfd)",
            errno.EACCES: "this user may not serve page faults (userfaultfd)",
            errno.ENOSYS: "this kernel has no userfaultfd (CONFIG_USERFAULTFD)",
            errno.EINVAL: "this kernel's userfaultfd has no write protection: Linux 5.7 or later is needed",
            errno.ENOMEM: "there are no addresses for the program's memory: is there a limit (ulimit -v, ulimit -d), "
            "or does vm.overcommit_memory=2 forbid them?",
        }
        if failure.errno in known:
            return known[failure.errno]
    if failure.what == "close_range":
        return "Linux 5.9 or later is needed (close_range)"
    if failure.what == "panic":
        return f"the instrument failed, which is an error in incast: {failure.reason}"
    return f"{failure.what}: {failure.reason}"
