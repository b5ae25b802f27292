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
    case system::Transfer::lost_descriptors:
      throw TransferError(
          format_text("cannot receive data: descriptors of the message were lost: the process has "
                      "too few left, "
                      "or more than %zu came. Close files, or raise the limit of open files.",
                      system::most_descriptors));
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
      throw TransferError(format_text(
          "cannot send data: other code has closed descriptor %d. Export the data again.",
          exported.numbers_[index]));
    }
  }
  if (system::send_message(socket, exported.message(), exported.descriptors()) !=
      system::Transfer::done) {
    throw_transfer_error("send", "write to the socket");
  }
}

}  // namespace byre::inline BYRE_ABI::detail
