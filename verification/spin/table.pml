// SPDX-License-Identifier: BSL-1.0
// Prints what each operation of word.pml does from each word, step by step, as word_table.cpp does
// of the C++ code: one line per operation, word and interference. Run by `spin -T`.

#define FIRST_OWNERS 0
#define MAY_WAIT may_wait
#define MAY_REFUSE_TO_WAIT (!may_wait)
#define MAY_SPIN 0
#define MAY_FAIL 0
#define LOT_IS_FREE 1
#define IS_AWAKE 1
#define IS_USER 1
#define PRINT(w) printf(" %d.%d.%d.%d", OWNERS(w), WAITING(w), COPIES(w), ((w) & read_only_bit) != 0)
#define TRACE(site, before, after) \
  printf(" | "); printf(#site); PRINT(before); PRINT(after); let_others_act()
#define TRACE_IF(condition, site) \
  if :: condition -> printf(" | "); printf(#site) :: else fi

#define TRACE_PARK TRACE_IF(1, park); if :: interference == copies_just_ended -> end_copies() :: else fi

// The interference: what others do while the operation runs.
#define somebody_clones 1    // after the first step
#define a_copy_fails 2       // while a waiter sleeps; else all copies end then
#define copies_just_ended 3  // all of them, before a waiter sleeps
byte interference;

byte asleep, lot_locked;
bit alive = 1, has_acted, may_wait;

#include "word.pml"

inline ghost_clone() { skip }
inline ghost_alone(is_so) { skip }
inline ghost_leave(frees) { skip }
inline ghost_wait() { skip }
inline ghost_claim() { skip }
inline ghost_sole_copier(is_so) { skip }
inline ghost_add_copy() { skip }
inline ghost_steal() { skip }
inline ghost_end_of_copy() { skip }
inline wake_up() { skip }

inline let_others_act() {
  if
  :: interference == somebody_clones && !has_acted -> word = word + one_owner
  :: else
  fi;
  has_acted = 1
}

inline end_copies() { word = word & (255 - 7 * one_copy) }

inline fall_asleep() {
  if
  :: interference == a_copy_fails -> word = word - one_copy + one_owner
  :: else -> end_copies()
  fi
}

#define by_owner (OWNERS(word) > 0)
#define by_copier (COPIES(word) > 0)
#define most 5

#define PRINT_OPERATION(name, by, operation) \
  for (interference : 0 .. 3) { \
    for (start : 0 .. 255) { \
      word = start; \
      has_acted = 0; \
      if \
      :: by && OWNERS(word) <= most && COPIES(word) <= most -> \
         printf(#name); printf(" %d", interference); PRINT(word); \
         operation; \
         printf(" = %d\n", answer) \
      :: else \
      fi; \
      answer = 0 \
    } \
  }

init {
  byte now = 0, host = 0;
  short start;
  bit answer = 0, waiting = 0, wake = 0;
  PRINT_OPERATION(add_owner, by_owner, add_owner());
  PRINT_OPERATION(drop_owner, by_owner, drop_owner());
  PRINT_OPERATION(is_writable, by_owner, is_writable());
  PRINT_OPERATION(is_unique, by_owner, is_unique());
  may_wait = 1;
  PRINT_OPERATION(claim_or_wait, by_owner, claim());
  may_wait = 0;
  PRINT_OPERATION(claim_at_once, by_owner, claim());
  PRINT_OPERATION(claim_in_order, by_owner, claim_in_order());
  PRINT_OPERATION(finish_copy, by_copier, finish_copy());
  PRINT_OPERATION(abandon_copy, by_copier, abandon_copy());
  PRINT_OPERATION(is_sole_copier, by_copier, is_sole_copier());
  PRINT_OPERATION(add_copy, by_copier, add_copy());
}
