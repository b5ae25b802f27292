// SPDX-License-Identifier: BSL-1.0
/// The message that describes exported data, and the steps for all types of data.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/system/page_nbytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace byre::inline BYRE_ABI::detail {

/// `nbytes`, rounded up to whole pages.
constexpr std::uint64_t whole_pages(std::uint64_t nbytes) noexcept {
  return (nbytes + page_nbytes - 1) / page_nbytes * page_nbytes;
}

enum class DataKind : std::uint32_t { buffer = 1, storage, tiles, tensor };

/// In the byte order of the machine. Raise this_version with any change of a field.
struct TransferMessage {
  static constexpr std::array<char, 8> magic_of_byre = {'b', 'y', 'r', 'e', 'd', 'a', 't', 'a'};
  static constexpr std::uint32_t this_version = 1;

  std::array<char, 8> magic = magic_of_byre;
  std::uint32_t version = this_version;
  DataKind kind = DataKind::buffer;
  std::uint64_t nbytes = 0;        ///< of the data
  std::uint64_t file_nbytes = 0;   ///< of the first file, to map; 0: no file
  std::uint64_t patch_nbytes = 0;  ///< of the second file; 0: no such file
  /// The layout of the data, which depends on its kind.
  std::array<std::byte, 2008> details{};
};
static_assert(sizeof(TransferMessage) == ExportedPages::message_nbytes);

/// The places of tiles in a file, in which each tile is aligned.
struct TilesInFile {
  std::uint64_t nbytes = 0;  ///< of all tiles
  std::uint64_t tile_nbytes = 1;

  std::uint64_t stride() const noexcept {
    return (tile_nbytes + data_alignment - 1) / data_alignment * data_alignment;
  }
  std::uint64_t count() const noexcept {
    return nbytes / tile_nbytes + (nbytes % tile_nbytes != 0 ? 1 : 0);
  }
};

/// One of the runs of pages that were written in an exported overlay. The second file of a message
/// contains the number of runs, as a std::uint64_t, and the runs. The bytes of the runs follow from
/// the next page on.
struct PatchRun {
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;

  /// The bytes of the file before those of `count` runs.
  static constexpr std::uint64_t table_nbytes(std::uint64_t count) noexcept {
    return whole_pages(sizeof(std::uint64_t) + count * sizeof(PatchRun));
  }
};

struct ExportedFiles {
  Descriptor file;
  std::size_t file_nbytes = 0;
  Descriptor patch;
  std::size_t patch_nbytes = 0;
  std::size_t copied_nbytes = 0;
};

/// Data that was imported.
struct Imported {
  Buffer buffer;
  TransferMessage message;
};

/// Throws TransferError: the data cannot be imported, because of `why`.
[[noreturn]] BYRE_API void throw_invalid(const char* why);

struct Transfers {
  using Copy = void (*)(const void* source, std::byte* destination);

  static ExportedPages pack(DataKind kind, std::size_t nbytes, ExportedFiles files,
                            std::span<const std::byte> details);

  // Throw the errors of export_pages().

  /// If `may_share` is false, copies.
  static ExportedPages export_buffer(const Buffer& data, DataKind kind,
                                     std::span<const std::byte> details, bool may_share,
                                     CallSite site);
  /// Copies `nbytes` bytes of `allocator` by `copy` to a new file, where they take `file_nbytes`.
  BYRE_API static ExportedPages export_copy(DataKind kind, std::span<const std::byte> details,
                                            const Allocator& allocator, std::size_t nbytes,
                                            std::uint64_t file_nbytes, Copy copy,
                                            const void* source, CallSite site,
                                            const stats::detail::DataFacts& facts = {});
  BYRE_API static ExportedPages export_storage(const Storage& data, DataKind kind,
                                               std::span<const std::byte> details, CallSite site);

  static void send(int socket, const ExportedPages& exported);

  // Throw the errors of import_pages() and receive().

  /// Takes descriptors from `files`.
  static Imported import(std::span<const std::byte> message, std::span<Descriptor> files,
                         DataKind kind, Accept accept);
  BYRE_API static Imported import(std::span<const std::byte> message, std::span<const int> numbers,
                                  DataKind kind, Accept accept);
  static ExportedPages receive(int socket);
  BYRE_API static Imported receive(int socket, DataKind kind, Accept accept);
};

}  // namespace byre::inline BYRE_ABI::detail
