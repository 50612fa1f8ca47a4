"""What a program says that could not be instrumented, for people."""

from __future__ import annotations

import errno

from incast.memory.listener import Failure


def explained(failure: Failure) -> str:
    """Why, and what can be done."""
    if failure.what == "userfaultfd":
        if failure.errno in (errno.EPERM, errno.EACCES):
            return (
                "error: this user may not serve page faults (userfaultfd): the program was not started\n"
                " = one of these allows it:\n"
                "     sudo sysctl vm.unprivileged_userfaultfd=1      until the next boot, for all users\n"
                "     sudo setfacl -m u:$USER:rw /dev/userfaultfd    from Linux 6.1 on, for this user\n"
                "     root, or the capability CAP_SYS_PTRACE\n"
                "   In a container, its seccomp profile has to allow userfaultfd as well; with Docker:\n"
                "     docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined ..."
            )
        if failure.errno == errno.ENOSYS:
            return "this kernel has no userfaultfd (CONFIG_USERFAULTFD): the program was not started"
        if failure.errno == errno.EINVAL:
            return (
                "this kernel's userfaultfd has no write protection: Linux 5.7 or later is needed. "
                "The program was not started"
            )
        if failure.errno == errno.ENOMEM:
            return (
                "there are no addresses for the program's memory: is there a limit (ulimit -v, ulimit -d), or does "
                "vm.overcommit_memory=2 forbid them? The program was not started"
            )
    if failure.what == "close_range":
        return "Linux 5.9 or later is needed (close_range). The program was not started"
    return f"the program was not started: {failure.what}: {failure.reason}"
