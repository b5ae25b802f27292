// SPDX-License-Identifier: BSL-1.0
/// Keys select the kernel that a call runs. The key of a backend selects kernels that compute on
/// the backend's tensors. The key of a pass ranks above all backends and selects kernels that turn
/// one call into other calls.
///
/// Unless a member says otherwise: Cost: O(1), no allocation. Throws nothing.
#pragma once

#include <bit>
#include <byre/config.hpp>
#include <cstdint>
#include <string>

namespace byre::inline BYRE_ABI::functional {

/// Backends first, passes last: a call goes to the highest key of its tensors. Functionalize ranks
/// above batched, so within the functionalize pass vmap() receives no operation that writes in
/// place.
enum class Key : std::uint8_t {
  cpu,
  graph,
  first_of_users,  ///< add_backend() returns these in ascending order
  last_of_users = 27,
  batched,
  functionalize,
};

inline constexpr unsigned key_count = static_cast<unsigned>(Key::functionalize) + 1;

constexpr bool is_backend(Key key) noexcept {
  return key <= Key::last_of_users;
}

/// A set of keys. A value type.
class KeySet {
 public:
  constexpr KeySet() noexcept = default;
  constexpr KeySet(Key key) noexcept : bits_(bit(key)) {}  // NOLINT: a key is a set of one

  constexpr bool has(Key key) const noexcept { return (bits_ & bit(key)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr KeySet without(KeySet other) const noexcept { return KeySet(bits_ & ~other.bits_); }
  /// Requires a nonempty set.
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

/// Properties of a backend that the functionalize pass uses.
struct BackendTraits {
  std::string name;
  /// The backend supports as_strided_scatter for any strides, so the pass replays a view of a view
  /// by strides and needs no chain of view operators.
  bool writes_through_strides = false;
};

/// Registers a backend and returns its new key. Throws InvalidArgument if the name is taken or if
/// all keys are taken, or OutOfMemory. Thread-safe.
BYRE_API Key add_backend(BackendTraits traits);

/// Returns the traits of a backend. Throws InvalidArgument if `backend` is not the key of a
/// registered backend. Thread-safe; wait-free.
BYRE_API const BackendTraits& traits_of(Key backend);
/// Returns a name such as "cpu" or "functionalize", or "?" if no backend has the key. Thread-safe.
BYRE_API const char* name_of(Key key) noexcept;
/// Returns names such as "cpu, functionalize", or "none" for the empty set. Throws OutOfMemory.
BYRE_API std::string to_string(KeySet keys);

}  // namespace byre::inline BYRE_ABI::functional
