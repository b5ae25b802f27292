// SPDX-License-Identifier: BSL-1.0
/// The calls that do not depend on the system.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>
#include <byre/pages/detail/exported.hpp>

#include <limits>

namespace byre::inline BYRE_ABI {

using detail::DataKind;
using detail::Transfers;

ExportedPages export_pages(const Buffer& data, CallSite site) {
  return Transfers::export_buffer(data, DataKind::buffer, {}, true, site);
}
ExportedPages export_pages(const Storage& data, CallSite site) {
  return Transfers::export_storage(data, DataKind::storage, {}, site);
}

void send(int socket, const ExportedPages& exported) {
  Transfers::send(socket, exported);
}
void send(int socket, const Buffer& data, CallSite site) {
  send(socket, export_pages(data, site));
}
void send(int socket, const Storage& data, CallSite site) {
  send(socket, export_pages(data, site));
}
void send(int socket, const TiledBuffer& data, CallSite site) {
  send(socket, export_pages(data, site));
}

template <>
Buffer import_pages<Buffer>(std::span<const std::byte> message, std::span<const int> descriptors,
                            Accept accept) {
  return Transfers::import(message, descriptors, DataKind::buffer, accept).buffer;
}
template <>
Storage import_pages<Storage>(std::span<const std::byte> message, std::span<const int> descriptors,
                              Accept accept) {
  return Storage(Transfers::import(message, descriptors, DataKind::storage, accept).buffer);
}

template <>
ExportedPages receive<ExportedPages>(int socket, Accept) {
  return Transfers::receive(socket);
}
template <>
Buffer receive<Buffer>(int socket, Accept accept) {
  return Transfers::receive(socket, DataKind::buffer, accept).buffer;
}
template <>
Storage receive<Storage>(int socket, Accept accept) {
  return Storage(Transfers::receive(socket, DataKind::storage, accept).buffer);
}

ExportedViews collect(Wait wait) noexcept {
  auto& exports = detail::exports<sync::Default>();
  const detail::Views views = wait == Wait::allowed
                                  ? exports.await_all()
                                  : exports.look(std::numeric_limits<std::size_t>::max());
  return {views.ended, views.remaining};
}

}  // namespace byre::inline BYRE_ABI
