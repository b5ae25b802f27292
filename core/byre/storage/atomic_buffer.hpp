// SPDX-License-Identifier: BSL-1.0
/// AtomicBuffer: a place for a buffer that any number of threads load and store at once, without a
/// lock. A load is a lazy clone: one atomic add, after which the loaded buffer is independent of
/// all later stores.
///
/// ```cpp
/// byre::AtomicBuffer weights(byre::Buffer::allocate(64 << 20));
///
/// // in any thread that reads:
/// const byre::Buffer snapshot = weights.load();   // these bytes never change
///
/// // in a thread that writes:
/// byre::Buffer next = weights.load();
/// next.mutable_data()[0] = std::byte{1};          // copies, because `weights` shares the bytes
/// weights.store(std::move(next));                 // snapshot is unaffected
/// ```
///
///   AtomicBuffer           header of the data
///  +---------------+      +------------+------+
///  | address       |----->| share word | ...  |----> data
///  | taken         |      +------------+------+
///  +---------------+        counts 2^15 owners in advance, for the loads to come
///
/// AtomicStorage (atomic_storage.hpp) and AtomicTiles (tiles/atomic_tiles.hpp) are this template
/// over a Storage and a TiledBuffer. docs/atomic.md has recipes.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/atomic_cell.hpp>

#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace detail {

/// How a basic_atomic keeps a Value in a cell, which contains a buffer.
template <class Value>
struct AtomicValue;

template <sync::Sync S>
struct AtomicValue<basic_buffer<S>> {
  using Sync = S;
  using Buffer = basic_buffer<S>;
  using Cell = basic_atomic_cell<S>;

  static Buffer load(const Cell& cell, CallSite site) {
    return cell.template load<Reported::yes>(site);
  }
  static Buffer clone(const Buffer& value, CallSite site) { return value.lazy_clone(site); }
  /// Takes the data out of `value`. May throw, and leaves `value` unchanged then.
  static Buffer to_buffer(Buffer&& value, CallSite site) noexcept {
    return Buffer(std::move(value), site);
  }
  /// Undoes to_buffer().
  static void restore(Buffer& value, Buffer&& buffer) noexcept { value = std::move(buffer); }
  /// Makes `value` empty after its data was stored.
  static void clear(Buffer&) noexcept {}
  /// Converts a buffer from the cell to a value. If the conversion needs memory, the constructor
  /// allocates it.
  struct Receiver {
    static Buffer receive(Buffer&& buffer, CallSite) noexcept { return std::move(buffer); }
  };
  static bool are_equal(const Buffer& left, const Buffer& right) noexcept {
    return Cell::are_equal(left, right);
  }
  static bool compare_exchange(Cell& cell, const Buffer& expected, Buffer& desired,
                               CallSite site) noexcept {
    return cell.compare_exchange(expected, desired, site);
  }
  static bool holds(const Cell& cell, const Buffer& value) noexcept { return cell.holds(value); }
  static void wait(const Cell& cell, const Buffer& value) noexcept { cell.wait(value); }
};

}  // namespace detail

/// A place for a Value: a Buffer, Storage or TiledBuffer. Its content is what was stored last.
///
/// Unless a member says otherwise:
///
/// - Thread-safety: any number of threads may call any members of one object at once, except the
///   destructor. Everything that a thread did before a store happens before the return of a load,
///   exchange, compare_exchange or wait that reads the stored value or a later one.
/// - Errors: nothing throws, but a member with an lvalue argument throws the errors of
///   Buffer::lazy_clone() if it copies borrowed or aliased memory. If a member throws, the content
///   and the arguments are unchanged.
/// - Cost: a few atomic steps, without an allocation or a system call. A member that replaces the
///   content and is the last to drop it releases the data.
/// - Progress: load() is wait-free, one step, except that one load in 4,096 repeats a
///   compare-exchange until no other thread changes the object in between. store() and exchange()
///   are wait-free, compare_exchange() is lock-free. A thread that is stopped within a member
///   delays no other thread. (On machines without an atomic add and an atomic exchange in one
///   instruction, "wait-free" is "lock-free".)
///
/// Borrowed and aliased memory may have other writers, so a load copies it, as a lazy clone does.
/// While such memory is the content, the following differs:
///
/// - Loads and stores take a lock, and loads copy one after another. The allocator of the copies
///   must not use this object, nor wait for a thread that does.
/// - Borrowed memory may be released as soon as the store that replaced it returns. If other
///   threads store too, they may have replaced it: use adopt_aliased(), whose deleter is called
///   when no load copies any longer.
/// - No other buffer shares such data. So holds() is false, wait() returns at once, and
///   compare_exchange() stores nothing; replace the content by store().
///
/// The lock is also the fallback for memory whose header does not fit into 48 bits of an address
/// (as with tagged pointers), and for data with more than 2^29 owners, that is, for data that is in
/// about 16,384 objects like this one. Loads do not copy then.
///
/// Limits: 28,672 threads may be inside load() at once (for AtomicTiles, also holds(), wait() and
/// compare_exchange()); more end the program. use_count() of the content counts up to 2^15 owners
/// for each AtomicBuffer that contains the data.
template <class Value>
class basic_atomic {
  using Access = detail::AtomicValue<Value>;

