// SPDX-License-Identifier: BSL-1.0
// From 1 to 4 owners, with up to 2 users more, who have dropped or copied; after each step another owner is
// added, or drops, if there is one, or owns again after a copy that failed, or the step fails for nothing.
#include <byre/cow/detail/share_lock.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

using Lock = basic_share_lock<Recorded>;

struct Operation {
  const char* name;
  bool copies;  ///< by a copier; else by an owner
  unsigned (*run)(Lock&);
};

constexpr Operation operations[] = {
    {"add_owner", false, [](Lock& lock) { return lock.add_owner(), 0U; }},
    {"drop_owner", false, [](Lock& lock) { return unsigned{lock.drop_owner()}; }},
    {"is_unique", false, [](Lock& lock) { return unsigned{lock.is_unique()}; }},
    {"claim_or_wait", false,
     [](Lock& lock) { return unsigned{lock.claim(Wait::allowed) == Claim::steal}; }},
    {"claim_at_once", false,
     [](Lock& lock) { return unsigned{lock.claim(Wait::never) == Claim::steal}; }},
    {"finish_copy", true, [](Lock& lock) { return unsigned{lock.finish_copy()}; }},
    {"abandon_copy", true, [](Lock& lock) { return lock.abandon_copy(), 0U; }},
};

enum class Others : unsigned { rest, add, drop, abandon, fail };

void print(const Operation& operation, Others others, unsigned step, std::uint64_t owners,
           std::uint64_t users) {
  recording.clear();
  Lock lock;
  std::uint64_t& owners_now = *recording.atomics[0];
  owners_now = owners;
  *recording.atomics[1] = owners + users + std::uint64_t{operation.copies};
  recording.is_locked = operation.copies;
  recording.others_act_after = step;
  recording.fails_at = others == Others::fail ? step : 0;
  recording.others = [&] {
    if (owners_now >= 2 && others == Others::add) {
      lock.add_owner();
    } else if (owners_now >= 2 && others == Others::drop) {
      static_cast<void>(lock.drop_owner());
    } else if (others == Others::abandon && users != 0 && !recording.is_locked) {
      ++owners_now;
    }
  };
  recording.begin(
      words("share_lock", operation.name, static_cast<unsigned>(others), step, owners, users));
  const unsigned answer = operation.run(lock);
  recording.end(words(answer, unsigned{recording.is_locked}));
}

}  // namespace

unsigned print_share_lock_steps() {
  recording.text = [](const sync::Site&, std::uint64_t count) { return std::to_string(count); };
  for (const Operation& operation : operations) {
    for (const auto others :
         {Others::rest, Others::add, Others::drop, Others::abandon, Others::fail}) {
      for (unsigned step = 1; step <= 6; ++step) {
        for (std::uint64_t owners = operation.copies ? 0 : 1; owners <= 4; ++owners) {
          for (std::uint64_t users = 0; users <= 2; ++users) {
            print(operation, others, step, owners, users);
          }
        }
      }
    }
  }
  return recording.report_unreached(cow::share_lock_sites, {"share_lock.use_count"});
}

}  // namespace byre::verification
