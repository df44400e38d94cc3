"""What a benchmark's JSON line says of where it ran, and how its peers are started."""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv/bin/python"
MEGADLM = pathlib.Path(os.environ.get("MEGADLM_BIN", ROOT / "build/release/bin")) / "megadlm"

# glibc returns large tensors to the kernel at each free; these keep them.
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "17179869184", "MALLOC_TRIM_THRESHOLD_": "17179869184"}


def describe():
    """Processor, cores, revision and versions."""
    processor = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    versions = subprocess.run(
        [PYTHON, "-c", "import json, platform, torch, transformers; print(json.dumps({'python': platform.python_version(), "
         "'torch': torch.__version__, 'transformers': transformers.__version__}))"], capture_output=True, text=True, check=True).stdout
    return {"machine": processor[1] if processor else os.uname().machine, "cores": os.cpu_count(), "revision": revision,
            "versions": json.loads(versions)}


def run_peer(script, *arguments, tuned):
    """Runs a peer's script; gives the JSON object of its last line."""
    result = subprocess.run([PYTHON, script, *map(str, arguments)], capture_output=True, text=True, cwd=pathlib.Path(script).parent,
                            env={**os.environ, **(TUNED_MALLOC if tuned else {})})
    if result.returncode != 0:
        raise SystemExit(f"{script} {' '.join(map(str, arguments))} failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def run_here(*arguments):
    """Runs the program; gives its standard output."""
    result = subprocess.run([MEGADLM, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"megadlm {arguments[0]} failed:\n{result.stderr[-2000:]}")
    return result.stdout


def run_op_bench(name, *arguments):
    """Builds and runs a benchmark of bench/CMakeLists.txt; gives the JSON of its standard output."""
    build = MEGADLM.parents[1]
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DMEGADLM_BENCHMARKS=ON"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", name], check=True, stdout=subprocess.DEVNULL)
    return json.loads(subprocess.run([build / "bin" / name, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout)
