// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/sockets.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace byre::inline BYRE_ABI::system {
namespace {

constexpr std::size_t most_nbytes_of_numbers = most_descriptors * sizeof(int);

/// Room for the descriptors of a message, and for one more, so that a message with too many is
/// recognized.
struct alignas(::cmsghdr) Control {
  std::array<char, CMSG_SPACE(most_nbytes_of_numbers + sizeof(int))> bytes{};
};

/// Whether to repeat a call that failed: after a signal, or, in the middle of a message, when the
/// socket is ready again.
bool is_to_repeat(int socket, short event, bool is_begun) noexcept {
  if (errno == EINTR) {
    return true;
  }
  if (!is_begun || (errno != EAGAIN && errno != EWOULDBLOCK)) {
    return false;
  }
  ::pollfd ready{socket, event, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

/// False for sockets that keep messages apart.
bool is_stream(int socket) noexcept {
  int type = 0;
  ::socklen_t nbytes = sizeof type;
  return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &nbytes) == 0 && type == SOCK_STREAM;
}

/// Takes ownership of all descriptors that came with a message. Returns false if there are more
/// than `received` has room for.
bool take_descriptors(::msghdr& header, Received& received) noexcept {
  bool fits = true;
  for (::cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + index * sizeof(int), sizeof number);
      Descriptor descriptor(number);
      fits = fits && received.descriptor_count < most_descriptors;
      if (fits) {
        received.descriptors[received.descriptor_count++] = std::move(descriptor);
      }
    }
  }
  return fits;
}

}  // namespace

Transfer send_message(int socket, std::span<const std::byte> message,
                      std::span<const int> descriptors) noexcept {
  Control control;
  std::size_t sent = 0;
  while (sent < message.size()) {
    ::iovec bytes{const_cast<std::byte*>(message.data()) + sent, message.size() - sent};
    ::msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    if (sent == 0 && !descriptors.empty()) {
      header.msg_control = control.bytes.data();
      header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      ::cmsghdr* const part = CMSG_FIRSTHDR(&header);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    const ::ssize_t count = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (!is_to_repeat(socket, POLLOUT, sent != 0)) {
      return Transfer::failed;
    }
  }
  return Transfer::done;
}

Descriptor duplicate_of(int descriptor) noexcept {
  return Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
}

Transfer receive_message(int socket, std::span<std::byte> message, Received& received) noexcept {
  Control control;
  while (received.nbytes < message.size()) {
    ::iovec bytes{message.data() + received.nbytes, message.size() - received.nbytes};
    ::msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes.data();
    header.msg_controllen = control.bytes.size();
    const ::ssize_t count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    if (count < 0) {
      if (!is_to_repeat(socket, POLLIN, received.nbytes != 0)) {
        return Transfer::failed;
      }
      continue;
    }
    const bool fits = take_descriptors(header, received);
    if (!fits || (header.msg_flags & MSG_CTRUNC) != 0) {
      return Transfer::too_few;
    }
    received.nbytes += static_cast<std::size_t>(count);
    if (received.nbytes < message.size() && (count == 0 || !is_stream(socket))) {
      return Transfer::ended;
    }
  }
  return Transfer::done;
}

}  // namespace byre::inline BYRE_ABI::system
