"""Judges trace.json by the rules of the Chrome trace format as Perfetto reads it.

trace.py RESULT...: directories with trace.json and result.json. Written from the
format's description and not from the writer:
 - ts and dur are numbers of microseconds; whole nanoseconds, not negative;
 - pid and tid of every event have a process_name and a thread_name;
 - slices of a track begin in order, and are nested or apart;
 - a flow has one start and one finish, in order of time with its steps, each of
   them in an open slice of its track: begun before it in the file and not over
   (a slice does not hold its own end);
 - the slices add up to what result.json says the plan costs."""
import collections
import json
import os
import sys


class Unsound(Exception):
    pass


def demand(ok, *what):
    if not ok:
        raise Unsound(" ".join(map(str, what)))


def ns(event, key):
    x = event.get(key)
    demand(type(x) in (int, float), key, "is no number in", event)
    whole = round(x * 1000)
    demand(whole >= 0 and abs(x * 1000 - whole) < 1e-3, key, "is not in whole nanoseconds in", event)
    return whole


def check_event(event):
    demand(event.get("ph") in ("M", "X", "s", "t", "f"), "unknown phase in", event)
    demand(isinstance(event.get("name"), str) and event["name"], "no name in", event)
    for key in ("pid", "tid"):
        demand(type(event.get(key)) is int, key, "is no integer in", event)
    if event["ph"] in "stf":
        demand("id" in event and "cat" in event, "a flow without id or category:", event)
    if event["ph"] == "f":
        demand(event.get("bp") == "e", "a finish bound to the next slice:", event)


def check_names(events):
    names = {(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
    processes = {pid for name, pid, _ in names if name == "process_name"}
    threads = {(pid, tid) for name, pid, tid in names if name == "thread_name"}
    for e in events:
        if e["ph"] != "M":
            demand(e["pid"] in processes, "a process without a name:", e)
            demand((e["pid"], e["tid"]) in threads, "a thread without a name:", e)


class Track:
    """Open slices, as [begin, end) in nanoseconds."""

    def __init__(self):
        self.open = []
        self.last = 0

    def move_to(self, at):
        while self.open and self.open[-1][1] <= at:
            self.open.pop()

    def begin(self, at, end, event):
        demand(at >= self.last, "begins before the slice before it:", event)
        self.last = at
        self.move_to(at)
        demand(not self.open or end <= self.open[-1][1], "overlaps the slice before it:", event)
        self.open.append((at, end))


def check_flow(steps):
    phases = "".join(e["ph"] for e in steps)
    demand(phases[0] == "s" and phases[-1] == "f" and set(phases[1:-1]) <= {"t"},
           "a flow goes", phases, "in", steps[0])


def check_timeline(events):
    """Number of slices and flows, time all slices take."""
    tracks = collections.defaultdict(Track)
    flows = collections.defaultdict(list)
    slices = spent = 0
    timed = [e for e in events if e["ph"] != "M"]
    for e in sorted(timed, key=lambda e: ns(e, "ts")):  # stable: file order
        track, at = tracks[e["pid"], e["tid"]], ns(e, "ts")
        if e["ph"] == "X":
            track.begin(at, at + ns(e, "dur"), e)
            slices += 1
            spent += ns(e, "dur")
        else:
            track.move_to(at)
            demand(track.open, "a flow outside of any slice:", e)
            flows[e["cat"], e["name"], e["id"]].append(e)
    for steps in flows.values():
        check_flow(steps)
    return slices, len(flows), spent


def check(folder):
    with open(os.path.join(folder, "trace.json")) as f:
        document = json.load(f)
    with open(os.path.join(folder, "result.json")) as f:
        total = json.load(f)["total"]["cost_ns"]
    demand(document.get("displayTimeUnit") in ("ms", "ns"), "displayTimeUnit is", document.get("displayTimeUnit"))
    events = document["traceEvents"]
    for e in events:
        check_event(e)
    check_names(events)
    slices, flows, spent = check_timeline(events)
    demand(spent == total, "slices take", spent, "ns, the plan", total)
    return f"{slices} slices, {flows} flows"


def main():
    failed = 0
    for folder in sys.argv[1:]:
        try:
            print(f"{folder}: {check(folder)}")
        except Unsound as e:
            failed += 1
            print(f"FAILED: {folder}: {e}")
    sys.exit(1 if failed or len(sys.argv) < 2 else 0)


main()
