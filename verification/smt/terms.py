# SPDX-License-Identifier: BSL-1.0
"""Terms of SMT-LIB in infix notation. The operators and functions also work on Python's numbers. So one Python
expression can be a condition of a model, an expression over bit-vectors, and code that runs on numbers."""

OPERATORS = {
    "Int": {"+": "+", "-": "-", "*": "*", "<": "<", "<=": "<="},
    "Bits": {"+": "bvadd", "-": "bvsub", "*": "bvmul", "/": "bvudiv", "<": "bvult", "<=": "bvule",
             "&": "bvand", "|": "bvor", "~": "bvnot"},
    "Bool": {"&": "and", "|": "or", "~": "not"},
}
SORTS = {"Int": "Int", "Bits": "(_ BitVec 64)", "Bool": "Bool"}


def infix(operator, sort=None, flipped=False):
    """The method of an operator. The term is the left operand, or the right one if `flipped`."""
    if flipped:
        return lambda self, other: literal(other, self.sort).apply(operator, [self], sort)
    return lambda self, other: self.apply(operator, [other], sort)


class Term:
    def __init__(self, text, sort):
        self.text, self.sort = text, sort

    def __str__(self):
        return self.text

    def __bool__(self):
        raise TypeError(f"cannot convert a term to bool: {self.text}. Use both(), either() or choose().")

    __hash__ = None

    def apply(self, operator, others, sort=None):
        words = [OPERATORS[self.sort][operator], self.text,
                 *(literal(each, self.sort).text for each in others)]
        return Term(f"({' '.join(words)})", sort or self.sort)

    __add__, __sub__, __mul__, __truediv__ = (infix(each) for each in "+-*/")
    __and__, __or__ = infix("&"), infix("|")
    __lt__, __le__ = infix("<", "Bool"), infix("<=", "Bool")
    __radd__, __rsub__, __rand__, __ror__ = (infix(each, flipped=True) for each in "+-&|")
    __gt__, __ge__ = infix("<", "Bool", flipped=True), infix("<=", "Bool", flipped=True)

    def __invert__(self):
        return self.apply("~", [])

    def __eq__(self, other):
        return Term(f"(= {self.text} {literal(other, self.sort).text})", "Bool")

    def __ne__(self, other):
        return Term(f"(not {(self == other).text})", "Bool")


def literal(value, sort):
    if isinstance(value, Term):
        if value.sort != sort:
            raise TypeError(f"wrong sort of {value.text}: {value.sort}, required {sort}")
        return value
    if sort == "Bool":
        return Term("true" if value else "false", sort)
    if sort == "Bits":
        return Term(f"#x{value % 2**64:016x}", sort)
    return Term(str(value) if value >= 0 else f"(- {-value})", sort)


def sort_of(*values):
    """The sort of the first term among the values; None if all are Python values."""
    return next((value.sort for value in values if isinstance(value, Term)), None)


def both(*values):
    """The conjunction of the conditions."""
    if any(value is False for value in values):
        return False
    terms = [value for value in values if isinstance(value, Term)]
    if len(terms) < 2:
        return terms[0] if terms else True
    return Term(f"(and {' '.join(term.text for term in terms)})", "Bool")


def either(*values):
    if any(value is True for value in values):
        return True
    terms = [value for value in values if isinstance(value, Term)]
    if len(terms) < 2:
        return terms[0] if terms else False
    return Term(f"(or {' '.join(term.text for term in terms)})", "Bool")


def negated(value):
    return ~value if isinstance(value, Term) else not value


def implies(condition, then):
    return either(negated(condition), then)


def choose(condition, then, otherwise):
    if not isinstance(condition, Term):
        return then if condition else otherwise
    sort = sort_of(then, otherwise) or ("Bool" if isinstance(then, bool) else "Int")
    first, second = literal(then, sort).text, literal(otherwise, sort).text
    return Term(first if first == second else f"(ite {condition.text} {first} {second})", sort)


def equal(left, right):
    return right == left if isinstance(right, Term) else left == right


def one_if(condition, sort="Int"):
    """1 if the condition holds, else 0."""
    return choose(condition, literal(1, sort), literal(0, sort)) if isinstance(condition,
                                                                               Term) else int(condition)
