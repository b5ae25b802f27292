# SPDX-License-Identifier: BSL-1.0
"""A bucket of the parking lot or of the table of locks: a mutex and a condition variable. Any number of threads
sleep on the condition variable for one address, and any number for other addresses of the bucket.

parking_lot.py and lock_table.py count the threads at each place (control location). Both have the places `sleeper`,
`woken`, `other_comer` and `other_sleeper`. `missed_sleep` counts threads that had to sleep and did not.
`unreleased` counts locks that were never released."""

from code_tables import Code
from terms import both, choose, equal
from transitions import step


class Bucket(Code):
    """The steps of the shipped code, of one mutant of core's table, or of one of `own_mutants`. In the last case
    `wrong` is the mutant's change, else it is empty. `holders`: pairs of a site and places. The threads at these
    places hold the mutex, unless a mutant leaves out the lock at the site. If the site is None, they always do."""

    def __init__(self, tables, prefix, mutant, own_mutants, holders):
        super().__init__(tables, prefix, mutant)
        self.wrong = mutant.change if mutant in own_mutants else ""
        self.holders = holders

    def inside(self, state):
        """The number of threads that hold the mutex."""
        count = state.unreleased
        for site, places in self.holders:
            first, *others = (getattr(state, place) for place in places.split())
            count = count + (0 if site and self.is_left_out(site) else sum(others, first))
        return count + (state.sleeper if self.wrong == "sleep_holds_lock" else 0)

    def is_free(self, state):
        return equal(self.inside(state), 0)

    def may_lock(self, site):
        return lambda state: True if self.is_left_out(site) else self.is_free(state)

    def unlock(self, site):
        return lambda state: state.updated(unreleased=state.unreleased + 1) if self.is_left_out(site) else state

    def sleep(self, state):
        return state.updated(missed_sleep=state.missed_sleep + 1) if self.is_left_out("sleep") else state

    def notify(self, state):
        """Wakes all threads that sleep in the bucket."""
        if self.is_left_out("notify"):
            return state
        if self.wrong == "notify_one":
            mine = both(state.sleeper >= 1, equal(state.other_sleeper, 0))
            return state.updated(sleeper=state.sleeper - choose(mine, 1, 0),
                                 woken=state.woken + choose(mine, 1, 0))
        return state.updated(sleeper=state.sleeper * 0, woken=state.woken + state.sleeper,
                             other_sleeper=state.other_sleeper * 0,
                             other_comer=state.other_comer + state.other_sleeper)

    def others(self, holder, passes):
        """The steps of threads that use the bucket for another address."""
        return (
            step("come for another address", "", None, "other_comer"),
            step("lock for another address", "", "other_comer", holder, self.is_free),
            step("sleep for another address", "", holder, "other_sleeper"),
            step(f"{passes} for another address", "", holder, "other_notifier"),
            step("notify for another address", "", "other_notifier", None, effect=self.notify),
        )
