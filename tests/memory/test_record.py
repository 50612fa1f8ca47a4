"""`incast memory record`: programs do what they do without it, and what they fetch is written down."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest

import incast
from conftest import PATIENCE, Command, Start, environment, wait_until
from incast import memory
from incast.memory.protocol import HEADER_BYTES, RECORD_BYTES, Policy, Word
from incast.memory.ring import Ring
from memory.compiling import Compiled
from memory.running import LISTS, record, rows, running_in, served

PAGES, ROUNDS = 2048, 2
"""Pages of the walker, 8 MiB, and its rounds."""
LOCAL = {"25%": memory.Share(250_000), "5%": memory.Share(50_000)}


@pytest.fixture
def walker(compiled: Compiled) -> list[object]:
    return [compiled("walker"), PAGES, ROUNDS]


def incast_memory(
    folder: Path, *arguments: object, limit: Callable[[], None] | None = None, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with one for what is temporary, and see that it leaves nothing of that."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "incast", "memory", *map(str, arguments)],
        cwd=folder,
        env={**environment(), "TMPDIR": str(temporary)},
        input=text,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
        preexec_fn=limit,
    )
    assert list(temporary.iterdir()) == []
    assert [path for path in folder.iterdir() if path.name.startswith(".")] == []
    assert [path for path in Path("/dev/shm").iterdir() if "incast" in path.name] == []
    assert running_in(folder) == []
    assert "incast/cli" not in done.stderr, "a traceback of its own"
    return done


def summary(folder: Path) -> memory.Summary:
    return memory.open_recording(folder).summary


# The program's own.


@served
def test_input_output_arguments_and_exit_code_are_the_programs_own(tmp_path: Path) -> None:
    script = 'cat; echo "$0 $*"; echo oops >&2; exit 7'
    after = ("--", "sh", "-c", script, "-o", "mine", "--local", "5", "-q")
    done = incast_memory(tmp_path, "record", "-o", "out", *after, text="line 1\nline 2")
    assert done.stdout == "line 1\nline 2-o mine --local 5 -q\n"
    assert done.returncode == 7
    assert done.stderr.startswith("oops\n")
    assert "exit code 7" in done.stderr
    assert summary(tmp_path / "out").command == ["sh", "-c", script, "-o", "mine", "--local", "5", "-q"]
    assert summary(tmp_path / "out").code == 7


@served
def test_quietly(tmp_path: Path) -> None:
    done = incast_memory(tmp_path, "record", "-q", "-o", "out", "--", "echo", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


@served
def test_a_summary_for_people(command: Command, walker: list[object], tmp_path: Path) -> None:
    done = command("memory", "record", "--", *walker)
    assert done.returncode == 0, done.stderr
    for part in ("walker: ", "8 MiB served", "25 % of the footprint, fifo", "4,096, ", "written to results/walker"):
        assert part in done.stderr.replace("4,095, ", "4,096, ")
    assert sorted(path.name for path in (tmp_path / "results" / "walker-memory").iterdir()) == [
        "summary.json",
        "trace.parquet",
    ]


@served
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_a_signal_ends_is_recorded_all_the_same(tmp_path: Path, number: signal.Signals) -> None:
    end = (
        "import ctypes; ctypes.string_at(0)"
        if number == signal.SIGSEGV
        else f"import os; os.kill(os.getpid(), {number})"
    )
    # Of a crash there is no core dump: it would be what is left.
    limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # noqa: E731
    done = incast_memory(tmp_path, "record", "-o", "out", "--", sys.executable, "-c", f"{LISTS}; {end}", limit=limit)
    assert done.returncode == 128 + number, done.stderr
    assert summary(tmp_path / "out").code == 128 + number
    assert summary(tmp_path / "out").fetches > 1000


@served
def test_a_program_that_runs_out_of_memory_is_recorded_all_the_same(tmp_path: Path) -> None:
    eat = "x = []\nwhile True: x.append(b'x' * (4 << 20))"
    most = 1_100_000_000
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))  # noqa: E731
    done = incast_memory(tmp_path, "record", "-o", "out", "--", sys.executable, "-c", eat, limit=limit)
    assert done.returncode == 1, done.stderr
    assert "MemoryError" in done.stderr
    found = summary(tmp_path / "out")
    assert found.footprint_bytes > 200 << 20
    assert found.processes[0]["unserved_bytes"] > 0
    assert "were not served: the region is full" in done.stderr


# What is written.


@served
def test_the_trace_and_the_summary_agree(walker: list[object], tmp_path: Path) -> None:
    found, printed = record(tmp_path, walker)
    assert printed == f"{PAGES} pages, {ROUNDS} rounds, 1,234.5 ops/s\n"
    schema = pyarrow.parquet.read_schema(found.trace)
    assert {field.name: (field.metadata or {}).get(b"unit") for field in schema} == {
        "time_ns": b"ns",
        "process": None,
        "thread": None,
        "page": None,
        "kind": None,
        "write": None,
        "asked_ns": b"ns",
        "achieved_ns": b"ns",
        "software_ns": b"ns",
    }
    assert all((field.metadata or {})[b"description"] for field in schema)
    summary = found.summary
    assert summary == memory.open_recording(found.path).summary
    assert dict(rows(found, "select kind, count(*) from trace group by kind")) == {
        "read": summary.fetches,
        "write-back": summary.write_backs,
    }
    (process,) = summary.processes
    assert (process["name"], process["fetches"], process["write_backs"]) == (
        "walker",
        summary.fetches,
        summary.write_backs,
    )
    assert (summary.code, summary.threads, summary.policy, summary.local) == (0, 1, "fifo", "25 % of the footprint")
    assert summary.footprint_bytes == process["peak_pages"] * 4096 == pytest.approx(PAGES * 4096, rel=0.01)
    # Of a page sent away nobody waits, and nothing is known but when and which.
    assert rows(found, "select distinct thread, write, asked_ns from trace where kind = 'write-back'") == [(None,) * 3]
    assert rows(found, "select distinct thread, process, write, asked_ns from trace where kind = 'read'") == [
        (process["pid"], 0, False, 0)
    ]
    assert rows(
        found, "select min(time_ns) > 0, max(time_ns) / 1e9 < $1 from trace".replace("$1", str(summary.seconds))
    )[0] == (True, True)
    gaps = rows(
        found,
        "select avg(gap) from (select time_ns - lag(time_ns) over (order by time_ns) as gap from trace "
        "where kind = 'read')",
    )
    assert summary.interarrival_us["mean"] == pytest.approx(gaps[0][0] / 1e3, rel=1e-9)
    assert summary.software_us == pytest.approx(
        rows(found, "select avg(software_ns) / 1e3 from trace where kind = 'read'")[0][0], rel=1e-9
    )
    assert summary.fetches_per_s == pytest.approx(summary.fetches / summary.seconds, rel=1e-12)
    of_batches = rows(
        found,
        "select count(*) from (select time_ns - lag(time_ns) over (order by time_ns) as gap from trace "
        "where kind = 'read') where gap > 10_000",
    )
    assert summary.batches["mean"] == pytest.approx(summary.fetches / (1 + of_batches[0][0]), rel=1e-9)


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
@pytest.mark.parametrize("local", [memory.Share(1_000_000), memory.Bytes(PAGES * 4096)], ids=str)
def test_what_fits_is_not_fetched(
    walker: list[object], tmp_path: Path, policy: Policy, local: memory.Share | memory.Bytes
) -> None:
    summary = record(tmp_path, walker, local=local, policy=policy)[0].summary
    assert (summary.fetches, summary.write_backs) == (0, 0)
    assert any("note: no fetches" in line for line in summary.lines())
    assert summary.footprint_bytes == PAGES * 4096
    # lru takes the mapping of pages away to see whether they are used.
    assert (summary.processes[0]["mapped_again"] > 0) == (policy == "lru")


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
@pytest.mark.parametrize("local", [memory.Share(250_000), memory.Bytes(PAGES * 4096 // 2)], ids=str)
def test_what_does_not_fit_is_fetched(
    walker: list[object], tmp_path: Path, policy: Policy, local: memory.Share | memory.Bytes
) -> None:
    summary = record(tmp_path, walker, local=local, policy=policy)[0].summary
    assert summary.fetches == pytest.approx(PAGES * ROUNDS, rel=0.01)
    assert summary.write_backs == pytest.approx(PAGES, rel=0.01), "written once, then only read"
    assert summary.processes[0]["unchanged"] == pytest.approx(summary.fetches - PAGES / 4, rel=0.15)


@served
@pytest.mark.parametrize(("policy", "least"), [("fifo", 6), ("lru", 0)])
def test_lru_keeps_what_is_used(walker: list[object], tmp_path: Path, policy: Policy, least: int) -> None:
    found, _ = record(tmp_path, [*walker, 1], policy=policy)
    first = "select page from trace order by page limit 1"
    counts = "select page, count(*) as n from trace where kind = 'read' group by page"
    ((least_of_others, most),) = rows(found, f"select min(n), max(n) from ({counts}) where page > ({first})")
    assert ROUNDS - 1 <= least_of_others <= most == ROUNDS
    ((times,),) = rows(found, f"select coalesce(sum(n), 0) from ({counts}) where page = ({first})")
    assert least <= times <= 20 * least + 1, "fifo sends it away again and again, lru does not"


@served
def test_allocations_below_the_threshold_are_not_served(tmp_path: Path) -> None:
    program: list[object] = [sys.executable, "-c", "x = [b'x' * 100_000 for _ in range(100)]"]
    served_bytes = []
    for threshold in (131072, 65536):
        found, _ = record(tmp_path, program, threshold_bytes=threshold)
        served_bytes.append(found.summary.footprint_bytes)
        found.path.rename(tmp_path / str(threshold))
    assert served_bytes[0] < 4 << 20
    assert served_bytes[1] > served_bytes[0] + 9_000_000


@served
@pytest.mark.parametrize("delays", [[], [2_000]], ids=["no delay", "2us"])
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_every_byte_is_right(compiled: Compiled, tmp_path: Path, policy: Policy, local: str, delays: list[int]) -> None:
    command: list[object] = [compiled("checker"), 4, 32, 400, 1]
    found, printed = record(tmp_path, command, policy=policy, local=LOCAL[local], delays_ns=delays)
    assert (printed, found.code) == ("every byte was right\n", 0)
    assert found.summary.fetches > 1000
    assert found.summary.threads >= 4
    assert rows(found, "select min(achieved_ns - asked_ns) >= 0 from trace where asked_ns > 0") == [
        (True if delays else None,)
    ]


@served
@pytest.mark.parametrize("delays", [[], [2_000]], ids=["no delay", "2us"])
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_every_byte_is_right_in_processes_that_are_forked(
    compiled: Compiled, tmp_path: Path, policy: Policy, delays: list[int]
) -> None:
    command: list[object] = [compiled("checker"), 2, 16, 60, 2, "fork"]
    found, printed = record(tmp_path, command, policy=policy, delays_ns=delays)
    assert (printed, found.code) == ("every byte was right\n", 0)
    assert len(found.summary.processes) == 9
    assert all(process["fetches"] for process in found.summary.processes)


@served
def test_mappings_over_mappings(compiled: Compiled, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"F" * (1 << 17))
    found, printed = record(tmp_path, ["timeout", "--signal=KILL", PATIENCE, compiled("mappings"), tmp_path / "file"])
    assert found.code == 0, printed
    assert found.summary.processes[-1]["name"] == "mappings"
    assert found.summary.processes[-1]["pinned_pages"] == 0, "what was closed can go, and what was locked is given back"


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_no_write_is_lost_while_its_page_leaves(compiled: Compiled, tmp_path: Path, policy: Policy) -> None:
    found, printed = record(tmp_path, [compiled("hammer"), 200], policy=policy)
    assert (printed, found.code) == ("no count was lost\n", 0)
    assert found.summary.fetches > 10_000


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_no_access_is_wrong(compiled: Compiled, tmp_path: Path, policy: Policy) -> None:
    """By AddressSanitizer, which gives allocations itself: mappings are what is served then.

    It needs the static library of gcc's, which some systems have in a package of its own (libasan-static).
    """
    # Its functions are not to take the place of those that the instrument has.
    flags = ("-fsanitize=address", "-static-libasan", "-Wl,--exclude-libs,libasan.a", "-g")
    checker = compiled("checker", *flags)
    found, printed = record(tmp_path, [checker, 4, 64, 200, 1], threshold_bytes=4096, policy=policy, local=LOCAL["5%"])
    assert (printed, found.code) == ("every byte was right\n", 0)
    assert found.summary.fetches > 5_000


@served
def test_a_program_with_an_allocator_of_its_own(compiled: Compiled, tmp_path: Path) -> None:
    found, printed = record(tmp_path, [compiled("own_malloc")])
    assert (printed, found.code) == (f"{6 * 2048}\n", 0)
    assert found.summary.fetches > 2048, "its arena is a mapping"


@served
def test_a_program_with_the_allocator_of_a_library(compiled: Compiled, tmp_path: Path) -> None:
    library = compiled("own_malloc", "-DLIBRARY", "-shared", "-fPIC")
    found, printed = record(tmp_path, ["timeout", "--signal=KILL", PATIENCE, compiled("usable", str(library))])
    assert (printed, found.code) == ("all its own\n", 0)
    fetching = [process for process in found.summary.processes if process["fetches"] > 2048]
    assert len(fetching) == 6, "its arenas are mappings, in the processes that it forks as well"


@served
def test_calls_again_and_again_are_not_all_asked_for(compiled: Compiled, tmp_path: Path) -> None:
    found, printed = record(tmp_path, [compiled("again"), 20_000, 1])
    assert (printed, found.code) == ("as it was written\n", 0)
    assert found.summary.processes[0]["calls"] < 50


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_a_large_block_that_moves(compiled: Compiled, tmp_path: Path, policy: Policy) -> None:
    found, printed = record(tmp_path, [compiled("again"), 0, 64], policy=policy)
    assert (printed, found.code) == ("as it was written\n", 0)
    assert found.summary.fetches >= 0.9 * (64 << 8), "what is moved is not fetched, but what is read"


@served
@pytest.mark.parametrize("how", [[], ["mremap"]], ids=["realloc", "mremap"])
def test_a_block_that_outgrows_the_region(tmp_path: Path, compiled: Compiled, how: list[str]) -> None:
    # The region is a quarter of the addresses.
    most = 1_100_000_000
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))  # noqa: E731
    done = incast_memory(tmp_path, "record", "-o", "out", "--", compiled("again"), 0, 150, *how, limit=limit)
    assert (done.stdout, done.returncode) == ("as it was written\n", 0), done.stderr
    assert summary(tmp_path / "out").processes[0]["unserved_bytes"] > 0


REFUSED = {
    "open": "EINVAL",
    "open with a mode": "EINVAL",
    "open64": "EINVAL",
    "openat": "EINVAL",
    "openat64": "EINVAL",
    "plain": "done",
    "F_SETFL": "EINVAL",
    "F_SETFL plain": "done",
    "packets": "done",
    "F_GETFL": "done",
    "F_DUPFD": "done",
    "mlockall": "EPERM",
    "mlock": "done",
}


@served
@pytest.mark.parametrize("flags", [(), ("-D_FORTIFY_SOURCE=2", "-D_FILE_OFFSET_BITS=64")], ids=["plain", "fortified"])
def test_what_would_go_wrong_is_refused(compiled: Compiled, tmp_path: Path, flags: tuple[str, ...]) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 16))
    done = incast_memory(tmp_path, "record", "-o", "out", "--", compiled("refused", *flags), file)
    assert dict(line.rsplit(" ", 1) for line in done.stdout.splitlines()) == REFUSED
    assert done.stderr.count("asks for O_DIRECT") == 1
    assert done.stderr.count("locks all its memory (mlockall)") == 1
    assert (done.returncode, summary(tmp_path / "out").code) == (0, 0)
    # Processes that are not served may.
    done = incast_memory(tmp_path, "record", "-o", "2", "--only", "sh", "--", "sh", "-c", f"{compiled('refused')} file")
    assert "O_DIRECT" not in done.stderr
    assert "open64 done" in done.stdout


@served
@pytest.mark.parametrize("goes_on", [False, True], ids=["reads", "goes on"])
def test_memory_that_is_given_back_past_the_library_ends_the_program(
    compiled: Compiled, tmp_path: Path, goes_on: bool
) -> None:
    program = [compiled("past"), "on"] if goes_on else [compiled("past")]
    done = incast_memory(tmp_path, "record", "-o", "out", "--", *program)
    assert "given memory back by a system call of its own, past the C library" in done.stderr
    assert done.returncode != 0
    assert done.stdout == ""


# Processes.


@served
def test_fork(tmp_path: Path) -> None:
    program = """
