// SPDX-License-Identifier: BSL-1.0
#include "processes/channels.hpp"

#include <byre/ipc/send.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <sstream>
#include <system_error>

#include "support/socket_pair.hpp"

namespace byre::stress::processes {
namespace {

[[noreturn]] void throw_last_error(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

bool send(int mailbox, const Packet& packet, std::span<const int> descriptors) {
  if (system::send_message(mailbox, std::as_bytes(std::span(&packet, 1)), descriptors) ==
      system::Transfer::done) {
    return true;
  }
  if (errno != EAGAIN) {
    throw_last_error("sendmsg");
  }
  return false;
}

}  // namespace

const char* name_of(Step step) noexcept {
  constexpr const char* names[] = {
      "allocate_paged", "allocate_ordinary", "clone", "write",   "send", "send_packet", "receive",
      "keep_export",    "import_kept",       "drop",  "collect", "fork", "exec",        "exit",
      "verify_all",     "verify_last",       "none"};
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

bool send_by_socket(int mailbox, const Value& value) {
  const test::SocketPair sockets(SOCK_SEQPACKET);
  std::visit([&](const auto& data) { byre::send(sockets[0], data); }, value.data());
  const int socket = sockets[1];
  return send(mailbox, {value.contents(), value.kind(), true, {}}, std::span(&socket, 1));
}

bool send_packet(int mailbox, const Value& value) {
  const ExportedPages exported = value.exported();
  Packet packet{value.contents(), value.kind(), false, {}};
  std::ranges::copy(exported.message(), packet.exported.begin());
  return send(mailbox, packet, exported.descriptors());
}

system::Transfer receive(int mailbox, Packet& packet, system::Received& received) noexcept {
  return system::receive_message(mailbox, std::as_writable_bytes(std::span(&packet, 1)), received);
}

std::optional<Value> receive_value(int mailbox) {
  Packet packet;
  system::Received received;
  const system::Transfer result = receive(mailbox, packet, received);
  if (result == system::Transfer::failed && errno == EAGAIN) {
    return std::nullopt;
  }
  if (result != system::Transfer::done) {
    throw_last_error("recvmsg");
  }
  int numbers[system::most_descriptors];
  for (std::size_t index = 0; index < received.descriptor_count; ++index) {
    numbers[index] = received.descriptors[index].number();
  }
  return packet.has_socket
             ? Value(Value::received(packet.kind, numbers[0]), packet.contents)
             : Value(Value::imported(packet.kind, packet.exported,
                                     std::span(numbers).first(received.descriptor_count)),
                     packet.contents);
}

}  // namespace byre::stress::processes
