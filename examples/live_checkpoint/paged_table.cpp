// SPDX-License-Identifier: BSL-1.0
#include "paged_table.hpp"

#include <byre/pages/paged_allocator.hpp>

#include <unistd.h>
#include <algorithm>

namespace examples::live_checkpoint {

PagedTable::PagedTable(const Plan& plan)
    : row_nbytes_(plan.row_nbytes()),
      page_nbytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
      rows_(byre::Storage::allocate(plan.table_nbytes(), byre::paged_allocator())),
      data_(rows_.mutable_data()),
      is_own_((plan.table_nbytes() + page_nbytes_ - 1) / page_nbytes_, 1) {
  initialize_rows(plan);
}

void PagedTable::make_own(std::size_t page) {
  const std::size_t begin = page * page_nbytes_;
  const std::size_t nbytes = std::min(page_nbytes_, rows_.nbytes() - begin);
  data_ = stalls_.time([&] { return rows_.mutable_range(begin, nbytes).data(); }) - begin;
  is_own_[page] = 1;
}

Snapshot PagedTable::snapshot(std::uint64_t token) {
  std::fill(is_own_.begin(), is_own_.end(), 0);
  return {token, std::vector<byre::Storage>{rows_.lazy_clone()}};
}

}  // namespace examples::live_checkpoint