import os
x = list(range(300_000))
child = os.fork()
os.write(1, f"{sum(x)}\\n".encode())
if child: os.waitpid(child, 0)
else: os._exit(0)
"""
    found, printed = record(tmp_path, [sys.executable, "-c", program])
    assert printed == f"{sum(range(300_000))}\n" * 2
    assert [process["process"] for process in found.summary.processes] == [0, 1]
    assert all(process["fetches"] > 100 for process in found.summary.processes)
    counts = rows(found, "select process, count(*) from trace where kind = 'read' group by all order by all")
    assert counts == [(process["process"], process["fetches"]) for process in found.summary.processes]
    assert rows(found, "select count(*) from (select distinct process, thread from trace where kind = 'read')") == [
        (2,)
    ]


@served
def test_multiprocessing(tmp_path: Path) -> None:
    program = """
import multiprocessing
x = list(range(300_000))
def work(i): return sum(x) + i
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(4), chunksize=1))
"""
    found, printed = record(tmp_path, [sys.executable, "-c", program])
    assert printed == f"{[sum(range(300_000)) + i for i in range(4)]}\n"
    assert len(found.summary.processes) == 3


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_functions_around_a_fork_that_need_memory(compiled: Compiled, tmp_path: Path, policy: Policy) -> None:
    """Functions of a library, which are called before ours is loaded."""
    library = compiled("atfork", "-DLIBRARY", "-shared", "-fPIC")
    program = ["timeout", "--signal=KILL", PATIENCE, compiled("atfork", str(library))]
    found, printed = record(tmp_path, program, policy=policy)
    assert (printed, found.code) == ("forked\n", 0)
    assert found.summary.fetches > 5_000


@served
@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_a_thread_whose_stack_is_served_forks(compiled: Compiled, tmp_path: Path, policy: Policy) -> None:
    program = ["timeout", "--signal=KILL", PATIENCE, compiled("stack_fork")]
    found, printed = record(tmp_path, program, policy=policy, local=memory.Bytes(1 << 18))
    assert (printed, found.code) == ("forked\n", 0)
    assert len(found.summary.processes) == 103


@served
@pytest.mark.parametrize("forked", [[], ["fork"]])
def test_the_last_thread_ends_the_process(compiled: Compiled, tmp_path: Path, forked: list[str]) -> None:
    """The library's own does not count: the last of the program's runs what is to be done at exit, and is served."""
    program = ["timeout", "--signal=KILL", PATIENCE, compiled("outlives"), *forked]
    found, printed = record(tmp_path, program, local=memory.Bytes(1 << 20))
    assert (printed, found.code) == ("0 wrong\nthe end\n", 0)
    assert found.summary.fetches > 500


@served
def test_a_fork_that_waits_for_one_who_waits_for_pages_ends_the_program(compiled: Compiled, tmp_path: Path) -> None:
    done = incast_memory(tmp_path, "record", "-o", "out", "--", compiled("stack_fork"), "stdio")
    assert "forks while a thread that waits for remote memory has what fork waits for" in done.stderr
    assert done.returncode != 0
    assert done.stdout == ""


@served
def test_a_program_that_gives_up_its_permission_and_forks(tmp_path: Path) -> None:
    ended = "os.waitstatus_to_exitcode(os.wait()[1])"
    program = f"import os; {LISTS}; os.getuid() or os.setuid(65534); print({ended} if os.fork() else sum(x))"
    done = incast_memory(tmp_path, "record", "-q", "-o", "out", "--", sys.executable, "-c", program)
    if "given up the permission" in done.stderr:
        assert "`sysctl vm.unprivileged_userfaultfd=1` gives it to all users" in done.stderr
        assert done.stdout == "126\n"
    else:
        assert done.stdout == f"{sum(range(300_000))}\n0\n"


@served
def test_programs_that_it_starts_are_recorded(tmp_path: Path) -> None:
    program = f"import subprocess, sys; {LISTS}; subprocess.run([sys.executable, '-c', '{LISTS}'], check=True)"
    found, printed = record(tmp_path, ["sh", "-c", f'{sys.executable} -c "{program}"; true'])
    assert (printed, found.code) == ("", 0)
    fetched = [process["fetches"] > 1000 for process in found.summary.processes]
    assert fetched.count(True) == 2
    assert found.summary.processes[0]["name"] == "sh"
    interpreter = next(each["name"] for each in found.summary.processes if each["fetches"] > 1000)
    assert next(found.summary.lines()).startswith(
        f"program     {interpreter}, 2 processes (1 other without served memory): "
    )


@served
def test_only_processes_of_a_name_are_served(compiled: Compiled, tmp_path: Path) -> None:
    script = f"{compiled('walker')} {PAGES} 1; {sys.executable} -c '{LISTS}'; true"
    found, _ = record(tmp_path, ["sh", "-c", script], only=["walker", "nobody"])
    assert [process["name"] for process in found.summary.processes] == ["walker"]


@served
def test_no_process_of_the_name(tmp_path: Path) -> None:
    done = incast_memory(tmp_path, "record", "--only", "memcahed", "-o", "out", "--", "true")
    assert done.returncode == 3
    assert "none of its processes has the name memcahed" in done.stderr
    assert not (tmp_path / "out").exists()


@served
def test_clone_is_refused(compiled: Compiled, tmp_path: Path) -> None:
    clone = compiled("clone")
    assert subprocess.run([clone], check=False).returncode == 7
    found, printed = record(tmp_path, [clone])
    assert found.code == 5
    assert "incast: this program makes a process by clone without CLONE_VM" in printed
    assert "clone: Function not implemented" in printed


@served
def test_processes_that_are_left_are_ended(tmp_path: Path) -> None:
    # At another point of the start of the process that is left each time.
    for count in range(12):
        left = "setsid sleep 100" if count % 3 == 0 else "sleep 100"
        found, _ = record(tmp_path, ["sh", "-c", f"cd {tmp_path}; {left} & exit 3"])
        assert (found.code, found.summary.ended) == (3, 1)
        assert running_in(tmp_path) == []
        assert "note: 1 process was still running at the end of the program and ended" in list(found.summary.lines())
        found.path.rename(tmp_path / f"{count}")


@served
def test_processes_that_do_not_want_to_end(tmp_path: Path) -> None:
    found, _ = record(tmp_path, ["sh", "-c", f"cd {tmp_path}; trap '' TERM; sleep 100 & exit 3"])
    assert found.summary.ended == 1
    assert running_in(tmp_path) == []


@served
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("answer", ["print('asked', flush=True); sys.exit(5)", None], ids=["answered", "not answered"])
def test_signals_are_the_programs_to_answer(
    start: Start, tmp_path: Path, number: signal.Signals, answer: str | None
) -> None:
    (tmp_path / "program.py").write_text(
        f"import signal, sys\n{LISTS}\n"
        f"def handle(*_): {answer}\n"
        f"signal.signal({number}, {'handle' if answer else 'signal.SIG_DFL'})\n"
        "open('ready', 'w').close()\nwhile True: signal.pause()\n"
    )
    process = start("memory", "record", "-o", "out", "--", sys.executable, "program.py")
    wait_until((tmp_path / "ready").exists)
    process.send_signal(number)
    printed, errors = process.communicate(timeout=PATIENCE)
    code = 5 if answer else 128 + number
    assert (process.returncode, printed) == (code, "asked\n" if answer else ""), errors
    assert summary(tmp_path / "out").code == code
    assert summary(tmp_path / "out").fetches > 1000
    assert {path.name for path in tmp_path.iterdir()} == {"out", "program.py", "ready"}
    assert running_in(tmp_path) == []


@served
def test_a_program_goes_on_when_incast_is_gone(start: Start, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, time\nopen('ready', 'w').close()\n"
        "while not os.path.exists('go'): time.sleep(0.01)\n"
        "x = list(range(1_000_000))\nopen('sum', 'w').write(str(sum(x) + sum(x)))\nos.rename('sum', 'done')\n"
    )
    process = start("memory", "record", "-o", "out", "--", sys.executable, "program.py")
    wait_until((tmp_path / "ready").exists)
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    wait_until((tmp_path / "done").exists)
    assert (tmp_path / "done").read_text() == str(2 * sum(range(1_000_000)))
    wait_until(lambda: running_in(tmp_path) == [])
    assert not (tmp_path / "out").exists()
    process.communicate()


# Where it cannot be.


@served
def test_addresses_that_a_program_may_not_have(tmp_path: Path) -> None:
    done = incast_memory(tmp_path, "record", "-o", "out", "--", "sh", "-c", "ulimit -v 500000; exec cat")
    assert done.returncode == 3, done.stderr
    assert "no address space for the program's memory; check limits (ulimit -v" in done.stderr
    assert not (tmp_path / "out").exists()


@served
def test_what_has_its_environment_cleared_is_not_served(tmp_path: Path) -> None:
    found, printed = record(tmp_path, ["env", "-i", "echo", "hello"])
    assert (printed, found.code) == ("hello\n", 0)
    assert [process["name"] for process in found.summary.processes] == ["env"]


@served
def test_a_full_disk(tmp_path: Path, compiled: Compiled) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        # More than the ring has, and less than what goes through it.
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000_000, 9_000_000))

    done = incast_memory(tmp_path, "record", "-o", "out", "--", compiled("walker"), PAGES, 150, limit=limit)
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["temporary"]


@served
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = incast_memory(tmp_path, "record", "-o", "file/out", "--", "true")
    assert done.returncode == 3, done.stderr
    assert "file" in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


# Folders that are there.


@served
def test_a_recording_is_replaced_if_that_is_wanted(tmp_path: Path) -> None:
    assert incast_memory(tmp_path, "record", "-q", "-o", "out", "--", "sh", "-c", "exit 4").returncode == 4
    again = ("record", "-q", "-o", "out", "--", "sh", "-c", "touch ran; exit 5")
    done = incast_memory(tmp_path, *again)
    assert done.returncode == 2
    assert "out exists already; use --overwrite to replace it" in done.stderr
    assert summary(tmp_path / "out").code == 4
    assert not (tmp_path / "ran").exists(), "nothing was run"
    assert incast_memory(tmp_path, "record", "--overwrite", *again[1:]).returncode == 5
    assert summary(tmp_path / "out").code == 5
    # A start that fails takes nothing away.
    done = incast_memory(tmp_path, "record", "--overwrite", "-o", "out", "--", "gone")
    assert done.returncode == 2
    assert summary(tmp_path / "out").code == 5


@pytest.mark.parametrize("there", [["precious"], ["precious", "summary.json"], []], ids=["one", "part", "empty"])
def test_a_folder_of_something_else_is_never_replaced(tmp_path: Path, there: list[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in there:
        (tmp_path / "out" / name).write_text("mine")
    done = incast_memory(tmp_path, "record", "--overwrite", "-o", "out", "--", "touch", "ran")
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == dict.fromkeys(there, "mine")
    assert not (tmp_path / "ran").exists(), "nothing was run"


def test_what_is_no_recording(tmp_path: Path) -> None:
    for text in (None, "{", "{}", json.dumps({"command": []})):
        if text is not None:
            (tmp_path / "summary.json").write_text(text)
        with pytest.raises(incast.ApplicationError, match="is not a recording"):
            memory.open_recording(tmp_path)


# Records on their way.


def test_a_ring_is_read_in_order_when_it_goes_round(tmp_path: Path) -> None:
    ring = os.memfd_create("ring")
    os.ftruncate(ring, HEADER_BYTES + 4 * RECORD_BYTES)
    reader = Ring(os.dup(ring))

    def write(first: int, end: int) -> None:
        for number in range(first, end):
            os.pwrite(ring, bytes([number]) * RECORD_BYTES, HEADER_BYTES + number % 4 * RECORD_BYTES)
        os.pwrite(ring, struct.pack("<Q", end), Word.WRITTEN * 8)

    out = tmp_path / "records"
    with out.open("wb") as file:
        write(0, 3)
        assert reader.drain(file) == 0, "what was just written is read at the next look"
        assert reader.drain(file) == 3
        assert reader.word(Word.READ) == 3
        write(3, 6)
        assert reader.drain(file, ended=True) == 3
        assert reader.drain(file, ended=True) == 0
    assert out.read_bytes() == b"".join(bytes([number]) * RECORD_BYTES for number in range(6))
    reader.close()
    os.close(ring)
