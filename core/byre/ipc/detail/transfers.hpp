// SPDX-License-Identifier: BSL-1.0
/// The message that describes exported data, and the steps that all types of data share.
#pragma once

#include <byre/ipc/exported_pages.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace byre::inline BYRE_ABI::detail {

enum class DataKind : std::uint32_t { buffer = 1, storage, tiles, tensor };

/// In the byte order of the machine. Its fields do not change between versions; a version that
/// needs other fields has another number.
struct TransferMessage {
  static constexpr std::array<char, 8> magic_of_byre = {'b', 'y', 'r', 'e', 'd', 'a', 't', 'a'};
  static constexpr std::uint32_t this_version = 1;

  std::array<char, 8> magic = magic_of_byre;
  std::uint32_t version = this_version;
  DataKind kind = DataKind::buffer;
  std::uint64_t nbytes = 0;        ///< of the data
  std::uint64_t file_nbytes = 0;   ///< of the first file, to map; 0: no file
  std::uint64_t patch_nbytes = 0;  ///< of the second file; 0: no such file
  std::uint32_t details_nbytes = 0;
  std::uint32_t unused = 0;
  std::array<std::byte, 2000> details{};  ///< what the kind of data needs
};
static_assert(sizeof(TransferMessage) == ExportedPages::message_nbytes);

/// Tiles in a file: each begins at a multiple of data_alignment.
struct TilesInFile {
  constexpr TilesInFile(std::uint64_t of_all, std::uint64_t of_tile) noexcept
      : nbytes(of_all), tile_nbytes(of_tile) {}

  std::size_t stride() const noexcept {
    return static_cast<std::size_t>((tile_nbytes + data_alignment - 1) / data_alignment *
                                    data_alignment);
  }
  std::size_t count() const noexcept {
    return static_cast<std::size_t>(nbytes / tile_nbytes + (nbytes % tile_nbytes != 0 ? 1 : 0));
  }
  std::size_t offset_of(std::size_t index) const noexcept { return index * stride(); }
  std::size_t file_nbytes() const noexcept { return count() * stride(); }

  std::uint64_t nbytes;
  std::uint64_t tile_nbytes;
};

/// One of the runs of pages that were written in an exported overlay. The second file of a message
/// contains a PatchRun with the number of runs and the sum of their bytes, the runs, and from the
/// next page on the bytes of all runs.
struct PatchRun {
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
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

struct Transfers {
  using Copy = void (*)(const void* source, std::byte* destination);

  static ExportedPages pack(DataKind kind, std::size_t nbytes, ExportedFiles files,
                            std::span<const std::byte> details);

  // Throw the errors of export_pages().

  /// If `may_share` is false, copies.
  static ExportedPages export_buffer(const Buffer& data, DataKind kind,
                                     std::span<const std::byte> details, bool may_share,
                                     CallSite site);
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
