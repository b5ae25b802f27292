// SPDX-License-Identifier: BSL-1.0
// The places where a mutant of the protocol does something else. run.py knows the mutants by name,
// and which property refutes each.

#if defined(WRITES_IGNORE_COPIES)
#define WRITES(w) (OWNERS(w) == 1 && ((w) & read_only_bit) == 0)
#elif defined(WRITES_IGNORE_READ_ONLY)
#define WRITES(w) IS_SOLE_USE(w)
#else
#define WRITES(w) ((w) == one_owner)
#endif

#ifdef UNIQUE_IGNORES_COPIES
#define IS_UNIQUE(w) (OWNERS(w) == 1)
#else
#define IS_UNIQUE(w) IS_SOLE_USE(w)
#endif

#ifdef LAST_DROP_IGNORES_COPIES
#define DROPS_ALONE(w) (OWNERS(w) == 1)
#else
#define DROPS_ALONE(w) IS_SOLE_USE(w)
#endif

#if defined(STEAL_IGNORES_COPIES)
#define STEALS(w) (OWNERS(w) == 1)
#elif defined(STEAL_IGNORES_OWNERS)
#define STEALS(w) (COPIES(w) == 0)
#else
#define STEALS(w) IS_SOLE_USE(w)
#endif

#ifdef STOP_WAITING_LEFT_OUT
#define STOP_WAITING skip
#else
#define STOP_WAITING STEP(stop_waiting, word = one_owner)
#endif

#ifdef LAST_OWNER_NEVER_WAITS
#define REFUSES_TO_WAIT 1
#else
#define REFUSES_TO_WAIT (MAY_REFUSE_TO_WAIT && !waiting)
#endif

// Published: the count is lowered, and then the lock is taken.
#ifdef COUNT_THEN_LOCK
#define CLAIM_COPY word = word - one_owner; now = 0; ghost_claim(); waiting = 0 }; \
                   atomic { assert(alive); word = word + one_copy
#else
#define CLAIM_COPY EXCHANGE(claim_copy, now - one_owner + one_copy - KEPT_WAITING); \
                   now = 0; ghost_claim(); waiting = 0
#endif

#ifdef WAITING_IS_NOT_CLEARED
#define KEPT_WAITING 0
#else
#define KEPT_WAITING (waiting -> waiting_bit : 0)
#endif

#ifdef WAIT_NOT_ANNOUNCED
#define ANNOUNCE_WAIT now = 0; ghost_wait()
#else
#define ANNOUNCE_WAIT EXCHANGE(announce_wait, now | waiting_bit); now = 0; ghost_wait()
#endif

#ifdef SLEEP_UNCHECKED
#define SLEEPS(w) 1
#else
#define SLEEPS(w) PENDING(w)
#endif

#ifdef NOTIFY_WITHOUT_LOCK
#define LOT_LETS_NOTIFY 1
#else
#define LOT_LETS_NOTIFY LOT_IS_FREE
#endif

#ifdef WAKE_THROUGH_THE_HEADER
#define USED_TO_WAKE assert(alive)
#else
#define USED_TO_WAKE skip
#endif

#ifdef WITHOUT_WAKE_AFTER_COPY
#define WAKES_AFTER_COPY(w) 0
#else
#define WAKES_AFTER_COPY(w) (WAITING(w) && COPIES(w) == 1)
#endif

#ifdef LAST_COPY_DOES_NOT_FREE
#define LAST_COPY_FREES(w) 0
#else
#define LAST_COPY_FREES(w) IS_LAST_COPY(w)
#endif

#ifdef SOLE_COPIER_IGNORES_OWNERS
#define IS_LAST(w) (COPIES(w) == 1)
#else
#define IS_LAST(w) IS_LAST_COPY(w)
#endif

#ifdef WITHOUT_UNDO
#define ABANDON_EFFECT word = word - one_copy
#else
#define ABANDON_EFFECT word = word - one_copy + one_owner
#endif

#ifdef WITHOUT_WAKE_AFTER_ABANDON
#define WAKES_AFTER_ABANDON(w) 0
#else
#define WAKES_AFTER_ABANDON(w) WAITING(w)
#endif
