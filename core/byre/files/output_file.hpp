// SPDX-License-Identifier: BSL-1.0
/// OutputFile: a file that appears under its name complete or not at all, after a power failure too.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>
#include <string>

namespace byre::inline v0 {

/// What is written goes to a temporary file, `.byre-PROCESS-NUMBER.part` in the same folder, which commit()
/// renames: readers see the old file or the new one, and who mapped the old one keeps that. One thread.
///
/// - A symbolic link is followed, also to a file that is not there yet.
/// - A file that is replaced leaves its permissions to the new one, and its owner and group where the process
///   may give files away; else the new one is the process's own, and the group may do what others may. Its
///   other names, if it has hard links, keep the old file: to write that in place would change it for who
///   reads it, or mapped it. Access control lists and extended attributes are the folder's.
/// - A device, a named pipe, and whatever a descriptor of this process has open (/dev/stdout) are written in
///   place, from the first write() on. As for any writer, a pipe that nobody reads any more sends SIGPIPE, and
///   a limit on the sizes of files SIGXFSZ: who ignores these gets a FileError.
/// - If code elsewhere closes the descriptors of this process, write() and commit() throw FileError, and a file
///   that got their numbers is left alone.
class BYRE_API OutputFile {
 public:
  /// Throws FileError if the file cannot be written, or a temporary one cannot be made beside it,
  /// OutOfMemory. Opening a named pipe waits for a reader.
  explicit OutputFile(FileName name);
  /// Removes what was written, unless commit() was called; not what was written in place. If the temporary file
  /// cannot be removed, a warning names it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError, OutOfMemory.
  void write(const void* data, std::size_t nbytes);

  /// Gives the file its name, in place of one that has it. When it returns, the file survives a power
  /// failure, as far as the system's fsync says the truth; a failure before that leaves the old file or the new
  /// one. What is written in place is not flushed to a disk. Throws FileError: the old file is there still, or,
  /// if what failed is to flush the name, the new one, and the text says so.
  void commit();

 private:
  bool is_in_place() const noexcept { return !folder_; }
  void open(const char* name);
  void open_temporary();
  void reopen_folder() noexcept;
  int descriptor_for_writing();
  void discard() noexcept;
  [[noreturn]] void fail(int error);
  [[noreturn]] void fail(const char* why, const char* advice);

  std::string name_;       // for messages
  std::string base_name_;  // in the folder, of what links lead to
  std::string temporary_;
  std::string folder_name_;
  detail::Descriptor folder_;
  detail::Descriptor file_;
};

}  // namespace byre::inline v0
