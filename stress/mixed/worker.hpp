// SPDX-License-Identifier: BSL-1.0
/// One thread of a run: carries out its decisions, one after the other.
#pragma once

#include <boost/atomic/atomic.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "gate.hpp"
#include "log.hpp"
#include "maker.hpp"
#include "owner.hpp"
#include "slots.hpp"

namespace byre::stress {

template <sync::Sync Sync, template <class> class Share>
class Worker {
 public:
  using Item = stress::Item<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;

  Worker(World<Sync, Share>& world, unsigned thread, std::uint64_t seed)
      : world_(world),
        thread_(thread),
        seed_(seed),
        decisions_(world.settings, seed),
        maker_(world, thread, tally_),
        owner_(world.failures, tally_, thread),
        slots_(world.settings) {}

  /// Until it is told to stop, or has done what it was to do. Its slots are empty then.
  void run(Gate& gate, const boost::atomic<bool>& stop) {
    // A thread that cannot have its own small blocks goes without, and throws nothing.
    (void)basic_buffer<Sync, Share>::allocate(1);
    Injector injector(world_.settings.faults, ~seed_);
    const Perturbs perturbs(world_.settings.perturbation, seed_);
    const std::uint64_t delays_before = delays_of_this_thread();
    const auto most = world_.settings.operations;
    // Relaxed: when exactly it stops does not matter.
    while (!(most && done() == *most) && !stop.load(boost::memory_order_relaxed)) {
      gate.pass();
      carry_out(decisions_.next(), injector);
    }
    slots_.clear();
    tally_.delays = delays_of_this_thread() - delays_before;
  }

  /// By any thread, approximately.
  std::uint64_t done() const noexcept { return done_.load(boost::memory_order_relaxed); }

  /// While it is paused, or over.
  const Tally& tally() const noexcept { return tally_; }
  const Slots<Item>& slots() const noexcept { return slots_; }
  std::vector<std::string> last_operations() const { return log_.lines(slots_.size()); }
  std::size_t digest() const noexcept { return decisions_.digest(); }

 private:
  /// Bits of a choice, from those that Maker reads on.
  enum : unsigned { write_too = 8, release_first, check_first, clone_too };

  void carry_out(const Decision& decision, Injector& injector) {
    log_.begin(decision);
    const auto before = unshared_of(decision);
    injector.arm(decision.fault, decision.fault_after);
    const char* how = "done";
    try {
      perform(decision);
      injector.disarm();
      owner_.check_silence(decision.operation, injector.to_throw());
    } catch (const std::exception& error) {
      injector.disarm();
      how = "threw";
      owner_.check_error(injector.to_throw(), error);
      owner_.expect(!before || before == unshared_of(decision),
                    "an operation failed, and changed what it was about");
    }
    ++tally_.operations[static_cast<std::size_t>(decision.operation)];
    if (injector.has_struck()) {
      survive(decision, injector);
    }
    log_.end(how);
    done_.store(done() + 1, boost::memory_order_relaxed);
  }

  /// What an operation that fails is to leave as it is; nothing where others may change it.
  auto unshared_of(const Decision& decision) {
    const auto& slot = slots_.of(decision);
    return slot && is_all_or_nothing(decision.operation) ? slot->unshared() : std::nullopt;
  }

  /// Everything the operation may have touched is as it was, or as it was to be.
  void survive(const Decision& decision, Injector& injector) {
    for (const auto* slot : {&slots_.of(decision), &slots_.other_of(decision)}) {
      if (*slot) {
        owner_.check(**slot);
      }
    }
    if (!world_.failures.any()) {
      injector.note_survival();
    }
    tally_.faults = injector.counts();
  }

  void perform(const Decision& decision);

  void clone_clone(const Decision& decision) {
    const Item first = maker_.clone(filled(decision), decision);
    Slots<Item>::put(slots_.other_of(decision), maker_.clone(first, decision));
  }

  void drop(std::optional<Item>& slot, const Decision& decision) {
    if (slot && decision.chooses(check_first)) {
      owner_.check(*slot);
    }
    slot.reset();
  }

  void hand(const Decision& decision) {
    Item& item = filled(decision);
    world_.mailboxes[decision.other % world_.mailboxes.size()].put(maker_.clone(item, decision));
    write_if_chosen(item, decision);
  }

  void take(const Decision& decision) {
    if (auto item = world_.mailboxes[thread_].take()) {
      write_if_chosen(put(decision, std::move(*item)), decision);
    }
  }

