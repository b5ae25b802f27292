// SPDX-License-Identifier: BSL-1.0
/// Mutants that no scenario can notice, each with the argument why it does what the code does. An
/// argument for a mutant that is killed, or that does not exist, fails the run.
#pragma once

#include <string_view>

namespace byre::verification {

struct Equivalent {
  std::string_view mutant;
  std::string_view because;
};

inline constexpr Equivalent equivalents[] = {
    {"share_lock.owners_never_to_wait:minus-one",
     "who claims is an owner, so there is always one at least, and at least none asks no more"},
    {"share_lock.add_user:after-add_owner",
     "the owner that is cloned is counted in both meanwhile, so nobody is the last of either; the "
     "clone uses neither count before both are raised, and no other owner sees less than two "
     "users: "
     "itself and the one that is cloned"},
    {"share_lock.lock_copy:after-count_owners",
     "the number is only where the compare-exchange begins, which is done under the lock and fails "
     "where it is old; where it is too small, the owners are counted again under the exclusive "
     "lock"},
    {"share_lock.lock_copy:after-is_unique",
     "alone, it stays so until it clones, lock or no lock; not alone, the others may leave before "
     "the lock as well as after it, and it copies either way"},
};

}  // namespace byre::verification
