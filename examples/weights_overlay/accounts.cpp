// SPDX-License-Identifier: BSL-1.0
#include "accounts.hpp"

#include "failure.hpp"

#include <cstdint>
#include <cstring>
#include <set>
#include <span>

namespace examples::weights_overlay {
namespace {

std::size_t rows_of(const byre::Tensor& layer) {
  return static_cast<std::size_t>(layer.size(0));
}

std::span<const float> row_of(const byre::Tensor& layer, std::size_t row) {
  const auto width = static_cast<std::size_t>(layer.size(1));
  return {layer.data<float>() + row * width, width};
}

std::size_t nbytes_of_pages(const byre::Tensor& layer, const std::set<std::size_t>& rows) {
  std::set<std::uintptr_t> pages;
  const std::size_t page_nbytes = system_page_nbytes();
  for (const std::size_t row : rows) {
    const auto bytes = std::as_bytes(row_of(layer, row));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    const std::uintptr_t last_page = (begin + bytes.size() - 1) / page_nbytes;
    for (std::uintptr_t page = begin / page_nbytes; page <= last_page; ++page) {
      pages.insert(page);
    }
  }
  return pages.size() * page_nbytes;
}

bool differs_in(const std::set<std::size_t>& rows, const byre::Tensor& layer,
                const byre::Tensor& base) {
  for (std::size_t row = 0; row < rows_of(layer); ++row) {
    const std::span<const float> own = row_of(layer, row);
    const bool differs = std::memcmp(own.data(), row_of(base, row).data(), own.size_bytes()) != 0;
    if (differs != rows.contains(row)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Accounts accounts_of(const Request& request, const Model& base, const OwnMemory& own) {
  Accounts accounts;
  for (std::size_t number = 0; number < base.size(); ++number) {
    throw_if_interrupted();
    const byre::Tensor& layer = request.model()[number];
    const byre::Storage& storage = layer.storage();
    std::optional<std::size_t> own_nbytes = layer.nbytes();
    std::size_t expected_nbytes = layer.nbytes();
    if (storage.shares_data_with(base[number].storage())) {
      accounts.shared_nbytes += layer.nbytes();
      own_nbytes = expected_nbytes = 0;
    } else if (storage.origin() == byre::Origin::overlay) {
      ++accounts.overlays;
      own_nbytes = own.of_mapping_at(storage.data());
      expected_nbytes = nbytes_of_pages(layer, request.changed_rows(number));
    }
    accounts.expected_own_nbytes += expected_nbytes;
    accounts.own_nbytes = accounts.own_nbytes && own_nbytes
                              ? std::optional(*accounts.own_nbytes + *own_nbytes)
                              : std::nullopt;
    accounts.differs_where_changed = accounts.differs_where_changed &&
                                     differs_in(request.changed_rows(number), layer, base[number]);
  }
  return accounts;
}

}  // namespace examples::weights_overlay
