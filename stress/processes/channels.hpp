// SPDX-License-Identifier: BSL-1.0
/// The channels between the supervisor and its workers, all inherited by fork and exec: mailboxes,
/// in which workers send data to each other, and pipes.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/system/detail/sockets.hpp>

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "values.hpp"

namespace byre::stress::processes {

enum class Step : std::uint8_t {
  allocate_paged,
  allocate_ordinary,
  clone,
  write,
  send,
  send_packet,
  receive,
  keep_export,
  import_kept,
  drop,
  collect,
  fork,
  exec,
  exit,
  verify_all,   ///< a survivor checks all values, and gives up what other processes have
  verify_last,  ///< a survivor checks that nothing is left of other processes
  none,         ///< before the first step
};
inline constexpr std::size_t step_count = static_cast<std::size_t>(Step::none) + 1;
const char* name_of(Step step) noexcept;

/// A message of a process to the supervisor. The system writes it to a pipe in one piece.
struct Record {
  enum class Kind : std::uint8_t {
    step,     ///< `process` begins `step`, after `done` had an effect
    between,  ///< `process` is about to fork a worker and to exit
    started,  ///< `process` is a new worker
  };

  pid_t process = 0;
  Kind kind = Kind::step;
  Step step = Step::none;
  Step done = Step::none;
};

/// A descriptor that the next program inherits too.
int inheritable(int descriptor);

/// A pair of non-blocking sockets that keep messages apart. A process that is killed leaves no part
/// of a message.
using Mailbox = std::array<int, 2>;

struct Channels {
  static constexpr std::size_t mailbox_count = 2;

  std::array<Mailbox, mailbox_count> mailboxes{};
  int permits = -1;                  ///< has a byte for each process that may be started
  int records = -1;                  ///< the write end of the pipe of records
  int stop = -1;                     ///< ends when the workers are to verify all values
  int finish = -1;                   ///< ends when only survivors are left, and no mailbox
  std::size_t descriptor_count = 0;  ///< of a worker that has no data

  /// For the command line of a worker.
  std::string text() const;
  static Channels from(const std::string& text);

  void close_mailboxes() const noexcept;
  /// Ends the process if the supervisor has ended.
  void tell(const Record& record) const noexcept;
};

/// A message in a mailbox. It tells the contents of the data when it was sent.
struct Packet {
  Contents contents;
  Kind kind;
  bool has_socket;  ///< byre::send() has sent the data to the socket that comes with this message
  /// Otherwise the data comes with this message.
  std::array<std::byte, ExportedPages::message_nbytes> exported;
};

/// Both return false if the mailbox is full.
bool send_by_socket(int mailbox, const Value& value);
bool send_packet(int mailbox, const Value& value);

/// Fails with EAGAIN if the mailbox is empty.
system::Transfer receive(int mailbox, Packet& packet, system::Received& received) noexcept;
/// Returns nothing if the mailbox is empty.
std::optional<Value> receive_value(int mailbox);

}  // namespace byre::stress::processes
