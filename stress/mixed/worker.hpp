// SPDX-License-Identifier: BSL-1.0
/// Worker: one thread of a run, which carries out its decisions.
#pragma once

#include <boost/atomic/atomic.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "operation_log.hpp"
#include "owner.hpp"
#include "safepoint.hpp"
#include "slots.hpp"
#include "value_factory.hpp"

namespace byre::stress {

template <sync::Sync Sync, template <class> class Share>
class Worker {
 public:
  using Checked = CheckedValue<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;

  Worker(RunState<Sync, Share>& state, unsigned thread, std::uint64_t seed)
      : state_(state),
        thread_(thread),
        seed_(seed),
        decisions_(state.settings, seed),
        factory_(state, thread, counts_),
        owner_(state.failures, counts_, thread),
        slots_(state.settings) {}

  /// Returns when `stop` is set, or all its operations are done. Its slots are empty then.
  void run(Safepoint& safepoint, const boost::atomic<bool>& stop) {
    // The first allocation makes the thread cache, while no fault is injected.
    (void)basic_buffer<Sync, Share>::allocate(1);
    Injector injector(state_.settings.faults, ~seed_);
    const ScopedPerturbation perturbs(state_.settings.perturbation, seed_);
    const std::uint64_t delays_before = delays_of_this_thread();
    const auto most = state_.settings.operations;
    // Relaxed: when exactly it stops does not matter.
    while (!(most && done() == *most) && !stop.load(boost::memory_order_relaxed)) {
      safepoint.poll();
      carry_out(decisions_.next(), injector);
    }
    slots_.clear();
    counts_.delays = delays_of_this_thread() - delays_before;
  }

  /// Approximate. By any thread.
  std::uint64_t done() const noexcept { return done_.load(boost::memory_order_relaxed); }

  /// While it is held, or has ended.
  const Counts& counts() const noexcept { return counts_; }
  const Slots<Checked>& slots() const noexcept { return slots_; }
  std::vector<std::string> last_operations() const { return log_.lines(slots_.size()); }
  std::size_t digest() const noexcept { return decisions_.digest(); }

 private:
  /// Bits of Decision::choice, after those of ValueFactory.
  enum : unsigned { write_too = 8, release_first, check_first, clone_too };

  void carry_out(const Decision& decision, Injector& injector) {
    log_.begin(decision);
    const auto before = unshared_of(decision);
    injector.arm(decision.fault, decision.fault_after);
    const char* how = "done";
    try {
      perform(decision);
      injector.disarm();
      owner_.check_success(decision.operation, injector.to_throw());
    } catch (const std::exception& error) {
      injector.disarm();
      how = "threw";
      owner_.check_error(injector.to_throw(), error);
      owner_.expect(!before || before == unshared_of(decision),
                    "an operation failed, and changed its value");
    }
    ++counts_.operations[static_cast<std::size_t>(decision.operation)];
    if (injector.has_fired()) {
      survive(decision, injector);
    }
    log_.end(how);
    done_.store(done() + 1, boost::memory_order_relaxed);
  }

  /// What an operation that fails must leave unchanged, if no other thread may change it.
  auto unshared_of(const Decision& decision) {
    const auto& slot = slots_.of(decision);
    return slot && is_all_or_nothing(decision.operation) ? slot->unshared() : std::nullopt;
  }

  /// Checks all that a failed operation may have touched.
  void survive(const Decision& decision, Injector& injector) {
    for (const auto* slot : {&slots_.of(decision), &slots_.other_of(decision)}) {
      if (*slot) {
        owner_.check(**slot);
      }
    }
    if (!state_.failures.any()) {
      injector.record_survival();
    }
    counts_.faults = injector.counts();
  }

  void perform(const Decision& decision);

  void clone_clone(const Decision& decision) {
    const Checked first = factory_.clone(filled(decision), decision);
    put_other(decision, factory_.clone(first, decision));
  }

  void drop(const Decision& decision) {
    auto& slot = slots_.of(decision);
    if (slot && decision.chooses(check_first)) {
      owner_.check(*slot);
    }
    slot.reset();
  }

  void hand(const Decision& decision) {
    Checked& checked = filled(decision);
    state_.mailboxes[decision.other % state_.mailboxes.size()].put(
        factory_.clone(checked, decision));
    write_if_chosen(checked, decision);
  }

  void take(const Decision& decision) {
    if (auto checked = state_.mailboxes[thread_].take()) {
      write_if_chosen(put(decision, std::move(*checked)), decision);
    }
  }

  void alias(const Decision& decision) {
    Checked& checked = filled(decision);
    checked.become_storage();
    checked.toggle_alias(decision.chooses(release_first));
    owner_.expect(checked.storage()->handle_count() == checked.handles(),
                  "a handle was lost or forged");
    owner_.check(checked);
  }

  void pin(const Decision& decision) {
    Checked& checked = filled(decision);
    checked.become_storage();
    if (decision.chooses(check_first) && !checked.is_borrowed()) {
      const auto reader = factory_.pin_to_read(*checked.storage());
      const Content read = checked.expected();
      owner_.write(checked, Wait::allowed);
      owner_.check(reader, read);
    } else {
      owner_.write(checked, Wait::allowed);
    }
    write_by_pin(checked, decision);
    owner_.expect(!checked.storage()->is_pinned(), "a pin that was released is there");
    owner_.check(checked);
  }

