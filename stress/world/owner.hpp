// SPDX-License-Identifier: BSL-1.0
/// What an owner does to an item, and has to find: content as it left it, and answers that agree
/// with each other.
#pragma once

#include <byre/cow/claim.hpp>
#include <byre/cow/detail/share_lock.hpp>
#include <byre/error/error.hpp>

#include <algorithm>
#include <boost/thread/thread.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "../failures.hpp"
#include "../faults/injector.hpp"
#include "item.hpp"
#include "tally.hpp"

namespace byre::stress {

/// In the textbook form a former owner may have one more step to take when the last one steals,
/// until which the data does not look unique.
template <class Value>
inline constexpr bool is_textbook = false;
template <sync::Sync Sync>
inline constexpr bool is_textbook<basic_buffer<Sync, basic_share_lock>> = true;
template <sync::Sync Sync>
inline constexpr bool is_textbook<basic_storage<Sync, basic_share_lock>> = true;

/// Whether a storage has other handles, which may need what a resize would cut off. A buffer has
/// none.
template <class Value>
bool has_aliases(const Value& value) {
  if constexpr (requires { value.handle_count(); }) {
    return value.handle_count() > 1;
  } else {
    return false;
  }
}

/// Of one thread.
class Owner {
 public:
  Owner(Failures& failures, Tally& tally, unsigned thread) noexcept
      : failures_(failures), tally_(tally), thread_(thread) {}

  template <class Item>
  void check(const Item& item) {
    tally_.bytes_checked += item.nbytes();
    if (const auto fault = item.fault()) {
      fail("a storage is " + *fault);
    }
  }

  /// The same for one that is not the thread's own.
  template <class Storage>
  void check(const Storage& storage, Content expected) {
    tally_.bytes_checked += storage.nbytes();
    if (const auto fault = fault_in(storage.data(), storage.nbytes(), expected)) {
      fail("a storage on the board is " + *fault);
    }
  }

  /// Throws what write access throws, having changed nothing.
  template <class Item>
  void write(Item& item, Wait wait) {
    materialize(item, wait);
    check(item);  // a copy, or what was stolen, reads as before
    write_next(item);
  }

  template <class Item>
  void resize(Item& item, std::size_t nbytes) {
    if (item.is_read_only()) {
      write(item, Wait::allowed);  // so that it can be written afterwards without a copy that fails
    }
    if (!resize_if_unique(item, nbytes)) {
      check(item);
      return;
    }
    write_next(item);
  }

  /// After an operation that did not throw: nothing was to make it.
  void check_silence(Operation operation, std::optional<Fault> fault) {
    if (fault) {
      fail(std::string(name_of(operation)) +
           " did not throw though this was made to fail: " + std::string(name_of(*fault)));
    }
  }

  /// After an operation that threw: what was made to fail, if anything, throws that.
  void check_error(std::optional<Fault> fault, const std::exception& error) {
    if (fault && !is_of(*fault, error)) {
      fail("threw something else than " + std::string(name_of(*fault)) + " does: " + error.what());
    } else if (!fault && is_of(Fault::heap, error)) {
      fail("memory ran out, of itself; give fewer --storages or smaller --sizes: " +
           std::string(error.what()));
    } else if (!fault) {
      fail("threw though nothing was made to fail: " + std::string(error.what()));
    }
  }

  void fail(const std::string& text) {
    failures_.add("thread " + std::to_string(thread_) + ": " + text);
  }
  void expect(bool right, std::string_view text) {
    if (!right) [[unlikely]] {
      fail(std::string(text));
    }
  }

 private:
  template <class Item>
  void materialize(Item& item, Wait wait) {
    item.with([&](auto& value) {
      const bool was_shared = !value.is_unique();
      const bool was_read_only = value.is_read_only();
      const Materialized answer = value.materialize(wait);
      tally_.note_write(answer, was_shared, was_read_only, value.nbytes());
      expect(was_shared || was_read_only || answer == Materialized::already_unique,
             "a write to data that nobody shared copied or stole it");
      expect(!was_read_only || answer == Materialized::copied, "read-only data was not copied");
      while (is_textbook<std::decay_t<decltype(value)>> && !value.is_unique()) {
        boost::this_thread::yield();
      }
      expect(value.is_unique() && !value.is_read_only(), "a write left the data shared");
    });
  }

  template <class Item>
  void write_next(Item& item) {
    item.with(
        [&](auto& value) { write_content(value.mutable_data(), value.nbytes(), item.next()); });
    item.wrote_next();
  }

  /// False if it was refused.
  template <class Item>
  bool resize_if_unique(Item& item, std::size_t nbytes) {
    return item.with([&](auto& value) {
      const bool was_unique = value.is_unique();
      const bool had_aliases = has_aliases(value);
      const std::size_t nbytes_before = value.nbytes();
      const std::byte* data_before = value.data();
      try {
        value.resize(nbytes);
      } catch (const NotUnique&) {
        expect(!was_unique || (had_aliases && nbytes < nbytes_before),
               "a resize was refused though nobody shared the data");
        return false;
      }
      if (value.data() != data_before) {
        tally_.note_copy(tally_.resized, nbytes_before);
      }
      expect(value.nbytes() == nbytes, "a resize left another size");
      expect(reads(value.data(), std::min(nbytes, nbytes_before), item.expected(), nbytes_before),
             "a resize lost bytes");
      return true;
    });
  }

  Failures& failures_;
  Tally& tally_;
  const unsigned thread_;
};

}  // namespace byre::stress