  void alias(const Decision& decision) {
    Item& item = filled(decision);
    item.become_storage();
    item.toggle_alias(decision.chooses(release_first));
    owner_.expect(item.storage()->handle_count() == item.handles(), "a handle was lost or forged");
    owner_.check(item);
  }

  void move(const Decision& decision) {
    Item& item = filled(decision);
    auto* buffer = item.buffer();
    if (decision.chooses(write_too) && buffer != nullptr && !item.is_borrowed()) {
      const auto& itself = *buffer;
      *buffer = itself;
      ++tally_.lazy_clones;
      auto elsewhere = std::move(*buffer);
      owner_.expect(buffer->data() == nullptr && buffer->nbytes() == 0 && buffer->is_unique(),
                    "a buffer that was moved from has bytes");
      *buffer = std::move(elsewhere);
    } else if (auto& other = slots_.other_of(decision)) {
      item.swap(*other);
      owner_.check(*other);
    }
    owner_.check(item);
  }

  void board_read(const Decision& decision) {
    const auto [handle, expected] = world_.board.look(decision.other);
    owner_.check(handle, expected);
    if (decision.chooses(clone_too)) {
      owner_.expect(maker_.clone(handle).shares_data_with(handle), "a lazy clone shares nothing");
    }
  }

  void board_clone(const Decision& decision) {
    auto [clone, expected] = world_.board.clone(
        decision.other, [&](const Storage& storage) { return maker_.clone(storage); });
    Item item(std::move(clone), maker_.unwritten(), expected);
    write_if_chosen(put(decision, std::move(item)), decision);
  }

  /// Returns what was there before.
  auto board_put(const Decision& decision) {
    Item item = maker_.clone(filled(decision), decision);
    item.become_storage();
    return world_.board.put(decision.other, {item.release_storage(), item.expected()});
  }

  /// Other threads may hold handles of it, so that it must not be written; a clone may, and is the
  /// last owner as soon as they let go.
  void board_steal(const Decision& decision) {
    auto [storage, expected] = board_put(decision);
    Item item(maker_.clone(storage), maker_.unwritten(), expected);
    storage = {};
    owner_.write(put(decision, std::move(item)), Wait::allowed);
  }

  void write_if_chosen(Item& item, const Decision& decision) {
    if (decision.chooses(write_too)) {
      owner_.write(item, Wait::allowed);
    } else {
      owner_.check(item);
    }
  }

  Item& filled(const Decision& decision) {
    auto& slot = slots_.of(decision);
    if (!slot) {
      slot.emplace(maker_.allocate(decision));
    }
    return *slot;
  }
  Item& put(const Decision& decision, Item&& item) noexcept {
    return Slots<Item>::put(slots_.of(decision), std::move(item));
  }

  World<Sync, Share>& world_;
  const unsigned thread_;
  const std::uint64_t seed_;
  Tally tally_;
  Decisions decisions_;
  Maker<Sync, Share> maker_;
  Owner owner_;
  Log log_;
  Slots<Item> slots_;
  boost::atomic<std::uint64_t> done_{0};
};

template <sync::Sync Sync, template <class> class Share>
void Worker<Sync, Share>::perform(const Decision& decision) {
  switch (decision.operation) {
    case Operation::read:
      return owner_.check(filled(decision));
    case Operation::write:
      return owner_.write(filled(decision), Wait::allowed);
    case Operation::write_never:
      return owner_.write(filled(decision), Wait::never);
    case Operation::clone:
      Slots<Item>::put(slots_.other_of(decision), maker_.clone(filled(decision), decision));
      return;
    case Operation::clone_clone:
      return clone_clone(decision);
    case Operation::drop:
      return drop(slots_.of(decision), decision);
    case Operation::allocate:
      put(decision, maker_.allocate(decision));
      return;
    case Operation::hand:
      return hand(decision);
    case Operation::take:
      return take(decision);
    case Operation::resize:
      return owner_.resize(filled(decision), decision.nbytes);
    case Operation::adopt:
      put(decision, maker_.adopt(decision));
      return;
    case Operation::borrow:
      put(decision, maker_.borrow(decision));
      return;
    case Operation::map:
      put(decision, maker_.map(decision));
      return;
    case Operation::alias:
      return alias(decision);
    case Operation::move:
      return move(decision);
    case Operation::board_read:
      return board_read(decision);
    case Operation::board_clone:
      return board_clone(decision);
    case Operation::board_put:
      board_put(decision);
      return;
    case Operation::board_steal:
      return board_steal(decision);
  }
}

}  // namespace byre::stress
