// SPDX-License-Identifier: BSL-1.0
/// The reader under test: `read_npy`, which says what a .npy file holds or refuses it. This one is a
/// strict parser of version 1.0 and two-dimensional tables of floats, written from the format's
/// description and not from the writer. Another reader takes its place by answering the same.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace byre::fuzz {

struct Table {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::string_view data;
  friend bool operator==(const Table&, const Table&) = default;
};

/// Says what is wrong with a file, and where.
struct NotNpy : std::runtime_error {
  using runtime_error::runtime_error;
};

/// What `file` holds; its data is a part of `file`. Throws NotNpy.
Table read_npy(std::string_view file);

}  // namespace byre::fuzz
