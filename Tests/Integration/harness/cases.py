"""The tests, as the suite's files declare them."""

import dataclasses
import importlib
import pathlib


@dataclasses.dataclass(frozen=True)
class Case:
    function: object
    needs: frozenset
    is_long: bool
    is_timed: bool
    theme: str

    @property
    def name(self):
        return self.function.__name__

    @property
    def says(self):
        return (self.function.__doc__ or "").strip()


CASES = []


def case(*needs, long=False, timed=False):
    """Declares a test: a function of a World whose doc line says what it proves.

    `needs` are promises a broker must keep for the test to mean anything; `long` ones run with --long. A `timed` one judges
    how late something came, so no other test runs beside it.
    """

    def declare(function):
        theme = function.__module__.rsplit(".", 1)[1]
        made = Case(function, frozenset(needs), long, timed, theme)
        if not made.says:
            raise ValueError(f"{made.name} does not say what it proves")
        if any(other.name == made.name for other in CASES):
            raise ValueError(f"two tests named {made.name}")
        CASES.append(made)
        return function

    return declare


def load():
    folder = pathlib.Path(__file__).resolve().parents[1] / "suite"
    for path in sorted(folder.glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"suite.{path.stem}")
    return CASES
