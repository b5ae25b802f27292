// SPDX-License-Identifier: BSL-1.0
// Owners of one allocation, each on a thread of its own, and what must hold of them. README.md says
// what the modes are. Memory is sequentially consistent here: orders are not this model's business.

#ifndef OWNERS_AT_MOST
#define OWNERS_AT_MOST 3
#endif
#define nobody 255
#define MY_BIT (1 << _pid)

// MODES. Unless told otherwise: whatever programs of any length, on one address that is allocated
// anew when it was freed, with so many owners and copiers at a time.
#ifdef WRITERS
// All own the data, and each writes it once, allowed to wait.
#define SHORT_PROGRAMS
#define MAY_REFUSE_TO_WAIT 0
#define COPIES_MAY_FAIL 0
#define CLONES_IN_ALL 0
#define MAY_DROP (!may_write)
#define MAY_RESIZE 0
#else
#define MAY_REFUSE_TO_WAIT 1
#define COPIES_MAY_FAIL 1
#define MAY_DROP 1
#define MAY_RESIZE 1
#endif
#ifdef SHORT_PROGRAMS
#define MAY_ADD_COPIES 0
// All own the data; each writes at most once, and whoever left may clone it again, so often in all.
#ifndef CLONES_IN_ALL
#define CLONES_IN_ALL 1
#endif
byte clones_left = CLONES_IN_ALL;
#define MAY_CLONE (clones_left > 0)
#define USE_UP_CLONE clones_left--
#define MAY_WRITE may_write
#define HAS_WRITTEN may_write = 0
#define FIRST_OWNERS OWNERS_AT_MOST
#else
#define MAY_CLONE 1
#define MAY_ADD_COPIES in_pages
#define USE_UP_CLONE skip
#define MAY_WRITE 1
#define HAS_WRITTEN skip
#define FIRST_OWNERS 0
#endif

// Who adds copies has no end: nobody waits for that.
bit in_pages = 0;
#define MAY_WAIT (!in_pages)
#define MAY_SPIN 1
// What is allowed to happen for no reason hides a lost wake, so that runs differ in it.
#ifdef SPURIOUS
#define MAY_FAIL 1
#define IS_AWAKE 1
#else
#define MAY_FAIL 0
#define IS_AWAKE ((asleep & MY_BIT) == 0)
#endif
#define TRACE(site, before, after) skip
#define TRACE_IF(condition, site) skip
#define TRACE_PARK skip

#define LOT_IS_FREE (lot_locked == 0)
#define IS_USER ((entitled & MY_BIT) != 0)
#include "word.pml"

// The parking lot's bucket of this address.
bit lot_locked = 0;
byte asleep = 0;

// What is true of the data, by who has taken which step; never read by the protocol. An owner may
// read at any time, and a copier reads until it finishes: both are users.
bit alive = FIRST_OWNERS != 0;
bit freeing = 0;               // somebody was told to free it
bit read_only = 0;             // it is never written in place
byte users = FIRST_OWNERS;
byte copiers = 0;
byte alone = 0;                // those who found themselves alone and rely on it, to write
byte sole_copier = 0;          // those who found that they alone copy, and nobody owns
byte waiter = nobody;          // whose the waiting bit is
byte guests[OWNERS_AT_MOST];   // those who clone by way of this owner, which is const to them
byte entitled = (1 << FIRST_OWNERS) - 1;  // who uses the data, or clones somebody who does
byte outside = (1 << OWNERS_AT_MOST) - (1 << FIRST_OWNERS);  // who has left, or not come
byte at_rest = (1 << FIRST_OWNERS) - 1;  // owners that do nothing that excludes a clone
#ifdef WRITERS
byte copied = 0, kept = 0;
#define COUNT(what) what++
#else
#define COUNT(what) skip
#endif

// What a thread may do to a buffer: a write excludes everything else, a clone does not.
#define NOBODY_CLONES_ME (guests[_pid] == 0)
#define COME_TO_REST at_rest = at_rest | MY_BIT
#define LEAVE_REST at_rest = at_rest & ~MY_BIT
// Who is outside is like anybody else there: the first one enters.
#define IS_NEXT_TO_ENTER ((outside & (MY_BIT - 1)) == 0)
#define ENTER outside = outside & ~MY_BIT; entitled = entitled | MY_BIT
#define EXIT outside = outside | MY_BIT
#define EXIT_FOR_GOOD outside = outside & ~MY_BIT

inline ghost_clone() { users++; guests[host]--; host = 0; COME_TO_REST }
inline ghost_alone(is_so) { alone = alone + (is_so) }
inline ghost_not_alone() { alone-- }
inline ghost_leave(frees) { users--; entitled = entitled & ~MY_BIT; freeing = freeing | frees }
inline ghost_wait() { assert(waiter == nobody && OWNERS(word) == 1); waiter = _pid }
inline ghost_stop_waiting() {
  if
  :: waiting -> assert(waiter == _pid); waiter = nobody
  :: else
  fi
}
inline ghost_claim() { ghost_stop_waiting(); copiers++; COUNT(copied) }
inline ghost_end_of_copy() { copiers-- }
inline ghost_add_copy() { users++; copiers++ }
inline ghost_sole_copier(is_so) { sole_copier = sole_copier + (is_so) }
inline ghost_steal() {
  assert(users == 1 && !read_only);
  ghost_stop_waiting()
}
inline fall_asleep() { asleep = asleep | MY_BIT }
inline wake_up() { asleep = asleep & ~MY_BIT }

