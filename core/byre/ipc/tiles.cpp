// SPDX-License-Identifier: BSL-1.0
/// A TiledBuffer in another process: its tiles are parts of one file. A write to a tile copies it.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace byre::inline BYRE_ABI {
namespace detail {

struct ImportedTiles {
  static TiledBuffer over(const Imported& imported) try {
    TilesInFile tiles(0, 1);
    std::memcpy(&tiles, imported.message.details.data(), sizeof tiles);
    const std::uint64_t nbytes = tiles.nbytes;
    if (imported.message.details_nbytes != sizeof tiles || tiles.tile_nbytes == 0 ||
        tiles.tile_nbytes > max_nbytes || nbytes > imported.message.nbytes ||
        tiles.file_nbytes() != imported.message.nbytes) {
      throw TransferError(
          format_text("cannot import data: the sizes of its tiles do not fit its size. Export it "
                      "again, by this version of byre on this machine."));
    }
    TiledBuffer made(0, default_allocator(), static_cast<std::size_t>(tiles.tile_nbytes));
    const auto file = std::make_shared<const Buffer>(imported.buffer);
    for (std::size_t index = 0; index < tiles.count(); ++index) {
      const std::byte* const data = file->data() + tiles.offset_of(index);
      auto tile = Buffer::adopt_read_only(data, made.tile_nbytes(), [file](void*) {});
      made.tree_.mutable_tile(index, Wait::never, CallSite{}) = std::move(tile);
    }
    made.nbytes_ = static_cast<std::size_t>(nbytes);
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
