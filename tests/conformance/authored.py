"""Operators of other domains as their authors have them, and as they are written out
(authored.c): for the scripts that make models of them."""
import os
import subprocess


def put_back(root):
    """What differs of the models ROOT/NAME/model.onnx, a line each."""
    done = subprocess.run([f"{os.environ['MARQ_BUILD']}/tests/conformance_authored", root], capture_output=True, text=True)
    lines = done.stdout.strip().splitlines() or [f"FAILED: status {done.returncode}"]
    print(lines[-1])
    wrong = [x for x in lines if x.startswith("FAILED")]
    return wrong or ([f"FAILED: status {done.returncode}"] if done.returncode else [])
