// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>
#include <byre/system/detail/sockets.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace byre::inline BYRE_ABI::detail {

ExportedPages Transfers::receive(int socket) {
  ExportedPages exported;
  system::Received received;
  switch (system::receive_message(socket, exported.message_, received)) {
    case system::Transfer::failed:
      throw_transfer_error("receive", "read from the socket");
    case system::Transfer::ended:
      throw TransferError(format_text(
          "cannot receive data: the socket ended after %zu bytes, required %zu. Check whether the "
          "other process failed, and whether it sends by byre.",
          received.nbytes, exported.message_.size()));
    case system::Transfer::too_few:
      throw TransferError(
          format_text("cannot receive data: the process has too few descriptors left, or more than "
                      "2 came with the message. Close files, or raise the limit of open files."));
    case system::Transfer::done:
      break;
  }
  exported.take_files(received.descriptors);
  TransferMessage message;
  std::memcpy(&message, exported.message_.data(), sizeof message);
  exported.nbytes_ = static_cast<std::size_t>(message.nbytes);
  return exported;
}

Imported Transfers::receive(int socket, DataKind kind, Accept accept) {
  ExportedPages exported = receive(socket);
  return import(exported.message(), std::span(exported.files_).first(exported.count_), kind,
                accept);
}

void Transfers::send(int socket, const ExportedPages& exported) {
  for (std::size_t index = 0; index < exported.count_; ++index) {
    if (exported.files_[index].number() != exported.numbers_[index]) {
      throw_transfer_error("send", "use a descriptor, which other code has closed");
    }
  }
  if (system::send_message(socket, exported.message(), exported.descriptors()) !=
      system::Transfer::done) {
    throw_transfer_error("send", "write to the socket");
  }
}

}  // namespace byre::inline BYRE_ABI::detail
