"""Kills a program at a moment of its work, by the processor time that it has taken.

On a busy machine the clock says nothing of how far a program is.
"""

import os
import resource
import signal
import subprocess
import time


def used():
    """Seconds of processor time of all programs that were run and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spent(pid):
    """Seconds of processor time that a running program has taken."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as handle:
                total += int(handle.read().split()[0])
    except (OSError, ValueError, IndexError):
        pass
    return total / 1e9


def kill(command, seconds, environment):
    """Runs a command, and kills it with SIGKILL once it has taken so many seconds of processor time.

    Returns whether it was killed: it may have ended before.
    """
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    while child.poll() is None:
        if spent(child.pid) >= seconds:
            child.send_signal(signal.SIGKILL)
            return child.wait() == -signal.SIGKILL
        time.sleep(0.0005)
    return False
