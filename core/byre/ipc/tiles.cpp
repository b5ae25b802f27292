// SPDX-License-Identifier: BSL-1.0
/// A TiledBuffer of another process: its tiles are parts of one file. A write to a tile copies it.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace byre::inline BYRE_ABI {
namespace detail {

struct ImportedTiles {
  static TiledBuffer over(const Imported& imported) try {
    TilesInFile tiles;
    tiles.nbytes = imported.message.nbytes;
    std::memcpy(&tiles.tile_nbytes, imported.message.details.data(), sizeof tiles.tile_nbytes);
    if (tiles.tile_nbytes == 0 || tiles.tile_nbytes > max_nbytes ||
        tiles.count() > imported.message.file_nbytes / tiles.stride()) {
      const Text why = format_text("tiles of %ju bytes do not fit its file",
                                   static_cast<std::uintmax_t>(tiles.tile_nbytes));
      throw_invalid(why.chars.data());
    }
    TiledBuffer made(0, default_allocator(), static_cast<std::size_t>(tiles.tile_nbytes));
    const auto file = std::make_shared<const Buffer>(imported.buffer);
    for (std::size_t index = 0; index < tiles.count(); ++index) {
      const std::byte* const data = file->data() + index * tiles.stride();
      auto tile = Buffer::adopt_read_only(data, made.tile_nbytes(), [file](void*) {});
      made.tree_.mutable_tile(index, Wait::never, CallSite{}) = std::move(tile);
    }
    made.nbytes_ = static_cast<std::size_t>(tiles.nbytes);
    return made;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap("importing tiles");
  }
};

}  // namespace detail

template <>
TiledBuffer import_pages<TiledBuffer>(std::span<const std::byte> message,
                                      std::span<const int> descriptors, Accept accept) {
  return detail::ImportedTiles::over(
      detail::Transfers::import(message, descriptors, detail::DataKind::tiles, accept));
}

template <>
TiledBuffer receive<TiledBuffer>(int socket, Accept accept) {
  return detail::ImportedTiles::over(
      detail::Transfers::receive(socket, detail::DataKind::tiles, accept));
}

}  // namespace byre::inline BYRE_ABI
