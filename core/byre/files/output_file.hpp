// SPDX-License-Identifier: BSL-1.0
/// OutputFile: writes a file atomically. The file appears under its name complete or not at all,
/// even after a power failure.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/system/detail/replaced_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace byre::inline BYRE_ABI {

/// Data is written to a temporary file, `.byre-PROCESS-NUMBER.part` in the same folder, and
/// commit() renames it. Readers open either the old file or the new one; existing mappings of the
/// old file remain valid. An object is for one thread at a time. Cost: each write() makes a system
/// call, and commit() waits for the disk.
///
/// - Symbolic links are followed, even to a file that does not exist yet.
/// - The new file takes the permissions of the file that it replaces. It also takes the owner and
///   the group if the process may change them. Otherwise the process is the owner, and if it may
///   not set the group either, the group gets the permissions of others. Other hard links continue
///   to lead to the old file, because writing it in place would change it under its readers and
///   mappings. Access control lists and extended attributes are those of new files in the folder.
/// - A device, a named pipe, and an open file of this process (such as /dev/stdout) are written in
///   place, starting with the first write(). As for any writer, the system sends SIGPIPE if a pipe
///   has no reader, and SIGXFSZ at the limit of file sizes. If the program ignores these signals,
///   the call throws FileError.
/// - If other code in the process closes the descriptors of this object, write() and commit() throw
///   FileError. They never write to another file that has received the same descriptor number.
class BYRE_API OutputFile {
 public:
  /// Opens the file and creates the temporary file. Opening a named pipe waits for a reader. Throws
  /// FileError if the file cannot be written, or if the temporary file cannot be created in its
  /// folder. Throws OutOfMemory if memory is exhausted.
  explicit OutputFile(FileName name);
  /// Unless commit() renamed the temporary file, removes it. Data that was written in place
  /// remains. If the temporary file cannot be removed, issues a warning that names it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends `nbytes` bytes. Throws FileError if the system cannot write them, or OutOfMemory.
  /// After an error, the object can only be destroyed.
  void write(const void* data, std::size_t nbytes);

  /// Writes `nbytes` bytes at `offset`. Several threads may call it at once, for ranges that do not
  /// overlap. Afterwards write() must not be called. Bytes that are never written are 0. Throws
  /// FileError if the system cannot write them, or if the file is written in place. After an error,
  /// the object can only be destroyed.
  void write_at(std::uint64_t offset, const void* data, std::size_t nbytes) const;

  /// Gives the new file its name, and replaces the old file. After commit() returns, the new file
  /// survives a power failure, provided that fsync() of the system is reliable. After a power
  /// failure during commit(), either the old or the new file exists. Data that was written in place
  /// is not flushed to disk. Throws FileError if the system reports an error, or OutOfMemory. The
  /// old file then still exists, unless only flushing the new name failed. In that case the new
  /// file exists, and the text of the error states that.
  void commit();

 private:
  void discard() noexcept;
  void throw_if_failed(std::error_code error);
  [[noreturn]] void throw_error(std::error_code error);
  [[noreturn]] void throw_text(std::error_code error, bool is_changed) const;

  std::string name_;  // for messages
  system::ReplacedFile file_;
};

}  // namespace byre::inline BYRE_ABI
