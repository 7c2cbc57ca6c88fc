//! The small project that every case works on. Its tests need only Python.

/// The request of the user.
pub(super) const PROMPT: &str = "Add a function that triples a number.";

/// The files of the first commit.
pub(super) const FILES: [(&str, &str); 5] = [
    (".gitignore", "__pycache__/\n"),
    ("README.md", "# Calculator\n\nFunctions for numbers.\n"),
    ("calc.py", CODE),
    ("tests/__init__.py", ""),
    ("tests/test_calc.py", TESTS),
];

/// Where a case has checks.
pub(super) const CHECKS: (&str, &str) = (
    "overtone.toml",
    "[checks.test]\nrun = \"python3 -m unittest\"\nstages = [\"DEV\", \"TEST\"]\ntimeout = \"5m\"\n",
);

/// The command that runs the project's tests.
pub(super) const RUN_TESTS: &str = "python3 -m unittest";

pub(super) const CODE: &str = "\
def add(a, b):
    return a + b


def double(a):
    return add(a, a)
";

pub(super) const TESTS: &str = "\
import unittest

from calc import add, double


class CalcTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_add_negative(self):
        self.assertEqual(add(-1, -2), -3)

    def test_double(self):
        self.assertEqual(double(4), 8)
";

/// What the user asked for.
pub(super) const TRIPLE: &str = "\
def add(a, b):
    return a + b


def double(a):
    return add(a, a)


def triple(a):
    return 3 * a
";

pub(super) const TRIPLE_TESTS: &str = "\
import unittest

from calc import add, double, triple


class CalcTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_add_negative(self):
        self.assertEqual(add(-1, -2), -3)

    def test_double(self):
        self.assertEqual(double(4), 8)

    def test_triple(self):
        self.assertEqual(triple(4), 12)
";

/// The same with a mistake that the old tests find.
pub(super) const BROKEN: &str = "\
def add(a, b):
    return a - b


def double(a):
    return add(a, a)


def triple(a):
    return 3 * a
";
