// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <set>

#include "worlds.hpp"

namespace byre::test {

const char* to_string(Reason reason) noexcept {
  constexpr std::array<const char*, reasons> names{"differs",  "carried",      "overwrites",
                                                   "missed",   "equal_values", "other_elements",
                                                   "in_parts", "unseen",       "inexplicable"};
  return names[static_cast<std::size_t>(reason)];
}

const char* to_string(Account::Why why) noexcept {
  constexpr std::array<const char*, accounts> names{"nothing", "kept_pointer", "told", "silenced"};
  return names[static_cast<std::size_t>(why)];
}

/// `is_left`: of a write that the family was told of, and has not read.
Reason Worlds::reason_of(const Family& family, const Places& cells, Kind kind, bool is_left) const {
  const std::set<std::size_t> accessed(cells.begin(), cells.end());
  enum { in_accessed, in_others };
  std::array<bool, 2> is_written_anew{};
  std::array<bool, 2> has_another_value{};
  bool is_unseen = false;
  for (std::size_t place = 0; place < family.copy.size(); ++place) {
    const Cell& aliased = family.memory->cells[place];
    const Cell& copied = family.copy[place];
    const auto where = accessed.contains(place) ? in_accessed : in_others;
    is_written_anew[where] = is_written_anew[where] || aliased.written != copied.written;
    is_unseen = is_unseen || made_.at(static_cast<std::size_t>(aliased.written)).is_unseen;
    has_another_value[where] = has_another_value[where] || aliased.value != copied.value;
  }
  if (kind == Kind::write) {
    return has_another_value[in_others]   ? Reason::missed
           : is_written_anew[in_others]   ? Reason::equal_values
           : is_written_anew[in_accessed] ? Reason::overwrites
           : is_unseen                    ? Reason::unseen
                                          : Reason::inexplicable;
  }
  if (has_another_value[in_accessed]) {
    return kind == Kind::observed ? Reason::differs : Reason::carried;
  }
  return is_written_anew[in_accessed] ? Reason::equal_values
         : is_written_anew[in_others] ? Reason::other_elements
         : is_left                    ? Reason::in_parts
         : is_unseen                  ? Reason::unseen
                                      : Reason::inexplicable;
}

}  // namespace byre::test