inline allocate() {
  alive = 1;
  users = 1;
  if
  :: word = one_owner
  :: word = one_owner; in_pages = 1
  :: word = one_owner | read_only_bit; read_only = 1
  fi
}

inline free_data() {
  assert(alive && users == 0);
  alive = 0;
  freeing = 0;
  read_only = 0;
  in_pages = 0;
  word = 0
}

inline choose_host() {
  do
  :: (at_rest & (1 << host)) != 0 -> break
  :: (at_rest >> (host + 1)) != 0 -> host++
  od
}

// A jump from one atomic step to the start of another makes one step of both.
active [OWNERS_AT_MOST] proctype user() {
  byte now = 0;         // the word as last seen
  byte host = 0;        // whom it clones
  bit answer = 0;       // of the operation
  bit waiting = 0;      // the bit in the word is this claim's
  bit wake = 0;         // whether there is somebody to wake
#ifdef SHORT_PROGRAMS
  bit may_write = 1;
  goto resting;
#endif

outsiders:
  if
#ifdef SHORT_PROGRAMS
  :: goto done
#else
  :: atomic { IS_NEXT_TO_ENTER && !alive -> ENTER; allocate(); COME_TO_REST; goto resting }
#endif
  :: atomic { IS_NEXT_TO_ENTER && MAY_ADD_COPIES && copiers != 0 && COPIES(word) != 0 && sole_copier == 0 ->
       ENTER; add_copy(); goto copying }
  :: atomic { IS_NEXT_TO_ENTER && MAY_CLONE && at_rest != 0 ->
       ENTER; choose_host(); guests[host]++; USE_UP_CLONE; goto cloning }
  fi;

cloning:
  add_owner();

resting:
  if
  :: atomic { MAY_DROP && NOBODY_CLONES_ME -> LEAVE_REST; goto dropping }
  :: atomic { MAY_RESIZE && MAY_WRITE && NOBODY_CLONES_ME && !read_only ->
       LEAVE_REST; HAS_WRITTEN; is_unique();
       if
       :: answer -> goto written
       :: else -> COME_TO_REST; goto resting
       fi }
  :: atomic { MAY_WRITE && NOBODY_CLONES_ME ->
       LEAVE_REST; HAS_WRITTEN; is_writable();
       if
       :: answer -> assert(!read_only); goto written
       :: else
       fi }
  fi;

  // A copy of what is read-only is made by an owner, which fails or drops.
  if
  :: atomic { read_only && COPIES_MAY_FAIL -> COME_TO_REST; goto resting }
  :: atomic { read_only -> goto dropping }
  :: !read_only -> claim()
  fi;
  if
  :: atomic { answer -> goto written }
  :: atomic { !answer -> goto copying }
  fi;

copying:
  if
  :: atomic { COPIES_MAY_FAIL -> goto abandoning }
  :: atomic { MAY_ADD_COPIES -> is_sole_copier();
       if
       :: answer -> goto restoring
       :: else -> goto finishing
       fi }
  :: goto finishing
  fi;

restoring:
  atomic { answer -> answer = 0; sole_copier--; goto finishing };

written:
  atomic { answer -> answer = 0; ghost_not_alone(); COUNT(kept); COME_TO_REST; goto resting };

abandoning:
  abandon_copy();
  atomic { COME_TO_REST; goto resting };

finishing:
  finish_copy();
  goto left;

dropping:
  drop_owner();

left:
  if
  :: atomic { answer -> answer = 0; free_data(); EXIT; goto outsiders }
  :: atomic { !answer -> EXIT; goto outsiders }
  fi;

done:
  EXIT_FOR_GOOD
}

// The invariants of share_word.hpp, as what must be so whenever nobody is in the midst of a step.
// I2 is asserted at each step: it is by a user, and what it touches is there.
#define I1 (users == 0 || (alive && !freeing && OWNERS(word) + COPIES(word) == users))
#define I3 (WAITING(word) == (waiter != nobody))
#define I4 (alone == 0 || copiers == 0)
#define I5 (alone == 0 || users == 1)
#define SOLE_COPIER (sole_copier == 0 || (users == 1 && copiers == 1))
#define I7 (alone == 0 || IS_SOLE_USE(word))
#define NO_LEAK (users != 0 || !alive || freeing)
#ifdef WRITERS
#define I6 (alive || (kept == 1 && copied == OWNERS_AT_MOST - 1))
#else
#define I6 (true)
#endif

#ifdef INVARIANTS
never {
  do
  :: d_step {
       assert(I1);
       assert(I3);
       assert(I4);
       assert(I5);
       assert(I6);
       assert(I7);
       assert(SOLE_COPIER);
       assert(NO_LEAK)
     }
  od
}
#endif
#ifdef RELEASED
ltl released { [] (asleep != 0 -> <> (asleep == 0)) }
#endif
#ifdef FREED
ltl freed { <> !alive }
#endif
