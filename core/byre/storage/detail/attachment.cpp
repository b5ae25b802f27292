// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/attachment_table.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

namespace byre::inline v0::detail {
namespace {

using Table = basic_attachment_table<sync::Boost>;

/// Never destroyed: storages may be, to the very end.
Table& table() noexcept {
  return sync::no_destructor<Table>();
}

}  // namespace

std::uint32_t AttachmentNumbers<sync::Boost>::add(std::unique_ptr<Attachment>& attachment) {
  return table().add(attachment);
}

Attachment& AttachmentNumbers<sync::Boost>::at(std::uint32_t number) noexcept {
  return table().at(number);
}

void AttachmentNumbers<sync::Boost>::remove(std::uint32_t number) noexcept {
  table().remove(number);
}

}  // namespace byre::inline v0::detail
