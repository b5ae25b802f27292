// SPDX-License-Identifier: BSL-1.0
/// A memory file that is written once, and then only read by other processes.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::detail {

class ConstantFile {
 public:
  /// A file of `nbytes` bytes, which is mapped, with memory for all of its pages. Throws
  /// OutOfMemory or TransferError.
  explicit ConstantFile(std::size_t nbytes);
  ConstantFile(const ConstantFile&) = delete;
  ConstantFile& operator=(const ConstantFile&) = delete;
  ~ConstantFile();

  std::byte* data() const noexcept { return data_; }
  /// The size of the file: `nbytes`, rounded up to whole pages.
  std::size_t nbytes() const noexcept { return nbytes_; }

  /// Unmaps and seals the file. Returns its descriptor for other processes. Throws TransferError.
  Descriptor finish();

 private:
  void unmap() noexcept;

  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t nbytes_;
};

/// Throws OutOfMemory or TransferError, by the last error of the system. `operation` is "export",
/// "import", "send" or "receive".
[[noreturn]] void throw_transfer_error(const char* operation, const char* step);

}  // namespace byre::inline BYRE_ABI::detail
