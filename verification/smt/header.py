# SPDX-License-Identifier: BSL-1.0
"""Translates expressions in the source text of share_word.hpp to expressions over 64-bit vectors. The questions ask
whether each expression has the value, or the effect on the word, that the model defines for the word's fields."""

import pathlib
import re

from share_word import NAME, ShareWord
from solvers import Question
from terms import both, choose, either, equal, literal, negated
from transitions import variables

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "core/byre/cow/share_word.hpp"
SORTS = {"owners": "Bits", "copies": "Bits", "waiting": "Bool", "read_only": "Bool", "waits": "Bool",
         "several": "Bits"}


class NotUnderstood(Exception):
    """The header has an expression in a form that this module cannot read."""


def python_of(expression):
    """Translates a C++ expression to Python. Handles only the forms that the header uses."""
    text = re.sub(r"std::uint64_t\{(\w+)\}", r"\1", " ".join(expression.split()))
    text = re.sub(r"\((\w+) \? (\w+) : (\w+)\)", r"choose(\1, \2, \3)", text)
    text = re.sub(r"static_cast<std::uint32_t>\(", "low_half(", text)
    text = re.sub(r"!(?!=)(\w+(?:\.\w+\(\))?)", r"negated(\1)", text)
    for operator, function in (("||", "either"), ("&&", "both")):
        if operator in text:
            return f"{function}({', '.join(python_of(part) for part in text.split(operator))})"
    return text.strip()


class WordHeader:
    """The expressions of share_word.hpp, with `constants` in place of the header's constants."""

    def __init__(self, constants):
        self.constants = constants
        self.text = re.sub(r"//.*", "", (ROOT / HEADER).read_text())
        self.names = {
            "choose": lambda condition, then, other: choose(condition, bits(then), bits(other)),
            "either": either,
            "both": both,
            "negated": negated,
            "low_half": lambda word: word & 0xFFFF_FFFF,
            **{name[len(NAME):]: value for name, value in constants.items() if name.startswith(NAME)},
        }

    def body(self, function):
        """The text between the braces of a function."""
        begin = re.search(rf"\w {function}\([^;{{}}]*\{{", self.text)
        if not begin:
            raise NotUnderstood(f"{HEADER}: function {function} not found. Update header.py or the header.")
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        return self.text[begin.end():end - 1]

    def find(self, pattern, text):
        found = re.search(pattern, text, re.DOTALL)
        if not found:
            raise NotUnderstood(f"{HEADER}: nothing matches {pattern}. Update header.py or the header.")
        return found[1]

    def value(self, expression, **names):
        return eval(python_of(expression), {"__builtins__": {}}, {**self.names, **names})

    def state(self, word):
        """An object with the functions of the header's State."""

        def function(name):
            returned = self.find(r"return (.*?);", self.body(name))
            return lambda: self.value(returned, word=word)

        state = type("State", (), {})()
        state.word = word
        for name in re.findall(r"(\w+)\(\) const noexcept \{",
                               self.find(r"struct State \{(.*?)\n  \};", self.text)):
            setattr(state, name, function(name))
        return state

    def operand(self, site):
        """The operation at the site, and its last argument before the order."""
        found = re.search(rf"word_\.(\w+)\(([^;]*?),?\s*sites\.at\(At::{site}\b", self.text)
        if not found:
            raise NotUnderstood(f"{HEADER}: no step found at {site}. Update header.py or the header.")
        value = found[2].split(",")[-1].strip()
        return found[1], self.find(rf"{value} =\s*(.*?);", self.text) if value == "then" else value

    def after(self, site, word, waits, several):
        operation, operand = self.operand(site)
        value = self.value(operand, now=self.state(word), waiting=waits, count=several)
        if operation == "fetch_add":
            return word + value
        if operation == "fetch_sub":
            return word - value
        return bits(value)


def bits(value):
    return literal(value, "Bits")


