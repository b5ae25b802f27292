// SPDX-License-Identifier: BSL-1.0
/// Descriptor: a file descriptor (on Windows, a handle) that the library owns. Its number is never
/// 0, 1 or 2: in a program that starts with closed standard streams, output would otherwise go to
/// the file of the library. The number is checked before each use, because other code may close
/// every descriptor of the process, and then open a file that gets the number.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// Identifies a file, independent of its names.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Thread-safety: that of an int. Throws nothing. After a failure, errno contains the reason.
class BYRE_API Descriptor {
 public:
  Descriptor() noexcept = default;
  /// Takes ownership of the result of open(), which may be negative. A number below 3 is replaced
  /// by a duplicate with a higher number that closes on exec; if that fails, the object is empty.
  explicit Descriptor(int number) noexcept;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  /// Whether the object owns a file. Other code may have closed that file.
  explicit operator bool() const noexcept { return number_ >= 0; }

  /// The number, or -1 with errno EBADF if the number no longer belongs to the file for which it
  /// was opened.
  int number() const noexcept;

  /// The file for which the descriptor was opened. The descriptor may be closed by now.
  const FileIdentity& identity() const noexcept { return identity_; }

  /// Closes the file, unless the number belongs to another file by now. Returns false if the system
  /// reports an error.
  bool close() noexcept;

 private:
  int number_ = -1;
  FileIdentity identity_;
};

}  // namespace byre::inline BYRE_ABI::detail
