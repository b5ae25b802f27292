// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// All threads read and write one storage. Each thread has its own view family (tensors that
/// observe each other's writes whether reshape() copies or not). All families use one attachment of
/// the storage, which any of the threads may create, and add their records to it concurrently. If
/// another family wrote since a thread's last write, the next write of the thread is reported as
/// stale exactly once, at this write or at the read before it, and the report names the family that
/// wrote. After each write, the thread lets a pointer escape (passes it to code that byre does not
/// see); exactly one of all escapes must be counted as the first. The last owner of the storage
/// destroys the attachment.
template <class Buffer, template <class> class FamilyOf = shadow::detail::basic_family_generation>
class FamiliesWriteAtOnce final : public Scenario {
  using Sync = typename SyncOf<Buffer>::Sync;

 public:
  explicit FamiliesWriteAtOnce(Fixture& fixture) : fixture_(fixture), families_(fixture.threads) {}

  void prepare() override {
    const Storage storage(fixture_.filled<Buffer>(fixture_.original()));
    std::fill(families_.begin(), families_.end(), OfThread{.storage = storage});
  }

  void act(unsigned thread) override {
    OfThread& mine = families_[thread];
    fixture_.record("attaches");
    mine.shadow = &static_cast<Shadow&>(mine.storage.slot()->attach(std::make_unique<Shadow>()));
    fixture_.record("adds its record");
    const auto record = Records::id_of(*mine.shadow->records.find_or_add(thread));
    fixture_.expect(Records::id_of(*mine.shadow->records.find_or_add(thread)) == record,
                    "each origin has one record");
    Family family;
    for (Write& write : mine.writes) {
      fixture_.record("reads");
      if (const auto unobserved = family.stale(mine.shadow->generation)) {
        write.unobserved_by_read = named(*unobserved, *mine.shadow);
        family.observe(*unobserved);
      }
      fixture_.record("writes");
      if (const auto unobserved = family.write(mine.shadow->generation, record, [](auto) {})) {
        write.unobserved_by_write = named(*unobserved, *mine.shadow);
      }
      write.generation = static_cast<std::size_t>(family.observed().generation());
      fixture_.record("lets a pointer escape");
      mine.first_escapes += mine.shadow->escapes.add() == 0 ? 1U : 0U;
    }
    fixture_.expect_content(mine.storage, fixture_.original(), "the unchanged bytes");
    fixture_.drop(thread, mine.storage);
  }

  void check() override {
    std::vector<unsigned> writers(writes_each * fixture_.threads + 1, no_thread);
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      fixture_.expect(families_[thread].shadow == families_[0].shadow,
                      "a storage has one attachment");
      for (const Write& write : families_[thread].writes) {
        const bool is_first =
            write.generation < writers.size() && writers[write.generation] == no_thread;
        fixture_.expect(is_first, "every write has its own generation");
        if (!is_first) {
          return;
        }
        writers[write.generation] = thread;
      }
    }
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      for (const Write& write : families_[thread].writes) {
        expect_reported(thread, write, writers);
      }
    }
    unsigned first_escapes = 0;
    for (const OfThread& each : families_) {
      first_escapes += each.first_escapes;
    }
    fixture_.expect_equal(first_escapes, 1, "first escapes");
    fixture_.expect_equal(live_shadows, 0, "attachments without a storage");
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  using Storage = basic_storage<Sync>;
  using Family = FamilyOf<Sync>;

  struct ThreadOrigin {
    explicit ThreadOrigin(unsigned of) noexcept : thread(of) {}
    bool is(unsigned other) const noexcept { return thread == other; }
    const unsigned thread;
  };
  using Records = shadow::detail::basic_write_records<Sync, ThreadOrigin>;

  static inline std::atomic<unsigned> live_shadows{0};
  struct Shadow final : byre::detail::Attachment {
    Shadow() noexcept { ++live_shadows; }
    ~Shadow() override { --live_shadows; }
    typename Family::StorageGeneration generation;
    Records records;
    sync::detail::RelaxedCounter escapes;
  };

  static constexpr unsigned no_thread = ~0U;
  static constexpr std::size_t writes_each = 3;

  /// A write that a family had not observed.
  struct UnobservedWrite {
    std::size_t generation = 0;  ///< 0 if there is no such write
    unsigned writer = no_thread;
  };
  struct Write {
    std::size_t generation = 0;
    UnobservedWrite unobserved_by_read{};  ///< at the read before the write
    UnobservedWrite unobserved_by_write{};
  };
  struct alignas(64) OfThread {
    Storage storage;
    Shadow* shadow = nullptr;
    std::array<Write, writes_each> writes{};
    unsigned first_escapes = 0;
  };

  static UnobservedWrite named(shadow::detail::WriteStamp stamp, const Shadow& shadow) {
    return {static_cast<std::size_t>(stamp.generation()),
            shadow.records.at(stamp.record()).origin.thread};
  }

  void expect_reported(unsigned thread, const Write& write, const std::vector<unsigned>& writers) {
    const bool follows_another = write.generation > 1 && writers[write.generation - 1] != thread;
    const bool is_reported =
        write.unobserved_by_read.generation != 0 || write.unobserved_by_write.generation != 0;
    fixture_.expect(is_reported == follows_another,
                    "a write is reported iff another family wrote before it");
    for (const UnobservedWrite& unobserved :
         {write.unobserved_by_read, write.unobserved_by_write}) {
      fixture_.expect(
          unobserved.generation == 0 ||
              (unobserved.generation < write.generation && unobserved.writer != thread &&
               writers[unobserved.generation] == unobserved.writer),
          "a report names the family that wrote");
    }
    fixture_.expect(write.unobserved_by_write.generation == 0 ||
                        write.unobserved_by_write.generation > write.unobserved_by_read.generation,
                    "no write is reported twice to a family");
  }

  Fixture& fixture_;
  std::vector<OfThread> families_;
};

}  // namespace byre::stress::races
