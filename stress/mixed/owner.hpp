// SPDX-License-Identifier: BSL-1.0
/// Owner: what a thread does to a value, and checks: the content it left there, and results that agree with
/// each other.
#pragma once

#include <byre/cow/detail/share_lock.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/error.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "../failures.hpp"
#include "../faults/injector.hpp"
#include "checked_value.hpp"
#include "counts.hpp"

namespace byre::stress {

/// In the textbook form a former owner may have one more step to do when the last one steals. Until then
/// the data does not look unique.
template <class Value>
inline constexpr bool is_textbook = false;
template <sync::Sync Sync>
inline constexpr bool is_textbook<basic_buffer<Sync, basic_share_lock>> = true;
template <sync::Sync Sync>
inline constexpr bool is_textbook<basic_storage<Sync, basic_share_lock>> = true;

/// Whether a storage has other handles, which may read what a resize would cut off. A buffer has none.
template <class Value>
bool has_aliases(const Value& value) {
  if constexpr (requires { value.handle_count(); }) {
    return value.handle_count() > 1;
  } else {
    return false;
  }
}

/// Used by one thread.
class Owner {
 public:
  Owner(Failures& failures, Counts& counts, unsigned thread) noexcept
      : failures_(failures), counts_(counts), thread_(thread) {}

  template <class Checked>
  void check(const Checked& checked) {
    expect_no_fault("a storage is ", checked.nbytes(), checked.fault());
  }

  /// The same for a storage in a shared slot, or a pin.
  template <class Storage>
  void check(const Storage& storage, Content expected) {
    expect_no_fault("a storage in a shared slot, or what a pin reads, is ", storage.nbytes(),
                    fault_in(storage.data(), storage.nbytes(), expected));
  }

  /// Throws what materialize() throws, with nothing changed.
  template <class Checked>
  void write(Checked& checked, Wait wait) {
    materialize(checked, wait);
    check(checked);  // a copy reads as the original did, and so does stolen data
    write_next(checked);
  }

  template <class Checked>
  void resize(Checked& checked, std::size_t nbytes) {
    if (checked.is_read_only()) {
      write(checked, Wait::allowed);  // the write after the resize must not fail
    }
    if (!resize_if_unique(checked, nbytes)) {
      check(checked);
      return;
    }
    write_next(checked);
  }

  /// After an operation that did not throw: no injected fault required it.
  void check_success(Operation operation, std::optional<Fault> fault);
  /// After an operation that threw: the injected fault throws such an error.
  void check_error(std::optional<Fault> fault, const std::exception& error);

  void fail(const std::string& text);
  void expect(bool holds, const char* text) {
    if (!holds) [[unlikely]] {
      fail(text);
    }
  }

 private:
  template <class Checked>
  void materialize(Checked& checked, Wait wait) {
    checked.with([&](auto& value) {
      const bool was_shared = !value.is_unique();
      const bool was_read_only = value.is_read_only();
      const Materialized how = value.materialize(wait);
      counts_.record_write(how, was_shared, was_read_only, value.nbytes());
      expect(was_shared || was_read_only || how == Materialized::already_unique,
             "a write to data that nobody shared copied or stole it");
      expect(!was_read_only || how == Materialized::copied || how == Materialized::overlaid,
             "read-only data was not copied");
      while (is_textbook<std::decay_t<decltype(value)>> && !value.is_unique()) {
        std::this_thread::yield();
      }
      expect(value.is_unique() && !value.is_read_only(), "a write left the data shared");
    });
  }

  template <class Checked>
  void write_next(Checked& checked) {
    checked.with(
        [&](auto& value) { write_content(value.mutable_data(), value.nbytes(), checked.next()); });
    checked.wrote_next();
  }

  /// False if it was refused.
  template <class Checked>
  bool resize_if_unique(Checked& checked, std::size_t nbytes) {
    return checked.with([&](auto& value) {
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
        counts_.record_copy(counts_.resized, nbytes_before);
      }
      expect(value.nbytes() == nbytes, "a resize left another size");
      expect(
          reads(value.data(), std::min(nbytes, nbytes_before), checked.expected(), nbytes_before),
          "a resize lost bytes");
      return true;
    });
  }

  void expect_no_fault(const char* what, std::size_t nbytes,
                       const std::optional<std::string>& fault);

  Failures& failures_;
  Counts& counts_;
  const unsigned thread_;
};

}  // namespace byre::stress
