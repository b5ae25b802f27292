// SPDX-License-Identifier: BSL-1.0
/// Messages that a test changes, and files that a hostile process could send with them.
#pragma once

#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/exported_pages.hpp>
#include <byre/system/detail/sockets.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../pages/paged_buffers.hpp"

namespace byre::test {

using detail::TransferMessage;

/// Exported data whose message a test changes.
template <class Data = Buffer>
struct Changed {
  explicit Changed(const Data& data) : exported(export_pages(data)) {
    std::memcpy(&message, exported.message().data(), sizeof message);
    numbers.assign(exported.descriptors().begin(), exported.descriptors().end());
  }

  Data import(Accept accept = Accept::any_file) const {
    return import_pages<Data>(std::as_bytes(std::span(&message, 1)), numbers, accept);
  }
  /// The text of the error of import().
  std::string error() const {
    try {
      import();
    } catch (const TransferError& error) {
      return error.what();
    }
    return "no error";
  }

  ExportedPages exported;
  TransferMessage message;
  std::vector<int> numbers;
};

/// Sends a message with any number of descriptors.
inline void send_with(int socket, std::span<const std::byte> message,
                      std::span<const int> descriptors) {
  EXPECT_EQ(system::send_message(socket, message, descriptors), system::Transfer::done);
}

inline Changed<> whole() {
  return Changed(filled(std::byte{1}));
}

/// An overlay with two written pages.
inline Changed<> written() {
  const Buffer base = filled(std::byte{1});
  Buffer overlay = base;
  overlay.mutable_data()[0] = overlay.mutable_data()[paged_nbytes / 2] = std::byte{2};
  return Changed(overlay);
}

/// A memory file of a hostile process.
class HostileFile {
 public:
  explicit HostileFile(std::size_t nbytes, int seals = 0)
      : number_(::memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(number_, static_cast<off_t>(nbytes)), 0);
    seal(seals);
  }
  ~HostileFile() { ::close(number_); }
  HostileFile(const HostileFile&) = delete;
  HostileFile& operator=(const HostileFile&) = delete;

  int number() const noexcept { return number_; }
  void seal(int seals) const { EXPECT_EQ(::fcntl(number_, F_ADD_SEALS, seals), 0); }
  template <class Value>
  void write(std::size_t at, const Value& value) const {
    EXPECT_EQ(::pwrite(number_, &value, sizeof value, static_cast<off_t>(at)),
              ssize_t{sizeof value});
  }

 private:
  int number_;
};

}  // namespace byre::test