  /// Of what nobody shares. Others write and release what they shared with it.
  void write_by_pin(Checked& checked, const Decision& decision) {
    const auto pin = checked.pin();
    write_content(pin.mutable_data(), pin.nbytes(), checked.next());
    checked.wrote_next();
    Checked clone = factory_.clone(checked, decision);
    owner_.expect(!clone.storage()->shares_data_with(*checked.storage()),
                  "a lazy clone shares pinned data");
    write_content(pin.mutable_data(), pin.nbytes(), checked.next());
    checked.wrote_next();
    owner_.check(clone);
    put_other(decision, std::move(clone));
  }

  void move(const Decision& decision) {
    Checked& checked = filled(decision);
    auto* buffer = checked.buffer();
    if (decision.chooses(write_too) && buffer != nullptr && !checked.is_borrowed()) {
      const auto& itself = *buffer;
      *buffer = itself;
      ++counts_.lazy_clones;
      auto elsewhere = std::move(*buffer);
      owner_.expect(buffer->data() == nullptr && buffer->nbytes() == 0 && buffer->is_unique(),
                    "a buffer that was moved from has bytes");
      *buffer = std::move(elsewhere);
    } else if (auto& other = slots_.other_of(decision)) {
      checked.swap(*other);
      owner_.check(*other);
    }
    owner_.check(checked);
  }

  void shared_read(const Decision& decision) {
    const auto [handle, expected] = state_.shared_slots.read(decision.other);
    owner_.check(handle, expected);
    if (decision.chooses(clone_too)) {
      owner_.expect(factory_.clone(handle).shares_data_with(handle), "a lazy clone shares nothing");
      owner_.check(factory_.pin_to_read(handle), expected);
    }
  }

  void shared_clone(const Decision& decision) {
    auto [clone, expected] = state_.shared_slots.clone(
        decision.other, [&](const Storage& storage) { return factory_.clone(storage); });
    Checked checked(std::move(clone), factory_.unwritten(), expected);
    write_if_chosen(put(decision, std::move(checked)), decision);
  }

  /// Returns the entry before.
  auto shared_put(const Decision& decision) {
    Checked checked = factory_.clone(filled(decision), decision);
    checked.become_storage();
    return state_.shared_slots.replace(decision.other,
                                       {checked.release_storage(), checked.expected()});
  }

  /// Other threads may have handles of the storage, so that it must not be written. Its clone may: it is the
  /// last owner when they drop theirs.
  void shared_steal(const Decision& decision) {
    auto [storage, expected] = shared_put(decision);
    Checked checked(factory_.clone(storage), factory_.unwritten(), expected);
    storage = {};
    owner_.write(put(decision, std::move(checked)), Wait::allowed);
  }

  void write_if_chosen(Checked& checked, const Decision& decision) {
    if (decision.chooses(write_too)) {
      owner_.write(checked, Wait::allowed);
    } else {
      owner_.check(checked);
    }
  }

  Checked& filled(const Decision& decision) {
    auto& slot = slots_.of(decision);
    if (!slot) {
      slot.emplace(factory_.allocate(decision));
    }
    return *slot;
  }
  Checked& put(const Decision& decision, Checked&& checked) noexcept {
    return Slots<Checked>::put(slots_.of(decision), std::move(checked));
  }

  void put_other(const Decision& decision, Checked&& checked) noexcept {
    Slots<Checked>::put(slots_.other_of(decision), std::move(checked));
  }

  RunState<Sync, Share>& state_;
  const unsigned thread_;
  const std::uint64_t seed_;
  Counts counts_;
  Decisions decisions_;
  ValueFactory<Sync, Share> factory_;
  Owner owner_;
  OperationLog log_;
  Slots<Checked> slots_;
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
      return put_other(decision, factory_.clone(filled(decision), decision));
    case Operation::clone_clone:
      return clone_clone(decision);
    case Operation::drop:
      return drop(decision);
    case Operation::allocate:
      return void(put(decision, factory_.allocate(decision)));
    case Operation::hand:
      return hand(decision);
    case Operation::take:
      return take(decision);
    case Operation::resize:
      return owner_.resize(filled(decision), decision.nbytes);
    case Operation::adopt:
      return void(put(decision, factory_.adopt(decision)));
    case Operation::borrow:
      return void(put(decision, factory_.borrow(decision)));
    case Operation::map:
      return void(put(decision, factory_.map(decision)));
    case Operation::alias:
      return alias(decision);
    case Operation::pin:
      return pin(decision);
    case Operation::move:
      return move(decision);
    case Operation::shared_slot_read:
      return shared_read(decision);
    case Operation::shared_slot_clone:
      return shared_clone(decision);
    case Operation::shared_slot_put:
      return void(shared_put(decision));
    case Operation::shared_slot_steal:
      return shared_steal(decision);
  }
}

}  // namespace byre::stress
