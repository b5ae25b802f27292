// SPDX-License-Identifier: BSL-1.0
/// Peer: another process that receives, reads, writes and sends on one buffer, as its parent tells
/// it to. It is forked before the test has data, so the files of later data are not constant.
#pragma once

#include <byre/ipc/send.hpp>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "support/socket_pair.hpp"

namespace byre::test {

class Peer {
 public:
  /// `fork` makes a child, which keeps what it inherits until `data` is closed. After `exec`, the
  /// process executes another program until its parent ends. tell() does not execute `kill`.
  enum class Order : std::uint8_t {
    receive,
    write,
    read,
    send,
    drop,
    fork,
    exit,
    abort,
    exec,
    kill
  };

  Peer() {
    process_ = ::fork();
    if (process_ == 0) {
      data.close(0);
      orders_.close(0);
      serve();
      ::_exit(EXIT_SUCCESS);
    }
    data.close(1);
    orders_.close(1);
  }
  ~Peer() {
    if (process_ > 0) {
      kill();
    }
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Sends an order and waits until the peer has executed it. Returns the byte that `read` read, or
  /// nothing if the peer failed or ended.
  std::optional<std::byte> tell(Order order, std::size_t at = 0, std::byte value = {}) {
    const Told told{order, value, at};
    EXPECT_EQ(::send(orders_[0], &told, sizeof told, MSG_NOSIGNAL), ssize_t{sizeof told});
    Told answer{};
    return ::recv(orders_[0], &answer, sizeof answer, 0) == ssize_t{sizeof answer}
               ? std::optional(answer.value)
               : std::nullopt;
  }

  /// Waits until the peer has ended.
  void wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(process_, -1), &status, 0) > 0, true);
  }
  void kill() {
    ::kill(process_, SIGKILL);
    wait();
  }
  pid_t process() const noexcept { return process_; }

  SocketPair data;  ///< end 0 is the test's, to send and receive buffers

 private:
  struct Told {
    Order order;
    std::byte value;
    std::size_t at;
  };

  void serve() {
    Buffer buffer;
    for (Told told; ::recv(orders_[1], &told, sizeof told, 0) == ssize_t{sizeof told};) {
      try {
        execute(told, buffer);
      } catch (const Error& error) {
        ::_exit(EXIT_FAILURE);
      }
      if (::send(orders_[1], &told, sizeof told, MSG_NOSIGNAL) != ssize_t{sizeof told}) {
        return;
      }
    }
  }

  void execute(Told& told, Buffer& buffer) {
    switch (told.order) {
      case Order::receive:
        buffer = byre::receive(data[1]);
        break;
      case Order::write:
        buffer.mutable_data()[told.at] = told.value;
        break;
      case Order::read:
        told.value = buffer.data()[told.at];
        break;
      case Order::send:
        byre::send(data[1], buffer);
        break;
      case Order::drop:
        buffer = Buffer();
        break;
      case Order::fork:
        if (::fork() == 0) {  // a child that keeps what it inherited until the test ends
          ::close(orders_[1]);
          char any = 0;
          static_cast<void>(::recv(data[1], &any, 1, 0));
          ::_exit(EXIT_SUCCESS);
        }
        break;
      case Order::exit:
        ::_exit(EXIT_SUCCESS);
      case Order::abort:
        std::signal(SIGABRT, SIG_DFL);
        std::abort();
      case Order::exec:
        ::dup2(orders_[1], STDIN_FILENO);
        ::execlp("sh", "sh", "-c", "echo >&0; read line", nullptr);
        ::_exit(EXIT_FAILURE);
      case Order::kill:
        break;
    }
  }

  SocketPair orders_{SOCK_SEQPACKET};
  pid_t process_ = -1;
};

}  // namespace byre::test
