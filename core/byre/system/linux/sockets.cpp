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

constexpr int pidfd_type = 0x04;  // SCM_PIDFD; older headers lack it

/// Room for more descriptors than a message may have, and for messages that the user requested from
/// the system, such as credentials.
struct alignas(::cmsghdr) Control {
  std::array<char, 512> bytes{};
};

/// Whether to repeat a receive that failed: after a signal, or, in the middle of a message, when
/// the socket is ready again.
bool is_to_repeat(int socket, bool is_begun) noexcept {
  if (errno == EINTR) {
    return true;
  }
  if (!is_begun || errno != EAGAIN) {
    return false;
  }
  ::pollfd ready{socket, POLLIN, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

/// The value of an option of a socket, or -1.
int option_of(int socket, int option) noexcept {
  int value = -1;
  ::socklen_t nbytes = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &nbytes) == 0 ? value : -1;
}

/// Takes ownership of all descriptors that came with a message, and closes the descriptor of the
/// sender's process (SO_PASSPIDFD, Linux 6.5). Returns false if there are more than `received` has
/// room for.
bool take_descriptors(::msghdr& header, Received& received) noexcept {
  bool fits = true;
  for (::cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(&header, part)) {
    const bool is_process = part->cmsg_type == pidfd_type;
    if (part->cmsg_level != SOL_SOCKET || !(is_process || part->cmsg_type == SCM_RIGHTS)) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + index * sizeof(int), sizeof number);
      Descriptor descriptor(number);
      if (is_process) {
        continue;
      }
      if (received.descriptor_count == most_descriptors) {
        fits = false;
      } else {
        received.descriptors[received.descriptor_count++] = std::move(descriptor);
      }
    }
  }
  return fits;
}

}  // namespace

Transfer send_message(int socket, std::span<const std::byte> message,
                      std::span<const int> descriptors) noexcept {
  const int domain = option_of(socket, SO_DOMAIN);
  if (domain != AF_UNIX) {  // other sockets would send the bytes without the descriptors
    errno = domain == -1 ? errno : EAFNOSUPPORT;
    return Transfer::failed;
  }
  Control control;
  ::iovec bytes{const_cast<std::byte*>(message.data()), message.size()};
  ::msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    ::cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    const ::ssize_t sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent >= 0 || errno != EINTR) {
      // The system sends a message of this size as a whole.
      return sent == static_cast<::ssize_t>(message.size()) ? Transfer::done : Transfer::failed;
    }
  }
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
      if (!is_to_repeat(socket, received.nbytes != 0)) {
        return Transfer::failed;
      }
      continue;
    }
    const bool fits = take_descriptors(header, received);
    if (!fits || (header.msg_flags & MSG_CTRUNC) != 0) {
      return Transfer::lost_descriptors;
    }
    received.nbytes += static_cast<std::size_t>(count);
    if (received.nbytes < message.size() &&
        (count == 0 || option_of(socket, SO_TYPE) != SOCK_STREAM)) {
      return Transfer::ended;
    }
  }
  return Transfer::done;
}

}  // namespace byre::inline BYRE_ABI::system
