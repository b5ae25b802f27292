// SPDX-License-Identifier: BSL-1.0
// From lists of up to 3 records, with the one in question or not; after each step another thread adds an
// equal record or another one, or supersedes an earlier or a later write, or the step fails for nothing. The
// list is written as its length, a superseded write as its number.
#include <byre/shadow/detail/write_records.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

using shadow::detail::WriteStamp;

/// Who asks for a record, and of what.
struct Key {
  int origin;
  bool others = true;
};
struct Origin {
  explicit Origin(const Key& made_of) noexcept : key(made_of) {}
  bool is(const Key& other) const noexcept { return key.origin == other.origin; }
  Key key;
};
using Records = shadow::detail::basic_write_records<Recorded, Origin>;

constexpr Key equal_key{7};

std::string text(const sync::Site& site, std::uint64_t word) {
  if (!site.name.ends_with("supersede") && !site.name.ends_with("superseded")) {
    const auto* const first = reinterpret_cast<const Records::Record*>(word);
    return std::to_string(first == nullptr ? 0 : Records::id_of(*first));
  }
  return std::to_string(WriteStamp(word).generation());
}

WriteStamp stamp(std::uint64_t number, shadow::detail::RecordId record) {
  return number == 0 ? WriteStamp() : WriteStamp(number << WriteStamp::record_bits | record);
}

enum class Others : unsigned {
  rest,
  add_equal,
  add_another,
  supersede_first,
  supersede_last,
  fail
};

constexpr std::uint64_t last_write = 4;

void act(Others others, Records& records) {
  switch (others) {
    case Others::rest:
    case Others::fail:
      break;
    case Others::add_equal:
      records.find_or_add(equal_key);
      break;
    case Others::add_another:
      records.find_or_add(Key{99});
      break;
    case Others::supersede_first:
      records.supersede(stamp(1, 1), 2);
      break;
    case Others::supersede_last:
      records.supersede(stamp(last_write, 1), 2);
      break;
  }
}

void begin(Records& records, Others others, unsigned step, std::string line) {
  recording.others_act_after = step;
  recording.fails_at = others == Others::fail ? step : 0;
  recording.others = [&records, others] { act(others, records); };
  recording.begin(words(std::move(line), static_cast<unsigned>(others), step));
}

/// Records in the list, and those of them with the origin.
std::string counted(Records& records) {
  unsigned equals = 0;
  const Records::Record* const last = records.find_or_add(Key{-1});
  for (shadow::detail::RecordId id = 1; id < Records::id_of(*last); ++id) {
    equals += records.at(id).origin.key.origin == equal_key.origin ? 1U : 0U;
  }
  return words(Records::id_of(*last) - 1, equals);
}

/// 1: a new one; 0: one that was there.
void print_find_or_add(Others others, unsigned step, int before, bool own, int after) {
  recording.clear();
  Records records;
  for (int key = 0; key < before + after; ++key) {
    if (key == before && own) {
      records.find_or_add(equal_key);
    }
    records.find_or_add(Key{10 + key});
  }
  if (after == 0 && own) {
    records.find_or_add(equal_key);
  }
  begin(records, others, step,
        words("write_records find_or_add", before + after + int{own}, int{own}));
  const Records::Record* const found = records.find_or_add(Key{equal_key.origin, false});
  recording.is_silent = true;
  recording.end(words(unsigned{!found->origin.key.others}, counted(records)));
}

/// Of a record of which `keeps` is superseded.
template <class Run>
void print_superseded(Others others, unsigned step, std::uint64_t keeps, std::string line,
                      const Run& run) {
  recording.clear();
  Records records;
  records.find_or_add(equal_key);
  records.supersede(stamp(keeps, 1), 2);
  begin(records, others, step, words(std::move(line), keeps));
  recording.end(run(records));
}

void print_supersede(Others others, unsigned step, std::uint64_t keeps) {
  for (std::uint64_t write = 0; write <= last_write; ++write) {
    for (const shadow::detail::RecordId by : {1U, 2U}) {
      print_superseded(others, step, keeps, words("write_records supersede", write, by),
                       [&](Records& records) {
                         records.supersede(stamp(write, 1), by);
                         return std::string("-");
                       });
    }
  }
}

void print_visits(Others others, unsigned step, std::uint64_t keeps) {
  for (std::uint64_t observed = 0; observed <= last_write; ++observed) {
    for (std::uint64_t last = observed; last <= last_write + 1; ++last) {
      print_superseded(others, step, keeps, words("write_records for_each_between", observed, last),
                       [&](Records& records) {
                         std::string visited;
                         records.for_each_between(
                             stamp(observed, 2), stamp(last, 2), [&](WriteStamp write) {
                               visited += words(write.generation(), write.record());
                             });
                         return visited.empty() ? "-" : visited;
                       });
    }
  }
}

}  // namespace

unsigned print_write_records_steps() {
  recording.text = text;
  for (const auto others : {Others::rest, Others::add_equal, Others::add_another, Others::fail}) {
    for (unsigned step = 1; step <= 4; ++step) {
      for (const int before : {0, 1, 2}) {
        for (const bool own : {false, true}) {
          for (const int after : {0, 1}) {
            print_find_or_add(others, step, before, own, after);
          }
        }
      }
    }
  }
  for (const auto others :
       {Others::rest, Others::supersede_first, Others::supersede_last, Others::fail}) {
    for (unsigned step = 1; step <= 4; ++step) {
      for (std::uint64_t keeps = 0; keeps < last_write; ++keeps) {
        print_supersede(others, step, keeps);
        print_visits(others, step, keeps);
      }
    }
  }
  return recording.report_unreached(shadow::detail::write_records_sites, {});
}

}  // namespace byre::verification
