// SPDX-License-Identifier: BSL-1.0
/// View families that write a storage, and a reader of its write records. Used by the scenarios and
/// by a known-wrong design.
#pragma once

#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/write_records.hpp>

#include <array>

#include "../search.hpp"

namespace byre::verification {

using shadow::detail::RecordId;
using shadow::detail::WriteStamp;

/// The origin of a write. Here it is a number, which is written when the record is created.
struct NumberedOrigin {
  explicit NumberedOrigin(unsigned given) : number(given) {}
  bool is(unsigned other) const { return number.get() == other; }
  Checked::Plain<unsigned> number;
};
using Records = shadow::detail::basic_write_records<Checked, NumberedOrigin>;

/// The superseded writes between two stamps, indexed by generation (the number of the write).
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

/// A storage that families write, and a reader that has observed none of the writes. Each family
/// makes at most one write with each origin.
template <class WritesOf>
class StorageWrites {
 protected:
  using Family = shadow::detail::basic_family_generation<Checked>;

  /// Adds the records in advance: the scenario records_are_added_once tests how threads add them.
  StorageWrites() {
    for (unsigned origin = 1; origin < std::size(ids_); ++origin) {
      ids_[origin] = Records::id_of(*records_.find_or_add(origin));
    }
  }

  /// Writes the storage through `family`, with `origin` as the origin of the write. Returns true if
  /// another family has written and this family had not observed that write.
  bool write(Family& family, unsigned origin) {
    const RecordId record = ids_[origin];
    return records_.write(family, storage_, record).has_value();
  }

  /// The number of writes that the reader finds and has not observed. The reader has to find all
  /// writes up to the last one that it knows of.
  std::size_t look() {
    const auto last = reading_.stale(storage_);
    if (!last) {
      return 0;
    }
    const Between before(records_, reading_.observed(), *last);
    expect(before.count + 1 == last->generation(), "every write is superseded or the last");
    for (std::size_t each = 1; each <= before.count; ++each) {
      expect(before.of_generation[each] != WriteStamp(), "no generation is missing");
    }
    return before.count + 1;
  }

 private:
  WritesOf records_;
  RecordId ids_[4] = {};
  shadow::detail::basic_storage_generation<Checked> storage_;
  Family reading_;
};

/// One family writes twice. Its second write is stale only if another family wrote in between. A
/// third thread reads.
template <class WritesOf>
class EarlierWritesAreFound : StorageWrites<WritesOf> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {
      "finds no write",           "finds one", "finds two", "finds three", "neither write is stale",
      "the second write is stale"};

  void thread(unsigned index) {
    if (index == 0) {
      const bool is_first_stale = this->write(first_, 1);
      const bool is_second_stale = this->write(first_, 2);
      expect(!is_first_stale || !is_second_stale, "a write is reported once");
      cover(is_second_stale ? "the second write is stale" : "neither write is stale");
    } else if (index == 1) {
      this->write(second_, 3);
    } else {
      static constexpr std::string_view states[] = {"finds no write", "finds one", "finds two",
                                                    "finds three"};
      cover(states[this->look()]);
    }
  }

 private:
  typename StorageWrites<WritesOf>::Family first_;
  typename StorageWrites<WritesOf>::Family second_;
};

}  // namespace byre::verification
