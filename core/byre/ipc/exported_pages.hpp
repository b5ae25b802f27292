// SPDX-License-Identifier: BSL-1.0
/// Lazy clones in other processes (Linux). A process exports data, sends the result over a Unix
/// socket (send.hpp) or over any channel that can pass descriptors, and another process imports a
/// lazy clone. Each process then reads what the data was at the export, writes pages of its own,
/// and never sees the writes of the other.
///
/// ```cpp
/// byre::Buffer weights = byre::Buffer::allocate(64 << 20, byre::paged_allocator());
/// weights.mutable_data()[0] = std::byte{1};
/// const byre::ExportedPages exported = byre::export_pages(weights);    // copies nothing
/// byre::Buffer clone = byre::import_pages(exported.message(), exported.descriptors());
/// weights.mutable_data()[0] = std::byte{2};                            // copies one page
/// assert(clone.data()[0] == std::byte{1});
/// ```
///
/// docs/processes.md describes the costs, and what a hostile process can do.
#pragma once

#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI {

/// Data could not be exported to, or imported from, another process: the system lacks the means,
/// the message is not one of this version of byre, or the process has too few descriptors.
class BYRE_API TransferError : public Error {
 public:
  using Error::Error;
};

namespace detail {
struct TransferMessage;
struct Transfers;
}  // namespace detail

/// Exported data: a message and up to two descriptors, which another process needs to import the
/// data, any number of times and at any time. The data may be written and destroyed meanwhile.
///
/// Until this object is destroyed, and all descriptors and all clones in other processes are gone,
/// a write to the data maps an overlay, as if a lazy clone existed in this process.
///
/// Thread-safety: as for a standard container. Members throw nothing.
class ExportedPages {
 public:
  static constexpr std::size_t message_nbytes = 2048;

  /// Afterwards `other` has no descriptors.
  ExportedPages(ExportedPages&& other) noexcept : ExportedPages() { *this = std::move(other); }
  ExportedPages& operator=(ExportedPages&& other) noexcept {
    files_ = std::move(other.files_);
    numbers_ = other.numbers_;
    count_ = std::exchange(other.count_, 0);
    nbytes_ = other.nbytes_;
    copied_nbytes_ = other.copied_nbytes_;
    message_ = other.message_;
    return *this;
  }

  /// The message, of message_nbytes bytes. It is valid on this machine only.
  std::span<const std::byte> message() const noexcept { return message_; }
  /// The descriptors, in the order in which the importer needs them. They belong to this object,
  /// and close on exec.
  std::span<const int> descriptors() const noexcept { return {numbers_.data(), count_}; }

  /// The size of the data in bytes.
  std::size_t nbytes() const noexcept { return nbytes_; }
  /// How many bytes the export copied: 0 if the data was in pages that other processes can map.
  std::size_t copied_nbytes() const noexcept { return copied_nbytes_; }

 private:
  friend struct detail::Transfers;
  ExportedPages() noexcept = default;

  /// Takes the nonempty descriptors.
  void take_files(std::span<detail::Descriptor> files) noexcept {
    for (detail::Descriptor& file : files) {
      if (file) {
        numbers_[count_] = file.number();
        files_[count_++] = std::move(file);
      }
    }
  }

  std::array<detail::Descriptor, 2> files_;
  std::array<int, 2> numbers_{};
  std::size_t count_ = 0;
  std::size_t nbytes_ = 0;
  std::size_t copied_nbytes_ = 0;
  std::array<std::byte, message_nbytes> message_{};
};

/// Exports data to other processes. Thread-safety: does not change the data, so other threads may
/// read and clone it at once.
///
/// Data in pages is not copied: data of at least least_paged_nbytes from paged_allocator(), mapped
/// files, and data that was imported itself. docs/processes.md lists the exceptions. Each export
/// copies other data once, to pages that only the importers have. Copies count as copies with
/// CopyCause::exported.
///
/// Throws TransferError if the system lacks the means or the process has no descriptor left,
/// InvalidArgument if the data is on a device, and OutOfMemory. Cost: system calls, and the copies.
BYRE_API ExportedPages export_pages(const Buffer& data, CallSite site = CallSite::current());
BYRE_API ExportedPages export_pages(const Storage& data, CallSite site = CallSite::current());
BYRE_API ExportedPages export_pages(const TiledBuffer& data, CallSite site = CallSite::current());

/// The files that an importer accepts.
enum class Accept : std::uint8_t {
  /// also a mapped file: a process that can truncate the file can end this process (SIGBUS), and a
  /// file system in user space can block its reads
  any_file,
  /// only memory files that no process can truncate
  sealed_files,
};

/// Imports data as Buffer, Storage, TiledBuffer or Tensor (interop/tensor_transfer.hpp), whichever
/// was exported. `message` and `descriptors` are those of the exporting process; the descriptors
/// are duplicated, and still belong to the caller.
///
/// The result is a lazy clone of the exported data. Its origin is Origin::mapped, or
/// Origin::overlay if the exporter had written pages in an overlay. A write maps an overlay, and
/// copies pages when they are written. The result takes one descriptor until it and its lazy clones
/// are destroyed. A process that exported the data can change the bytes of pages that were not
/// written here, if it does so without byre.
///
/// Throws TransferError if the message is not from this version of byre, if it describes another
/// type, if it does not fit the descriptors, or if `accept` does not allow the file, and
/// OutOfMemory. Cost: system calls; copies only pages that were written in an exported overlay.
template <class Data = Buffer>
Data import_pages(std::span<const std::byte> message, std::span<const int> descriptors,
                  Accept accept = Accept::any_file) = delete;
template <>
BYRE_API Buffer import_pages<Buffer>(std::span<const std::byte> message,
                                     std::span<const int> descriptors, Accept accept);
template <>
BYRE_API Storage import_pages<Storage>(std::span<const std::byte> message,
                                       std::span<const int> descriptors, Accept accept);
template <>
BYRE_API TiledBuffer import_pages<TiledBuffer>(std::span<const std::byte> message,
                                               std::span<const int> descriptors, Accept accept);

/// The numbers of exported data without a view (a descriptor, or a clone in another process), and
/// with one. Data that its owners dropped counts as ended.
struct ExportedViews {
  std::size_t ended = 0;
  std::size_t remaining = 0;
};

/// Notices the end of the views of all data that was exported from its own pages: other processes
/// destroyed their clones, or ended in any way. Afterwards an owner writes such data in place, and
/// data that only views had kept is released. A write to the data looks too.
///
/// `Wait::allowed` waits until the data that was exported before the call has no view. It holds no
/// lock and no data meanwhile. It returns earlier if the process has no descriptor left.
///
/// Thread-safe. Throws nothing. Cost: three system calls for each exported data.
BYRE_API ExportedViews collect(Wait wait = Wait::never) noexcept;

}  // namespace byre::inline BYRE_ABI