def packed(fields):
    """The word with these fields, at the positions that docs/protocol.md gives."""
    return (fields.owners + choose(fields.waiting, bits(1 << 31), bits(0)) + fields.copies * (1 << 32)
            + choose(fields.read_only, bits(1 << 63), bits(0)))


# For each condition of the model: the function of the header that has this condition, and a pattern that finds the
# condition. In is_writable(), `word_.load(...)` stands for the word.
DECISIONS = {
    "goes_copying": ("claim", r"if \((now\.owners\(\).*?) \|\| wait == Wait::never\)"),
    "has_to_wait": ("await_copies", r"return (now\..*?);"),
    "wakes_after_copy": ("finish_copy", r"if \((.*?)\) \{"),
    "wakes_after_abandon": ("abandon_copy", r"if \((.*?)\) \{"),
    "may_be_written": ("is_writable", r"return word_\.load\(.*?\)\) (.*?);"),
}
STEPS = ("add_owner", "add_owners", "drop_owners", "drop_owner", "claim_copy", "announce_wait", "stop_waiting",
         "finish_copy", "abandon_copy", "add_copy")
FROM_OWNER = ("add_owner", "add_owners", "drop_owners", "drop_owner", "claim_copy", "announce_wait", "stop_waiting")


def questions(tables, mutant=None):
    """Each question asks for a state in which a step or a condition of the header differs from the model. The proof
    requires that no such state exists. The last question asks for a state within the limits. Such a state has to
    exist, else the other answers would prove nothing."""
    shipped, header = ShareWord(tables), WordHeader(ShareWord(tables, mutant).constants)
    fields = variables(SORTS)
    word, limit = packed(fields), tables["max_count"]
    small = both(fields.owners <= limit, fields.copies <= limit)
    state = header.state(word)
    # A solver needs seconds to divide by a number other than a power of two. If a constant is wrong, small
    # counts suffice to show that.
    few = [both(fields.owners <= 3, fields.copies <= 3)] if header.constants != shipped.constants else []

    def ask(name, left, right, *conditions):
        return Question(f"the header's {name}", (small, *conditions, negated(equal(left, right)))), "unsat"

    yield ask("owners", state.owners(), fields.owners)
    yield ask("copies", state.copies(), fields.copies, *few)
    yield ask("waiting", state.waiting(), fields.waiting)
    yield ask("is_sole_use", state.is_sole_use(), shipped.is_sole_use(fields))
    yield ask("is_last_copy", state.is_last_copy(), shipped.is_last_copy(fields))
    for decision, (function, pattern) in DECISIONS.items():
        expression = header.find(pattern, header.body(function))
        value = header.value(f"word {expression}" if decision == "may_be_written" else expression, now=state,
                             before=state, word=word)
        yield ask(decision, value, getattr(ShareWord(tables, mutant), decision)(fields))
    for site in STEPS:
        has_user = fields.owners >= 1 if site in FROM_OWNER else fields.copies >= 1
        # A thread that removes several owners remains an owner. A waiter has set the waiting bit. A thread that stops
        # waiting is the only user and has set the bit. A thread that announces a wait has found the bit clear.
        more = {"add_owners": [fields.several < limit],
                "drop_owners": [fields.several < fields.owners],
                "claim_copy": [either(negated(fields.waits), fields.waiting)],
                "announce_wait": [negated(fields.waiting)],
                "stop_waiting": [shipped.is_sole_use(fields), fields.waiting, negated(fields.read_only)]}
        step = getattr(shipped, site)
        operands = {"claim_copy": [fields.waits], "add_owners": [fields.several], "drop_owners": [fields.several]}
        then = step(fields, *operands.get(site, []))
        after = header.after(site, word, fields.waits, fields.several)
        yield ask(site, after, packed(then), has_user, *more.get(site, []))
    yield Question("allowed: a million owners and copies, waiting", (
        small, fields.owners == 1_000_000, fields.copies == 1_000_000, fields.waiting,
        literal(True, "Bool"))), "sat"

