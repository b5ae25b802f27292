// SPDX-License-Identifier: BSL-1.0
#include "processes/channels.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <system_error>

namespace byre::stress::processes {
namespace {

/// The bytes of a packet.
struct PacketBytes {
  std::array<std::byte, ExportedPages::message_nbytes> message;
  Contents contents;
  Kind kind;
};

constexpr std::size_t most_descriptors = 2;

struct alignas(::cmsghdr) Control {
  std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> bytes{};
};

[[noreturn]] void throw_last_error(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

}  // namespace

const char* name_of(Step step) noexcept {
  constexpr const char* names[] = {"allocate_paged", "allocate_ordinary",
                                   "clone",          "write",
                                   "send",           "receive",
                                   "send_packet",    "receive_packet",
                                   "keep_export",    "import_kept",
                                   "drop",           "collect",
                                   "fork",           "exec",
                                   "exit",           "verify_all",
                                   "verify_last",    "none"};
  static_assert(std::size(names) == step_count);
  return names[static_cast<std::size_t>(step)];
}

int inheritable(int descriptor) {
  if (::fcntl(descriptor, F_SETFD, 0) != 0) {
    throw_last_error("fcntl");
  }
  return descriptor;
}

std::string Channels::text() const {
  std::ostringstream text;
  for (const Mailbox& mailbox : mailboxes) {
    text << mailbox[0] << ' ' << mailbox[1] << ' ';
  }
  text << permits << ' ' << records << ' ' << stop << ' ' << finish << ' ' << descriptor_count;
  return text.str();
}

Channels Channels::from(const std::string& text) {
  std::istringstream from(text);
  Channels channels;
  for (Mailbox& mailbox : channels.mailboxes) {
    from >> mailbox[0] >> mailbox[1];
  }
  from >> channels.permits >> channels.records >> channels.stop >> channels.finish >>
      channels.descriptor_count;
  return channels;
}

void Channels::close_mailboxes() const noexcept {
  for (const Mailbox& mailbox : mailboxes) {
    ::close(mailbox[0]);
    ::close(mailbox[1]);
  }
}

void Channels::tell(const Record& record) const noexcept {
  ssize_t written = -1;
  while ((written = ::write(records, &record, sizeof record)) < 0 && errno == EINTR) {
  }
  if (written != ssize_t{sizeof record}) {
    ::_exit(EXIT_SUCCESS);
  }
}

bool send_packet(int mailbox, const Packet& packet) {
  PacketBytes bytes{.message = {}, .contents = packet.contents, .kind = packet.kind};
  std::ranges::copy(packet.exported.message(), bytes.message.begin());
  const std::span<const int> numbers = packet.exported.descriptors();
  Control control;
  ::iovec part{&bytes, sizeof bytes};
  ::msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = CMSG_SPACE(numbers.size_bytes());
  ::cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(numbers.size_bytes());
  std::memcpy(CMSG_DATA(rights), numbers.data(), numbers.size_bytes());
  if (::sendmsg(mailbox, &header, MSG_NOSIGNAL) >= 0) {
    return true;
  }
  if (errno != EAGAIN) {
    throw_last_error("sendmsg");
  }
  return false;
}

std::optional<Value> receive_packet(int mailbox) {
  PacketBytes bytes;
  Control control;
  ::iovec part{&bytes, sizeof bytes};
  ::msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  const ssize_t received = ::recvmsg(mailbox, &header, MSG_CMSG_CLOEXEC);
  if (received < 0 && errno == EAGAIN) {
    return std::nullopt;
  }
  const ::cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (received != ssize_t{sizeof bytes} || rights == nullptr) {
    throw_last_error("recvmsg");
  }
  int numbers[most_descriptors];
  const auto count = static_cast<std::size_t>(rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  std::memcpy(numbers, CMSG_DATA(rights), count * sizeof(int));
  const std::span<const int> files = std::span(numbers).first(count);
  Value value(Value::imported(bytes.kind, bytes.message, files), bytes.contents);
  std::ranges::for_each(files, [](int file) { ::close(file); });
  return value;
}

std::size_t descriptor_count() {
  ::DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    throw_last_error("opendir /proc/self/fd");
  }
  std::size_t count = 0;
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count - 3;  // ".", ".." and the folder itself
}

std::size_t mapped_memory_files() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("memfd:") != line.npos ? 1U : 0U;
  }
  return count;
}

}  // namespace byre::stress::processes
