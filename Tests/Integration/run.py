#!/usr/bin/env python3
"""Drives the built `sendgate` against a broker and checks what a read_committed reader sees.

    run.py --sendgate PATH [--broker own|noida | --bootstrap HOST:PORT] [--only NAME ...] [--list] [--keep] [--long]
           [--jobs N]

NAME is a test, a theme (a file of suite/), or the beginning of either. Each test has topics and a group of its own under
a prefix, so one broker serves all; with --jobs several run at a time, since most of a test is waiting, and each job has
a broker of its own, which its tests may kill; those that judge how late something came run alone, in the end. Files of a
failed test are kept and its processes' output is shown; --keep keeps them all. The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import pathlib
import queue
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import cases  # noqa: E402
from harness.brokers import GivenBroker, NoidaBroker, SendgateBroker  # noqa: E402
from harness.checking import CheckFailed  # noqa: E402
from harness.world import World  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sendgate", help="the command under test")
    broker = parser.add_mutually_exclusive_group()
    broker.add_argument("--bootstrap", metavar="HOST:PORT", help="a broker that is running")
    broker.add_argument("--broker", choices=["own", "noida"], default="own", help="one to start (own)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these tests or themes")
    parser.add_argument("--list", action="store_true", help="say what would run, and what each test proves")
    parser.add_argument("--keep", action="store_true", help="keep the files of every test")
    parser.add_argument("--long", action="store_true", help="the long tests too")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many tests at a time (1)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of what is random")
    options = parser.parse_args()
    if not options.list and not options.sendgate:
        parser.error("--sendgate is needed")
    return options


def chosen(options, keeps):
    """(to run, not meant for this broker)."""
    found = [each for each in cases.load() if options.long or not each.is_long or options.only]
    if options.only:
        names = [name for name in options.only if not any(_fits(each, name) for each in found)]
        if names:
            sys.exit(f"no test or theme begins with {', '.join(names)}; --list names them")
        found = [each for each in found if any(_fits(each, name) for name in options.only)]
    return [c for c in found if c.needs <= keeps], [c for c in found if not c.needs <= keeps]


def _fits(each, name):
    return each.name.startswith(name) or each.theme.startswith(name)


def broker_class(options):
    if options.bootstrap:
        return GivenBroker
    return {"own": SendgateBroker, "noida": NoidaBroker}[options.broker]


def start_broker(options, directory):
    if options.bootstrap:
        return GivenBroker(options.bootstrap)
    if options.broker == "noida":
        return NoidaBroker(directory).start()
    return SendgateBroker(os.path.abspath(options.sendgate), directory).start()


def run_one(each, options, broker, number, directory):
    """Whether it passed. Says why where it did not."""
    own = os.path.join(directory, each.name)
    os.makedirs(own)
    world = World(os.path.abspath(options.sendgate), broker, f"t{os.getpid()}-{number}", own)
    world.random = random.Random(f"{options.seed}/{each.name}")
    began = time.monotonic()
    print(f"{each.theme}.{each.name} ...", end=" ", flush=True)
    try:
        if hasattr(broker, "process") and not broker.process.is_running():
            broker.start()
        each.function(world)
        print(f"ok ({time.monotonic() - began:.1f} s)", flush=True)
        return True
    except Exception as error:
        print(f"FAILED ({time.monotonic() - began:.1f} s), files in {own}", flush=True)
        if not isinstance(error, CheckFailed):
            traceback.print_exc(file=sys.stdout)
        else:
            place = traceback.extract_tb(error.__traceback__)
            print(f"   at {' < '.join(f'{frame.name}:{frame.lineno}' for frame in reversed(place[1:]))}")
            print(f"   {error}")
        print(world.describe(), flush=True)
        return False
    finally:
        world.finish()


def work(options, directory, numbers, answers):
    """One job: runs tests by their numbers until there is none left, on a broker of its own."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run, _ = chosen(options, broker_class(options).keeps)
    os.makedirs(directory)
    broker = start_broker(options, directory)
    try:
        for number in iter(numbers.get, None):
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                passed = run_one(run[number], options, broker, number, directory)
            if passed and not options.keep:
                shutil.rmtree(os.path.join(directory, run[number].name))
            answers.put((run[number].name, passed, told.getvalue()))
    finally:
        broker.finish()


def run_all(run, options, directory):
    """The names of the tests that failed. The timed ones come last, one by one."""
    timed = [number for number, each in enumerate(run) if each.is_timed]
    beside = [number for number, each in enumerate(run) if not each.is_timed]
    if options.jobs == 1:
        return run_some(range(len(run)), 1, options, os.path.join(directory, "all"))
    failed = run_some(beside, options.jobs, options, os.path.join(directory, "beside"))
    return failed + run_some(timed, 1, options, os.path.join(directory, "alone"))


def run_some(chosen_numbers, count, options, directory):
    """In `count` jobs; the names of those that failed."""
    numbers, answers = multiprocessing.Queue(), multiprocessing.Queue()
    for number in [*chosen_numbers, *[None] * count]:
        numbers.put(number)
    jobs = [
        multiprocessing.Process(target=work, args=(options, f"{directory}-{job}", numbers, answers)) for job in range(count)
    ]
    failed = []
    try:
        for job in jobs:
            job.start()
        for _ in chosen_numbers:
            name, passed, told = next_answer(answers, jobs)
            print(told, end="", flush=True)
            if not passed:
                failed.append(name)
        for job in jobs:
            job.join()
    finally:
        for job in jobs:
            if job.is_alive():
                job.terminate()
                job.join()
    return failed


def next_answer(answers, jobs):
    while True:
        try:
            return answers.get(timeout=1)
        except queue.Empty:
            if any(job.exitcode for job in jobs):
                sys.exit("a job of this run ended by itself; what it ran is not known to have passed")


def main():
    options = arguments()
    run, other = chosen(options, broker_class(options).keeps)
    if options.list:
        for each in run:
            print(f"{each.theme}.{each.name}{' (long)' if each.is_long else ''}\n    {each.says}")
        print(f"{len(run)} tests; {len(other)} more need what this broker does not promise")
        return 0
    # A signal ends the run as an exception would, so that every process it started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    directory = tempfile.mkdtemp(prefix="sendgate-integration-")
    print(f"broker {broker_class(options).kind}, seed {options.seed}, files in {directory}", flush=True)
    failed = run_all(run, options, directory)
    if not failed and not options.keep:
        shutil.rmtree(directory)
    if other:
        print(f"{len(other)} tests need what this broker does not promise and were not run here")
    if failed:
        print(f"failed: {' '.join(failed)}")
    print(f"{len(run) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
