// SPDX-License-Identifier: BSL-1.0
/// Scenarios of storages: parallel loops over two storages that share data, and pins of a storage
/// that is cloned.
#pragma once

#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// Two parallel loops run at once, each over one of two storages that share data. All threads of a
/// loop request write access, and each thread writes a separate part. Both loops together make one
/// copy. In rounds chosen by the seed the first copy fails; then another thread of either loop
/// copies, or the same thread tries again.
template <class Buffer>
class LoopsAtOnce final : public Scenario {
 public:
  explicit LoopsAtOnce(Fixture& fixture) : fixture_(fixture), data_(fixture.threads) {
    fixture.memory.before_copy = [this] {
      // Relaxed: only the number of threads that fail matters, not which ones.
      if (failures_left_.load(std::memory_order_relaxed) > 0 &&
          failures_left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
        throw CopyFailed();
      }
    };
  }

  void prepare() override {
    storages_[0] = Storage(fixture_.filled<Buffer>(fixture_.original()));
    storages_[1] = storages_[0].lazy_clone();
    planned_ = (fixture_.seed + fixture_.round) % 3 == 0 ? 1 : 0;
    failures_left_ = static_cast<std::int64_t>(planned_);
    failed_ = 0;
  }

  void act(unsigned thread) override {
    Storage mine = storages_[thread % 2];  // a separate handle
    fixture_.record("requests write access in parallel");
    for (bool is_done = false; !is_done;) {
      try {
        fixture_.count(thread, mine.materialize_in_parallel());
        is_done = true;
      } catch (const CopyFailed&) {
        fixture_.record("copy failed");
        failed_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    // Not mutable_data_in_parallel(), which would materialize again: see Fixture::write().
    data_[thread].first = const_cast<std::byte*>(mine.data());
    for (std::size_t at = thread; at < fixture_.nbytes; at += fixture_.threads) {
      data_[thread].first[at] = content_of(thread);
    }
    fixture_.record("wrote its part");
  }

  void check() override {
    fixture_.expect_equal(fixture_.counts().copied, 1, "copies of two loops");
    fixture_.expect_equal(failed_, planned_, "failed copies");
    fixture_.expect_equal(fixture_.memory.live_blocks(), 2, "blocks of two storages");
    const auto parts = static_cast<std::size_t>(fixture_.threads);
    for (std::size_t thread = 0; thread < parts; ++thread) {
      fixture_.expect(data_[thread].first == storages_[thread % 2].data(),
                      "all threads of a loop write the same bytes");
    }
    for (std::size_t at = 0; at < fixture_.nbytes; ++at) {
      const std::size_t writer = at % parts;
      fixture_.expect(storages_[writer % 2].data()[at] == content_of(writer),
                      "each part is written");
      fixture_.expect(storages_[1 - writer % 2].data()[at] != content_of(writer),
                      "no loop writes the storage of the other loop");
    }
    for (Storage& storage : storages_) {
      fixture_.expect(storage.is_unique(), "each storage has data of its own");
      fixture_.expect_equal(storage.handle_count(), 1, "remaining handles");
      storage = Storage();
    }
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  using Storage = basic_storage<typename SyncOf<Buffer>::Sync>;

  struct alignas(64) OfThread {
    std::byte* first = nullptr;
  };

  /// Returns a byte that differs from the initial contents, and from the contents of the last
  /// round.
  std::byte content_of(std::size_t thread) const {
    const auto original = static_cast<std::size_t>(fixture_.original());
    const std::size_t content = 2 * thread + fixture_.round % 2;
    for (std::size_t byte = 0; byte < sizeof original; ++byte) {
      if (((original >> 8 * byte) & 0xFF) == content) {
        return static_cast<std::byte>(content ^ 0x80);
      }
    }
    return static_cast<std::byte>(content);
  }

  Fixture& fixture_;
  std::array<Storage, 2> storages_;
  std::vector<OfThread> data_;
  std::uint64_t planned_ = 0;
  std::atomic<std::int64_t> failures_left_{0};
  std::atomic<std::uint64_t> failed_{0};
};

/// One thread writes through the pointer of a pin, then releases the pin. Meanwhile half of the
/// other threads pin the storage to read, and half clone the storage when it is no longer pinned.
/// If the storage is pinned at the end, no clone shares the data, and all pins to read are aliases
/// of the data. Otherwise all pins to read share the bytes that the first pin wrote.
template <class Buffer>
class UnpinsAgainstClones final : public Scenario {
 public:
  explicit UnpinsAgainstClones(Fixture& fixture) : fixture_(fixture), threads_(fixture.threads) {
    fixture.counts_copies = false;  // threads do not record copies of pinned data
  }

  void prepare() override {
    storage_ = Storage(fixture_.filled<Buffer>(fixture_.original()));
    threads_[0].pin = storage_.pin();
  }

  void act(unsigned thread) override {
    OfThread& mine = threads_[thread];
    const Storage& storage = storage_;
    if (thread == 0) {
      fixture_.record("writes and releases its pin");
      fixture_.fill(mine.pin.mutable_data(), fixture_.stamp(0));
      mine.pin = Pin();
    } else if (thread % 2 == 1) {
      fixture_.record("pins to read");
      mine.pin = storage.pin_to_read();
    } else {
      fixture_.take_turns(thread, 20, [&](std::uint64_t) {
        if (!mine.clone && !storage.is_pinned()) {
          mine.clone = fixture_.clone(thread, storage);
          fixture_.expect_content(mine.clone, fixture_.stamp(0),
                                  "a clone has the data that the pin wrote");
        }
      });
    }
    fixture_.record("done");
  }

  void check() override {
    const bool is_pinned = storage_.is_pinned();
    fixture_.expect(!is_pinned || storage_.use_count() == 1, "pinned data is not shared");
    if (fixture_.has_failed()) {
      return;  // a pin may refer to memory that a clone releases next
    }
    const std::uint64_t written = fixture_.stamp(fixture_.threads);
    fixture_.fill(storage_.mutable_data(), written);
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      OfThread& each = threads_[thread];
      if (each.pin.data() != nullptr) {
        fixture_.expect_content(each.pin, is_pinned ? written : fixture_.stamp(0),
                                "only an alias sees a later write");
      }
      if (each.clone) {
        fixture_.expect_content(each.clone, fixture_.stamp(0), "no clone sees a later write");
      }
      each = OfThread();
    }
    fixture_.expect(!storage_.is_pinned(), "a storage is not pinned once its pins are released");
    storage_ = Storage();
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  using Storage = basic_storage<typename SyncOf<Buffer>::Sync>;
  using Pin = typename Storage::Pin;

  struct alignas(64) OfThread {
    Pin pin;
    Storage clone;
  };

  Fixture& fixture_;
  Storage storage_;
  std::vector<OfThread> threads_;
};

}  // namespace byre::stress::races
