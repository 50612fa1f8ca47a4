"""Sweeps on a Ray cluster: a real head node on this machine, used over its address as any other would be."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import LONG, PATIENCE, SMALL, Command, wait_until, write
from incast import EnvironmentFailure, IncastError, sweep
from incast.sweep import SweepProgress, cluster, ray_task

STAR = "[fabric.star]\nhosts = 4\n"
TRACES = f"""\
{STAR}
[[workload]]
trace = {{ file = "../traces/good.csv" }}

[[workload]]
[workload.poisson]
load = 0.3
sizes = {{ file = "SIZES" }}
duration = "100us"

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""
"""Files by a name that leads out of the scenario's folder, and by an absolute one."""
FAILING = """\
scenario = "scenario.toml"

[[vary]]
path = "fabric.star.hosts"
values = [16, 4]

[[vary]]
name = "trace"
points = [
    { name = "good" },
    { name = "other", set = { "workload[0].trace.file" = "other.csv" } },
]
"""


@dataclass
class Head:
    """A head node."""

    port: int
    scratch: Path
    """Where its machine puts temporary files."""
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"127.0.0.1:{self.port}"

    def runs(self) -> list[int]:
        """Its processes that do runs now."""
        return [pid for pid, title in processes() if title.startswith("ray::run") and session(pid) == self.process.pid]


def processes() -> Iterator[tuple[int, str]]:
    """All processes and what they call themselves."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield int(folder.name), (folder / "cmdline").read_text().replace("\0", " ").strip()
        except OSError:
            continue


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    # The names of Ray's sockets have to be short. Its ports are open to the network: a token keeps others out.
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    port = free_port()
    scratch = folder / "tmp"
    scratch.mkdir()
    environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus=2"]
    command += [f"--port={port}", f"--temp-dir={folder}"]
    if importlib.util.find_spec("grpc") is not None:
        # Where Ray has its client, the node opens a port for it, always the same one if it is not named.
        command += [f"--ray-client-server-port={free_port()}"]
    command += ["--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=100000000"]
    with pytest.MonkeyPatch.context() as patch, (folder / "log").open("w") as log:
        for name, value in environment.items():
            patch.setenv(name, value)
        process = subprocess.Popen(
            command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_until(lambda: "Ray runtime started" in (folder / "log").read_text() or process.poll() is not None)
            assert process.poll() is None, (folder / "log").read_text()
            yield Head(port, scratch, process)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                for pid, _ in list(processes()):
                    if session(pid) == process.pid:
                        os.kill(pid, signal.SIGKILL)
                shutil.rmtree(folder, ignore_errors=True)


def session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A sweep of which one variation fails: it has no host 9."""
    folder = tmp_path / "scenarios"
    for name in (folder, tmp_path / "traces"):
        name.mkdir()
    write(tmp_path / "traces", "src,dst,size_bytes,start_us\n0,1,20000,0\n2,1,30000,5\n", "good.csv")
    write(folder, "src,dst,size_bytes,start_us\n0,1,20000,0\n2,9,30000,5\n", "other.csv")
    sizes = write(tmp_path, "1000 0\n10000 60\n50000 100\n", "my sizes.txt")
    write(folder, TRACES.replace("SIZES", str(sizes)))
    return write(folder, FAILING, "sweep.toml")


def test_same_as_here(command: Command, traces: Path, tmp_path: Path, head: Head) -> None:
    here = command("sweep", traces, "-o", "here")
    there = command("sweep", traces, "-o", "there", "--ray", head.address)
    assert there.returncode == here.returncode == 1, there.stderr
    assert "Traceback" not in there.stderr, there.stderr
    assert summary(there.stderr) == summary(here.stderr)
    assert "other.csv:3:3" in summary(here.stderr)
    first, second = (sweep.open_sweep(tmp_path / name) for name in ("here", "there"))
    assert second.runs == first.runs
    assert [run.columns["trace"] for run in second.done] == ["good", "good", "other", "other", "good", "good"]
    for run in first.done:
        for file in (tmp_path / "here" / "runs" / run.key).iterdir():
            # The manifest has times and places, and SHA256SUMS its checksum.
            if file.name not in ("manifest.json", "SHA256SUMS"):
                other = tmp_path / "there" / "runs" / run.key / file.name
                assert other.read_bytes() == file.read_bytes(), f"{run.label}: {file.name}"
        one, other_ = first.results(run).manifest, second.results(run).manifest
        for name in ("scenario_dir", "scenario_sha256", "columns", "tables"):
            assert other_[name] == one[name]
    assert list(head.scratch.iterdir()) == []


