// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/write_records.hpp>

#include <array>

#include "../search.hpp"

namespace byre::verification {

using shadow::detail::RecordId;
using shadow::detail::WriteStamp;

/// Where a write was made: a number, written when the record is made.
struct NumberedOrigin {
  explicit NumberedOrigin(unsigned given) : number(given) {}
  bool is(unsigned other) const { return number.get() == other; }
  Checked::Plain<unsigned> number;
};
using Records = shadow::detail::basic_write_records<Checked, NumberedOrigin>;

/// The superseded writes between two, by generations; there are few.
struct Between {
  std::array<WriteStamp, 6> of_generation{};
  std::size_t count = 0;

  Between(const Records& records, WriteStamp observed, WriteStamp last) {
    records.for_each_between(observed, last, [&](WriteStamp write) {
      of_generation[static_cast<std::size_t>(write.generation())] = write;
      ++count;
    });
  }
};

/// Families that write a storage, each at origins of its own, once at each, and a reader that has
/// observed none of that.
template <class WritesOf>
class StorageWrites {
 protected:
  using Family = shadow::detail::basic_family_generation<Checked>;

  /// The records are there already: records_are_added_once shows how they come.
  StorageWrites() {
    for (unsigned origin = 1; origin < std::size(ids_); ++origin) {
      ids_[origin] = Records::id_of(*records_.find_or_add(origin));
    }
  }

  /// Writes whatever others did; answers whether the family was stale.
  bool write(Family& family, unsigned origin) {
    const RecordId record = ids_[origin];
    return records_.write(family, storage_, record).has_value();
  }

  /// How many writes the reader finds that it has not observed: all that there were by then.
  std::size_t look() {
    const auto last = reading_.stale(storage_);
    if (!last) {
      return 0;
    }
    const Between before(records_, reading_.observed(), *last);
    expect(before.count + 1 == last->generation(), "every write is superseded or the last");
    for (std::size_t each = 1; each <= before.count; ++each) {
      expect(before.of_generation[each] != WriteStamp(), "each is another");
    }
    return before.count + 1;
  }

 private:
  WritesOf records_;
  RecordId ids_[4] = {};
  shadow::detail::basic_storage_generation<Checked> storage_;
  Family reading_;
};

/// One family writes, and writes again, which is stale only if another wrote in between; a third reads.
template <class WritesOf>
class EarlierWritesAreFound : StorageWrites<WritesOf> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {
      "of no write", "of one", "of two", "of three", "neither write is stale", "the second is"};

  void thread(unsigned index) {
    if (index == 0) {
      const bool is_first_stale = this->write(first_, 1);
      const bool is_second_stale = this->write(first_, 2);
      expect(!is_first_stale || !is_second_stale, "a write is reported once");
      cover(is_second_stale ? "the second is" : "neither write is stale");
    } else if (index == 1) {
      this->write(second_, 3);
    } else {
      static constexpr std::string_view states[] = {"of no write", "of one", "of two", "of three"};
      cover(states[this->look()]);
    }
  }

 private:
  typename StorageWrites<WritesOf>::Family first_;
  typename StorageWrites<WritesOf>::Family second_;
};

}  // namespace byre::verification
