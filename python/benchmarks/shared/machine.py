"""What the figures depend on: the processor, its instruction sets, and the versions of everyone."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info

from shared.data import ROOT

PACKAGES = (
    "sparsemble",
    "numpy",
    "scipy",
    "scikit-learn",
    "spams-bin",
    "faiss-cpu",
    "scikit-image",
    "dictlearn",
)
CRATES = ("faer", "matrixmultiply")
INSTRUCTION_SETS = ("avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "asimd", "sve")


def describe() -> dict[str, str]:
    """Return the name and the value of each fact."""
    processor = _cpuinfo()
    flags = processor.get("flags", processor.get("Features", "")).split()
    return {
        "processor": processor.get("model name", platform.processor() or platform.machine()),
        "cores": str(os.cpu_count()),
        "instruction sets": ", ".join(name for name in INSTRUCTION_SETS if name in flags) or "not known",
        "load before the run": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not known",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{package} {_version(package)}" for package in PACKAGES),
        "GEMM libraries": ", ".join(f"{crate} {_locked(crate)}" for crate in CRATES),
        "BLAS": ", ".join(
            sorted({_blas(library) for library in threadpool_info() if library["user_api"] == "blas"})
        ),
    }


def _cpuinfo() -> dict[str, str]:
    """Return the first processor of Linux's table, nothing elsewhere."""
    table = Path("/proc/cpuinfo")
    if not table.exists():
        return {}
    pairs = (line.partition(":") for line in table.read_text().split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _locked(crate: str) -> str:
    """Return the version in the lock file of the workspace."""
    found = re.search(rf'name = "{crate}"\nversion = "(.+)"', (ROOT / "Cargo.lock").read_text())
    return found[1] if found else "not known"


def _blas(library: dict[str, str]) -> str:
    return f"{library['internal_api']} {library['version']} ({library.get('architecture', 'any')})"