def summary(text: str) -> str:
    """The message at the end about the runs that failed."""
    return text.partition("\nerror: ")[2]


def plan(folder: Path, scenario: str, seeds: list[int]) -> sweep.Plan:
    write(folder, scenario)
    return sweep.read(
        write(folder, f'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = {seeds}\n', "sweep.toml")
    )


MEDIUM = LONG.replace("5s", "3ms")
"""Runs for a second."""


@pytest.mark.long
def test_interrupted(tmp_path: Path, head: Head) -> None:
    def interrupt(progress: SweepProgress) -> None:
        if any(activity.pulse.fraction > 0 for activity in progress.active.values()):
            raise KeyboardInterrupt

    planned = plan(tmp_path, LONG, [1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        sweep.run(planned, tmp_path / "out", ray=head.address, progress=interrupt)
    wait_until(lambda: head.runs() == [])
    wait_until(lambda: list(head.scratch.iterdir()) == [])
    assert [run.state for run in sweep.open_sweep(tmp_path / "out").runs] == ["waiting"] * 3


@pytest.mark.long
def test_worker_is_killed(tmp_path: Path, head: Head) -> None:
    killed: list[int] = []

    def has_killed() -> bool:
        killed.extend(head.runs())
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        return bool(killed)

    # As soon as it is seen: events of a short run can reach the sweep after its end.
    killer = threading.Thread(target=wait_until, args=(has_killed,))
    killer.start()
    done = sweep.run(plan(tmp_path, MEDIUM, [1, 2]), tmp_path / "out", ray=head.address, jobs=1)
    killer.join()
    assert len(killed) == 1
    assert [run.state for run in done.runs] == ["failed", "done"]
    assert "memory" in str(done.runs[0].error)
    (first, second) = sweep.run(plan(tmp_path, MEDIUM, [1, 2]), tmp_path / "out").runs
    assert (first.state, second) == ("done", done.runs[1]), "here goes on where the cluster was"


@pytest.mark.long
def test_cluster_is_lost(tmp_path: Path, head: Head) -> None:
    def lose(progress: SweepProgress) -> None:
        if progress.done:
            for pid, title in processes():
                if "incast.sweep.ray_driver" in title and f"PPid:\t{os.getpid()}\n" in status(pid):
                    os.kill(pid, signal.SIGKILL)

    with pytest.raises(EnvironmentFailure, match=f"{head.address}"):
        sweep.run(plan(tmp_path, MEDIUM, [1, 2, 3]), tmp_path / "out", ray=head.address, jobs=1, progress=lose)
    assert [run.state for run in sweep.open_sweep(tmp_path / "out").runs] == ["done", "waiting", "waiting"]


def status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


def test_another_build() -> None:
    error, files = ray_task.run("0123456789ab", "{}", None)
    assert files == {}
    assert error is not None
    assert "of incast, the sweep has" in error
    assert "0123456789ab" in error


def refused(command: Command, small: Path, address: str, code: int) -> str:
    """The message about an invalid address; nothing is written."""
    folder = small.parent
    write(folder, f'scenario = "{small.name}"\n', "sweep.toml")
    done = command("sweep", "sweep.toml", "-o", "out", "--ray", address)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["scenario.toml", "sweep.toml"]
    return done.stderr


@pytest.mark.long
def test_nobody_is_there(command: Command, small: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    said = refused(command, small, address, 3)
    assert address in said
    assert "refused" in said


@pytest.mark.long
@pytest.mark.parametrize(
    "address", ["auto", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "http://head:6379", "a b:1"]
)
def test_no_address(command: Command, small: Path, address: str) -> None:
    said = refused(command, small, address, 2)
    assert f"`{address}`" in said
    assert "HOST:PORT" in said


@pytest.mark.long
def test_somebody_else_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 1.0)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EnvironmentFailure, match="no Ray cluster"),
    ):
        sweep.run(plan(tmp_path, SMALL, [1]), tmp_path / "out", ray=f"127.0.0.1:{silent.getsockname()[1]}")
    assert not (tmp_path / "out").exists()


def test_without_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planned = plan(tmp_path, SMALL, [1])
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(IncastError, match="pip install ray"):
        sweep.run(planned, tmp_path / "out", ray="127.0.0.1:6379")
    assert not (tmp_path / "out").exists()
