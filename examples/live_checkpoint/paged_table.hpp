// SPDX-License-Identifier: BSL-1.0
/// The table as one storage of paged memory. A snapshot is one lazy clone, and the system copies the pages that
/// training writes.
#pragma once

#include "table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::live_checkpoint {

class PagedTable final : public Table {
 public:
  explicit PagedTable(const Plan& plan);

  float* row(std::uint32_t number) override {
    const std::size_t begin = number * row_nbytes_;
    // Only the stopwatch needs to look at each page, and that a lack of memory is to be thrown.
    for (std::size_t page = begin / page_nbytes_; page * page_nbytes_ < begin + row_nbytes_;
         ++page) {
      if (is_own_[page] == 0) [[unlikely]] {
        make_own(page);
      }
    }
    return reinterpret_cast<float*>(data_ + begin);
  }

  Snapshot snapshot(std::uint64_t token) override;

 private:
  void make_own(std::size_t page);

  std::size_t row_nbytes_;
  std::size_t page_nbytes_;
  byre::Storage rows_;
  std::byte* data_;                    ///< of rows_, once a page is its own
  std::vector<unsigned char> is_own_;  ///< by page: written since the last snapshot
};

}  // namespace examples::live_checkpoint
