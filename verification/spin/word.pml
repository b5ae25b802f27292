// SPDX-License-Identifier: BSL-1.0
// The share word and its operations, as atomic steps: what core/byre/cow/share_word.hpp does, with
// fields of three bits. Every step names its site; table.pml prints what each does, for the test
// that compares it with the C++ code. `now`, `answer`, `waiting` and `wake` are the caller's, and
// ghost updates (what is true of the data) and traces are the includer's.

#define one_owner 1
#define waiting_bit 8
#define one_copy 16
#define read_only_bit 128

#define OWNERS(w) ((w) & 7)
#define WAITING(w) (((w) & waiting_bit) != 0)
#define COPIES(w) (((w) >> 4) & 7)
#define IS_SOLE_USE(w) (((w) & (255 - waiting_bit - read_only_bit)) == one_owner)
#define IS_LAST_COPY(w) (((w) & (255 - read_only_bit)) == one_copy)
#define PENDING(w) (OWNERS(w) == 1 && COPIES(w) != 0)

// Who announced a wait may wait, and does so to the end.
#define GOES_COPYING (!STEALS(now) && (OWNERS(now) > 1 || REFUSES_TO_WAIT))
#define GOES_WAITING (!STEALS(now) && OWNERS(now) == 1 && (MAY_WAIT || waiting))

byte word = FIRST_OWNERS;

// One step: what the word was is `now`, what it becomes is up to the effect. (I1, I2: only by a user
// is it touched, and only while it is there.)
#define STEP(site, effect) assert(alive && IS_USER); now = word; effect; TRACE(site, now, word)
#define LOAD(site) STEP(site, skip)
// A compare-exchange that expects `now`: the guards of its outcomes, and what each does.
#define MATCHES (word == now)
#define FAILS (word != now || MAY_FAIL)
#define EXCHANGE(site, value) assert(alive && IS_USER); word = value; TRACE(site, now, word)
#define NO_EXCHANGE(site) assert(alive && IS_USER); TRACE(site, word, word)

#include "mutants.pml"

inline add_owner() {
  atomic { STEP(add_owner, word = word + one_owner); now = 0; ghost_clone() }
}

// answer: nobody is left, the caller frees.
inline drop_owner() {
  atomic {
    LOAD(drop_alone);
    answer = DROPS_ALONE(now);
    now = 0;
    if
    :: answer -> ghost_leave(answer)
    :: else
    fi
  };
  if
  :: answer
  :: atomic {
       !answer -> STEP(drop_owner, word = word - one_owner);
       assert(OWNERS(now) != 0);
       answer = IS_SOLE_USE(now);
       now = 0;
       ghost_leave(answer)
     }
  fi
}

// answer: the caller may write at once.
inline is_writable() {
  atomic { LOAD(is_writable); answer = WRITES(now); now = 0; ghost_alone(answer) }
}

// answer: nobody else owns the data or copies it.
inline is_unique() {
  atomic { LOAD(is_unique); answer = IS_UNIQUE(now); now = 0; ghost_alone(answer) }
}

// answer: it stole; else it copies. How often it spins before it waits is left open.
inline claim() {
  do
  :: atomic { LOAD(load_state); ghost_alone(STEALS(now)) };
     if
     :: atomic {
          STEALS(now) ->
            if
            :: waiting -> STOP_WAITING
            :: else
            fi;
            now = 0;
            ghost_steal();
            waiting = 0;
            answer = 1;
            break
        }
     :: atomic { GOES_COPYING && MATCHES -> CLAIM_COPY; break }
     :: atomic { GOES_COPYING && FAILS -> NO_EXCHANGE(claim_copy); now = 0 }
     :: atomic { GOES_WAITING && !waiting && MATCHES -> ANNOUNCE_WAIT; waiting = 1 };
        await_copies()
     :: atomic { GOES_WAITING && !waiting && FAILS -> NO_EXCHANGE(announce_wait); now = 0 }
     :: atomic { GOES_WAITING && waiting -> now = 0 };
        await_copies()
     :: atomic { GOES_WAITING && MAY_SPIN -> now = 0 }
     fi
  od
}

// answer: it stole, beside copies that have their place in front of its writes; else it copies. By who has its turn.
inline claim_in_order() {
  do
  :: atomic { LOAD(load_in_order) };
     if
     :: atomic { OWNERS(now) == 1 -> now = 0; answer = 1; break }
     :: atomic { OWNERS(now) != 1 && MATCHES -> CLAIM_COPY; break }
     :: atomic { OWNERS(now) != 1 && FAILS -> NO_EXCHANGE(claim_copy); now = 0 }
     fi
  od
}

// The condition is checked under the lock of the parking lot's bucket, which sleeping lets go of.
inline await_copies() {
  atomic { LOT_IS_FREE -> lot_locked = 1; TRACE_PARK };
  atomic { LOAD(still_pending); answer = SLEEPS(now); now = 0 };
  if
  :: atomic { answer -> answer = 0; lot_locked = 0; fall_asleep() };
     atomic { IS_AWAKE && LOT_IS_FREE -> wake_up() }
  :: atomic { !answer -> lot_locked = 0 }
  fi
}

// Passes through the bucket's lock, and then wakes who sleeps. The word may be gone.
inline wake_waiter() {
  if
  :: atomic { wake && LOT_LETS_NOTIFY -> USED_TO_WAKE };
     atomic { asleep = 0; wake = 0 }
  :: !wake
  fi
}

// answer: nobody is left, the caller frees.
inline finish_copy() {
  atomic {
    STEP(finish_copy, word = word - one_copy);
    assert(COPIES(now) != 0);
    answer = LAST_COPY_FREES(now);
    wake = WAKES_AFTER_COPY(now);
    TRACE_IF(wake, wake_after_copy);
    now = 0;
    ghost_end_of_copy();
    ghost_leave(answer)
  };
  wake_waiter()
}

inline abandon_copy() {
  atomic {
    STEP(abandon_copy, ABANDON_EFFECT);
    assert(COPIES(now) != 0);
    wake = WAKES_AFTER_ABANDON(now);
    TRACE_IF(wake, wake_after_abandon);
    now = 0;
    ghost_end_of_copy()
  };
  wake_waiter()
}

// answer: nobody owns the data, and nobody else copies it.
inline is_sole_copier() {
  atomic { LOAD(is_sole_copier); answer = IS_LAST(now); now = 0; ghost_sole_copier(answer) }
}

inline add_copy() {
  atomic {
    STEP(add_copy, word = word + one_copy);
    assert(COPIES(now) != 0);
    now = 0;
    ghost_add_copy()
  }
}
