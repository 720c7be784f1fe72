"""How a process group is asked for, and whether one can be had."""
import shutil
import subprocess


def group(mpi, ranks):
    return ["--ranks", f"mpi:{ranks}", "--launcher", f"mpirun.{mpi}", "--allow-root"]


def why_not(tally, mpi):
    """Why nothing can run here; empty where it can."""
    if shutil.which(f"mpirun.{mpi}") is None:
        return f"no mpirun.{mpi}"
    doctor = subprocess.run([tally, "doctor"], capture_output=True, text=True, timeout=300).stdout
    return "" if f"{mpi}: module built" in doctor else f"this tally was built without {mpi}"
