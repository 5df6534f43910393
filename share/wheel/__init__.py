"""marq as pip installs it: the programs lie in this package, in bin/."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def program(name):
    """Become the program, with this Python first on PATH: plug-ins look for their
    runtimes among the packages of the first one there."""
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + path
    file = os.path.join(HERE, "bin", name)
    try:
        os.execv(file, [file, *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"{name}: {file}: {e.strerror}")


def marq():
    program("marq")


def measure():
    program("marq-measure")
