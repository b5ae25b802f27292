// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/shadow/storage_writes.hpp>

#include <array>

#include "../search.hpp"

namespace byre::verification {

using shadow::PlaceId;
using shadow::WriteMark;
using Overwritten = shadow::basic_overwritten<Checked>;

/// Of what is noted between two writes, by generations; there are few.
struct Between {
  std::array<WriteMark, 5> of_generation{};
  std::size_t count = 0;

  void operator()(WriteMark write) {
    of_generation[static_cast<std::size_t>(write.generation())] = write;
    ++count;
  }
  Between() = default;
  Between(const Overwritten& overwritten, WriteMark known, WriteMark last) {
    overwritten.for_each_between(known, last, [&](WriteMark write) { (*this)(write); });
  }
};

/// Families that write a storage, each at places of its own, once at each, and a reader that knows
/// of none of that.
template <template <class> class Writes>
class StorageWrites {
 protected:
  using Family = shadow::basic_family_generation<Checked>;

  /// Writes whatever others did; answers whether they did something that the family did not know
  /// of.
  bool write(Family& family, PlaceId place) {
    const auto unknown = writes_.write(family, place);
    if (unknown) {
      family.learn_by_writing(*unknown, *unknown);
      writes_.write_anyway(family, *unknown, place);
    }
    return unknown.has_value();
  }

  /// How many writes the reader finds that it does not know of: all that there were by then.
  std::size_t look() {
    const auto last = reading_.unknown_write(writes_.generation);
    if (!last) {
      return 0;
    }
    Between before;
    writes_.for_each_unknown(reading_, *last, [&](WriteMark write) { before(write); });
    expect(before.count + 1 == last->generation(), "every write is noted or the last");
    for (std::size_t each = 1; each <= before.count; ++each) {
      expect(before.of_generation[each] != WriteMark(), "each is another");
    }
    return before.count + 1;
  }

 private:
  Writes<Checked> writes_;
  Family reading_;
};

/// One family writes, and writes again, which agrees unless another wrote in between; a third
/// reads.
template <template <class> class Writes>
class AgreeingWritesAreFound : StorageWrites<Writes> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {
      "of no write", "of one", "of two", "of three", "both writes agree", "the second is told"};

  void thread(unsigned index) {
    if (index == 0) {
      const bool is_first_told = this->write(first_, 1);
      const bool is_second_told = this->write(first_, 2);
      expect(!is_first_told || !is_second_told, "a write is told of once");
      cover(is_second_told ? "the second is told" : "both writes agree");
    } else if (index == 1) {
      this->write(second_, 3);
    } else {
      static constexpr std::string_view states[] = {"of no write", "of one", "of two", "of three"};
      cover(states[this->look()]);
    }
  }

 private:
  typename StorageWrites<Writes>::Family first_;
  typename StorageWrites<Writes>::Family second_;
};

}  // namespace byre::verification
