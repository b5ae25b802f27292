// SPDX-License-Identifier: BSL-1.0
/// Origins: the reshapes that a view family came out of, as far as reports tell them apart.
#pragma once

#include <byre/shadow/mode.hpp>

#include <cstdint>
#include <deque>

namespace byre::test {

/// A reshape, and what its input came out of. Families that one line made of inputs that are alike have
/// one origin: a report cannot say which of them it was.
struct Origin {
  const Origin* before = nullptr;  ///< null: the family that a storage begins with
  std::uint32_t line = 0;
  shadow::ReshapeMode mode{};

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Each once.
class Origins {
 public:
  const Origin* find_or_add(const Origin& origin);

 private:
  std::deque<Origin> all_;
};

struct Parting {
  const Origin* reshape;    ///< the first that only one of the two came out of
  bool writer_is_reshaped;  ///< out of the family that accesses
  bool access_is_reshaped;  ///< out of the family that wrote
};
Parting parting_of(const Origin* accessing, const Origin* writing);

}  // namespace byre::test
