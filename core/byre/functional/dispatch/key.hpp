// SPDX-License-Identifier: BSL-1.0
/// Keys: what a call is dispatched on. A backend is a key that computes; a pass is a key that
/// stands above all backends and turns one call into others.
#pragma once

#include <bit>
#include <byre/config.hpp>
#include <cstdint>
#include <string>

namespace byre::inline v0::functional {

/// Backends first, passes last: a call goes to the highest key that its tensors have. Functionalize
/// stands above batched, so that a batched program never sees an operation in place.
enum class Key : std::uint8_t {
  cpu,
  graph,
  first_of_users,  ///< add_backend() gives these out, one after the other
  last_of_users = 27,
  batched,
  functionalize,
};

inline constexpr unsigned key_count = static_cast<unsigned>(Key::functionalize) + 1;

constexpr bool is_backend(Key key) noexcept {
  return key <= Key::last_of_users;
}

/// A set of keys. A value.
class KeySet {
 public:
  constexpr KeySet() noexcept = default;
  constexpr KeySet(Key key) noexcept : bits_(bit(key)) {}  // NOLINT: a key is a set of one

  constexpr bool has(Key key) const noexcept { return (bits_ & bit(key)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr KeySet without(KeySet other) const noexcept { return KeySet(bits_ & ~other.bits_); }
  /// Of a set that is not empty.
  constexpr Key highest() const noexcept { return static_cast<Key>(std::bit_width(bits_) - 1); }
  constexpr bool has_backend() const noexcept { return (bits_ & (bit(Key::batched) - 1)) != 0; }

  friend constexpr KeySet operator|(KeySet a, KeySet b) noexcept {
    return KeySet(a.bits_ | b.bits_);
  }
  friend constexpr bool operator==(KeySet, KeySet) noexcept = default;

 private:
  constexpr explicit KeySet(std::uint32_t bits) noexcept : bits_(bits) {}
  static constexpr std::uint32_t bit(Key key) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(key);
  }

  std::uint32_t bits_ = 0;
};

/// What the pass has to know of a backend.
struct BackendTraits {
  std::string name;
  /// It has as_strided_scatter, whatever the strides: views need no chain then.
  bool writes_through_strides = false;
};

/// A key of one's own. Throws InvalidArgument once all are given out, and for a name that is taken.
/// Thread-safe.
BYRE_API Key add_backend(BackendTraits traits);

/// Throws InvalidArgument for a key that nobody has. Thread-safe; wait-free.
BYRE_API const BackendTraits& traits_of(Key backend);
/// "cpu", "functionalize". Of a key that nobody has, "?". Thread-safe.
BYRE_API const char* name_of(Key key) noexcept;
/// "cpu, functionalize".
BYRE_API std::string to_string(KeySet keys);

}  // namespace byre::inline v0::functional
