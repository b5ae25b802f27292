// SPDX-License-Identifier: BSL-1.0
// From up to 3 writes, of which a family observed any and left any unread; after each step another family
// writes, another read of this one observes the last write or leaves nothing unread, or the step fails for
// nothing. A stamp is written as its number.
#include <byre/shadow/detail/generation.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

using shadow::detail::WriteStamp;
using Storage = shadow::detail::basic_storage_generation<Recorded>;
using Family = shadow::detail::basic_family_generation<Recorded>;

constexpr shadow::detail::RecordId own_record = 5;
constexpr shadow::detail::RecordId other_record = 6;

/// One that others made, but for none.
WriteStamp stamp(std::uint64_t number) {
  return number == 0 ? WriteStamp() : WriteStamp(number << WriteStamp::record_bits | other_record);
}

std::string text(const sync::Site&, std::uint64_t word) {
  return std::to_string(WriteStamp(word).generation());
}
std::string text(std::optional<WriteStamp> write) {
  return write ? std::to_string(write->generation()) : "-";
}

/// `write` is one of up to the last.
struct Run {
  Storage& storage;
  Family& family;
  WriteStamp write;
};

struct Operation {
  const char* name;
  std::string (*run)(const Run&);
  bool is_told = false;  ///< of a write
};

constexpr Operation operations[] = {
    {"stale", [](const Run& run) { return text(run.family.stale(run.storage)); }},
    {"stale_or_unread",
     [](const Run& run) { return text(run.family.stale_or_unread(run.storage)); }},
    {"observe", [](const Run& run) { return run.family.observe(run.write), text(run.write); },
     true},
    {"observe_by_reading",
     [](const Run& run) { return run.family.observe_by_reading(run.write), text(run.write); },
     true},
    {"leave_unread",
     [](const Run& run) { return run.family.leave_unread(run.write), text(run.write); }, true},
    {"forget_unread", [](const Run& run) { return run.family.forget_unread(), std::string("-"); }},
    {"write",
     [](const Run& run) {
       return text(run.family.write(run.storage, own_record, [](WriteStamp superseded) noexcept {
         recording.note("supersedes", text(superseded));
       }));
     }},
    {"reshape",
     [](const Run& run) {
       const Family made(run.family);
       recording.is_silent = true;
       return text(made.observed()) + ' ' + text(made.unread());
     }},
};

enum class Others : unsigned { rest, write, observe, forget, fail };

void act(Others others, Storage& storage, Family& family) {
  switch (others) {
    case Others::rest:
    case Others::fail:
      break;
    case Others::write: {
      Family another;
      another.write(storage, other_record, [](WriteStamp) noexcept {});
      break;
    }
    case Others::observe:
      if (const auto last = family.stale(storage)) {
        family.observe(*last);
      }
      break;
    case Others::forget:
      family.forget_unread();
      break;
  }
}

struct Start {
  std::uint64_t last, observed, unread, write;
};

void print(const Operation& operation, Others others, unsigned step, const Start& start) {
  recording.clear();
  Storage storage;
  Family family;
  const std::uint64_t numbers[] = {start.last, start.observed, start.unread};
  for (std::size_t each = 0; each < std::size(numbers); ++each) {
    *recording.atomics[each] = stamp(numbers[each]).word();
  }
  recording.others_act_after = step;
  recording.fails_at = others == Others::fail ? step : 0;
  recording.others = [&] { act(others, storage, family); };
  recording.begin(words("generation", operation.name, static_cast<unsigned>(others), step,
                        start.last, start.observed, start.unread, start.write));
  recording.end(operation.run({storage, family, stamp(start.write)}));
}

void print(const Operation& operation, Others others, unsigned step) {
  for (std::uint64_t last = 0; last <= 3; ++last) {
    for (std::uint64_t observed = 0; observed <= last; ++observed) {
      for (std::uint64_t unread = 0; unread <= last; ++unread) {
        if (!operation.is_told) {
          print(operation, others, step, {last, observed, unread, 0});
        }
        for (std::uint64_t write = 1; operation.is_told && write <= last; ++write) {
          print(operation, others, step, {last, observed, unread, write});
        }
      }
    }
  }
}

}  // namespace

unsigned print_generation_steps() {
  recording.text = text;
  for (const Operation& operation : operations) {
    const bool writes = std::string_view(operation.name) == "write";
    for (const auto others :
         {Others::rest, Others::write, Others::observe, Others::forget, Others::fail}) {
      if (writes && (others == Others::observe || others == Others::forget)) {
        continue;  // a write excludes what else the family does
      }
      for (unsigned step = 1; step <= 4; ++step) {
        print(operation, others, step);
      }
    }
  }
  return recording.report_unreached(shadow::detail::generation_sites, {});
}

}  // namespace byre::verification
