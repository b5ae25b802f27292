// SPDX-License-Identifier: BSL-1.0
/// SocketPair: two connected Unix sockets, which are closed with the object.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace byre::test {

class SocketPair {
 public:
  explicit SocketPair(int type = SOCK_STREAM) {
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends_) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
  }
  ~SocketPair() {
    close(0);
    close(1);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int operator[](int end) const noexcept { return ends_[end]; }
  void close(int end) noexcept {
    if (ends_[end] >= 0) {
      ::close(std::exchange(ends_[end], -1));
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace byre::test
