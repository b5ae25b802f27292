// SPDX-License-Identifier: BSL-1.0
/// A file descriptor that the library owns. Its number is never 0, 1 or 2: a program may start with its standard
/// streams closed, and its output would then go to the library's file. The number is also checked before each
/// use: code elsewhere may close every descriptor of the process and open a file that gets the same number.
#pragma once

#include <byre/config.hpp>

#if defined(__unix__) || defined(__APPLE__)

#include <sys/types.h>

namespace byre::inline v0::detail {

/// A file itself, under any of its names.
struct FileIdentity {
  ::dev_t device = 0;
  ::ino_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Thread-safety: as an int. Nothing throws. After a failure errno says why.
class BYRE_API Descriptor {
 public:
  Descriptor() noexcept = default;
  /// Takes over what open() returned: nothing if that is negative. A number below 3 is exchanged for another,
  /// which closes on exec; if none can be had, the descriptor is closed.
  explicit Descriptor(int number) noexcept;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  /// Whether there is a file, which another part of the program may have closed.
  explicit operator bool() const noexcept { return number_ >= 0; }

  /// The number if it still belongs to the file that it was opened for, or else -1 with errno EBADF.
  int number() const noexcept;

  /// The file that it was opened for, which may be closed by now.
  const FileIdentity& identity() const noexcept { return identity_; }

  /// Closes the file, unless the number belongs to another by now. False if the system reports an error.
  bool close() noexcept;

 private:
  int number_ = -1;
  FileIdentity identity_;
};

}  // namespace byre::inline v0::detail

#endif