 public:
  /// The content is an empty Value. A global object is initialized before the program starts.
  constexpr basic_atomic() noexcept = default;
  /// The content is `value`, or a lazy clone if `value` is an lvalue.
  explicit basic_atomic(Value&& value, CallSite site = CallSite::current())
      : cell_(Access::to_buffer(std::move(value), site), site) {}
  explicit basic_atomic(const Value& value, CallSite site = CallSite::current())
      : basic_atomic(Access::clone(value, site), site) {}
  basic_atomic(const basic_atomic&) = delete;
  basic_atomic& operator=(const basic_atomic&) = delete;
  /// Drops the content. Requires that no other thread uses this object.
  ~basic_atomic() = default;

  /// A lazy clone of the content. Throws only if it copies borrowed or aliased memory: the errors
  /// of Buffer::lazy_clone().
  [[nodiscard]] Value load(CallSite site = CallSite::current()) const {
    return Access::load(cell_, site);
  }

  /// Replaces the content by `desired`, which is empty afterwards, or by a lazy clone if `desired`
  /// is an lvalue. Drops the former content. Wakes no thread in wait(): call notify().
  void store(Value&& desired, CallSite site = CallSite::current()) {
    cell_.exchange(Access::to_buffer(std::move(desired), site), site);
    Access::clear(desired);
  }
  void store(const Value& desired, CallSite site = CallSite::current()) {
    store(Access::clone(desired, site), site);
  }

  /// As store(), and returns the former content.
  [[nodiscard]] Value exchange(Value&& desired, CallSite site = CallSite::current()) {
    typename Access::Receiver receiver;
    auto former = cell_.exchange(Access::to_buffer(std::move(desired), site), site);
    Access::clear(desired);
    return receiver.receive(std::move(former), site);
  }
  [[nodiscard]] Value exchange(const Value& desired, CallSite site = CallSite::current()) {
    return exchange(Access::clone(desired, site), site);
  }

  /// As store(), and returns true, if the content shares its data with `expected` or if both are
  /// empty. Otherwise `expected` becomes a lazy clone of the content, `desired` is unchanged, and
  /// the result is false. Never fails spuriously. Requires that the arguments are two objects.
  /// Throws what load() throws.
  bool compare_exchange(Value& expected, Value&& desired, CallSite site = CallSite::current()) {
    BYRE_ASSERT(&expected != &desired, "compare_exchange: expected and desired are one object");
    for (;;) {
      auto buffer = Access::to_buffer(std::move(desired), site);
      if (Access::compare_exchange(cell_, expected, buffer, site)) {
        Access::clear(desired);
        return true;
      }
      Access::restore(desired, std::move(buffer));
      Value content = load(site);
      if (!Access::are_equal(content, expected)) {
        expected = std::move(content);
        return false;
      }
    }
  }
  bool compare_exchange(Value& expected, const Value& desired,
                        CallSite site = CallSite::current()) {
    return compare_exchange(expected, Access::clone(desired, site), site);
  }

  /// Whether the content shares its data with `value`, or both are empty. So it tells whether the
  /// content has changed since a load. Cost: one atomic load, or two if loads take a lock.
  bool holds(const Value& value) const noexcept { return Access::holds(cell_, value); }

  /// Returns as soon as the content does not share its data with `expected` (or is not empty, if
  /// `expected` is). Sleeps until notify() is called, and then looks again. So it misses a content
  /// that is replaced by `expected` again before it looks. Is not an interruption point of
  /// Boost.Thread.
  void wait(const Value& expected) const noexcept { Access::wait(cell_, expected); }
  /// Wakes all threads in wait(). A store alone wakes none. Cost: a lock of the parking lot.
  void notify() noexcept { cell_.notify(); }

  /// The number of stores, exchanges and successful compare-exchanges that have completed. If two
  /// calls return the same number, no store has completed in between; one may be under way.
  std::uint64_t version() const noexcept { return cell_.version(); }

 private:
  typename Access::Cell cell_;
};

using AtomicBuffer = basic_atomic<Buffer>;

}  // namespace byre::inline BYRE_ABI
