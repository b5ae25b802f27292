// SPDX-License-Identifier: BSL-1.0
// Memory, buffers, storages, tiled buffers, and files that are written.
#include <byre/byre.hpp>
#include <byre/files/output_file.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>

#include <array>
#include <cstring>
#include <memory_resource>

#include "../storage/tiles/tiles.hpp"
#include "rows.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace core_rows {

/// An allocator of one block, which operator new allows.
class Resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t, std::size_t) override {
    ::operator delete(::operator new(1));  // a new-expression may be left out
    return memory_.data();
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  alignas(data_alignment) std::array<std::byte, 4096> memory_{};
};
struct Pmr {
  Resource resource;
  PmrAllocator allocator{resource};
  const std::byte bytes[64] = {};
};
std::string described(const Pmr&) {
  return "";
}
constexpr auto pmr = [] { return Pmr(); };

/// A buffer or storage of 100 bytes, and an empty one.
template <class Held>
struct Bytes {
  Held held = Held::allocate(100);
  Held other;
};
template <class Held>
std::string described(const Bytes<Held>& bytes) {
  const auto describe = [](const Held& held) {
    return std::to_string(held.nbytes()) + explain(held);
  };
  return describe(bytes.held) + describe(bytes.other);
}

/// A row of what `Function`, which captures nothing, makes of a buffer or storage of 100 bytes.
template <class Held, class Function>
Row of_bytes(const char* name, Function) {
  static_assert(std::is_empty_v<Function>, "a lambda that captures nothing");
  return of(
      name, [] { return Bytes<Held>(); },
      [](Bytes<Held>& bytes) { bytes.other = Function()(bytes.held); });
}

template <class Held>
Held written_clone(Held& held) {
  Held clone = held.lazy_clone();
  clone.mutable_data()[0] = std::byte{1};
  return clone;
}

/// A row of a buffer or storage that shrinks to fit.
template <class Held>
Row of_shrinking(const char* name) {
  return of(
      name,
      [] {
        Bytes<Held> bytes{.held = Held::allocate(1000), .other = Held()};
        bytes.held.resize(8);
        return bytes;
      },
      [](Bytes<Held>& bytes) { bytes.held.shrink_to_fit(); });
}

char lent[100];

template <class Held>
void map_file(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place";
  write_file(path, "bytes");
  Bytes<Held> bytes;
  attempt([&] { bytes.other = Held::map_file(path); }, [&] { return described(bytes); });
}

// Where there is no memory for pages, or for an overlay, ordinary memory does.

template <class Held>
Held pages() {
  Held held = Held::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(held.mutable_data(), "abc", 3);
  return held;
}

/// What owns or shows pages.
template <class Held, std::size_t count>
struct OfPages {
  std::array<Held, count> all;
};
template <class Held, std::size_t count>
std::string described(const OfPages<Held, count>& of) {
  std::string text;
  for (const Held& held : of.all) {
    text += held.data() == nullptr ? "none"
                                   : std::string(reinterpret_cast<const char*>(held.data()), 3) +
                                         std::to_string(held.nbytes());
  }
  return text;
}
template <class Held>
constexpr auto pages_and_none = [] {
  return OfPages<Held, 2>{{pages<Held>(), Held()}};
};
template <class Held>
constexpr auto shared_pages = [] {
  const Held held = pages<Held>();
  return OfPages<Held, 2>{{held.lazy_clone(), held.lazy_clone()}};
};
constexpr auto overlay_and_clone = [] {
  const Buffer buffer = pages<Buffer>();
  Buffer overlay = buffer;
  overlay.mutable_data()[0] = std::byte{'d'};
  return OfPages<Buffer, 3>{{buffer, overlay, overlay}};
};
/// Where a new file has to be had.
constexpr auto written_pages = [] {
  Buffer buffer = pages<Buffer>();
  Buffer first = buffer.writable_clone();
  std::memset(buffer.mutable_data(), 'a', least_paged_nbytes);
  return OfPages<Buffer, 3>{{std::move(buffer), Buffer(), std::move(first)}};
};
template <class Held>
constexpr auto clone_writably = [](auto& of) { of.all[1] = of.all[0].writable_clone(); };

void write_file_of_format(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place";
  attempt(
      [&] {
        OutputFile file(path);
        file.write("bytes", 5);
        file.commit();
      },
      [&] {
        std::string names;
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
          names += file.path().filename().string() + " of " + read_file(file.path());
        }
        return names;
      });
}

/// A row: `Step` changes one of two tiled buffers that share all tiles, in a table of some levels.
template <class Step>
Row of_tiles(const char* name, Step) {
  static_assert(std::is_empty_v<Step>, "a lambda that captures nothing");
  return {name,
          [](Attempt& attempt) {
            auto tiled = tiled_of<NarrowTiles>("aaaabbbbccccddddeeeeffff");
            const NarrowTiles clone = tiled;
            attempt([&] { Step()(tiled); }, [&] { return text_of(tiled) + text_of(clone); });
          },
          true};  // nodes that were copied stay
}

const Row rows[] = {
    of("PmrAllocator::allocate", pmr,
       [](Pmr& p) {
         p.allocator.deallocate(p.allocator.allocate({64, 64}));
       }),
    of("Allocator::allocate_copy", pmr,
       [](Pmr& p) {
         p.allocator.deallocate(p.allocator.allocate_copy({64, 64}, p.bytes, 64));
       }),
    of("Allocator::submit_copy", pmr,  // the default, of an allocator that copies at once
       [](Pmr& p) {
         PendingCopy none;
         p.allocator.deallocate(p.allocator.submit_copy({64, 64}, p.bytes, 64, none));
       }),
    of_bytes<Buffer>("Buffer::allocate", [](Buffer&) { return Buffer::allocate(50); }),
    of_bytes<Buffer>("Buffer::adopt",
                     [](Buffer&) { return Buffer::adopt(lent, sizeof lent, [](void*) {}); }),
    of_bytes<Buffer>("Buffer::borrow", [](Buffer&) { return Buffer::borrow(lent, sizeof lent); }),
    {"Buffer::map_file", map_file<Buffer>},
    of_bytes<Buffer>("Buffer::lazy_clone", [](Buffer& b) { return b.lazy_clone(); }),
    of_bytes<Buffer>("Buffer::lazy_clone",
                     [](Buffer&) { return Buffer::borrow(lent, sizeof lent).lazy_clone(); }),
    of_bytes<Buffer>("Buffer::mutable_data", [](Buffer& b) { return written_clone(b); }),
    of("Buffer::allocate", pages_and_none<Buffer>, [](auto& of) { of.all[1] = pages<Buffer>(); }),
    of("Buffer::mutable_range", shared_pages<Buffer>,
       [](auto& of) { of.all[1].mutable_range(1, 1)[0] = std::byte{'d'}; }),
    of("Buffer::mutable_data", overlay_and_clone,
       [](auto& of) { of.all[2].mutable_data()[2] = std::byte{'e'}; }),
    of_bytes<Buffer>("Buffer::writable_clone", [](Buffer& b) { return b.writable_clone(); }),
    keeping_memory(of("Buffer::writable_clone", pages_and_none<Buffer>, clone_writably<Buffer>)),
    keeping_memory(of("Buffer::writable_clone", written_pages, clone_writably<Buffer>)),
    of_bytes<Buffer>("Buffer::resize", [](Buffer& b) { return b.resize(200), Buffer(); }),
    of_shrinking<Buffer>("Buffer::shrink_to_fit"),
    of_bytes<Storage>("Storage::Storage", [](Storage&) { return Storage(Buffer::allocate(50)); }),
    of_bytes<Storage>("Storage::allocate", [](Storage&) { return Storage::allocate(50); }),
    {"Storage::map_file", map_file<Storage>},
    of_bytes<Storage>("Storage::lazy_clone", [](Storage& s) { return s.lazy_clone(); }),
    of_bytes<Storage>("Storage::writable_clone", [](Storage& s) { return s.writable_clone(); }),
    keeping_memory(of("Storage::writable_clone", pages_and_none<Storage>, clone_writably<Storage>)),
    of_bytes<Storage>("Storage::mutable_data", [](Storage& s) { return written_clone(s); }),
    of_bytes<Storage>("Storage::mutable_data_in_parallel",
                      [](Storage& s) {
                        Storage clone = s.lazy_clone();
                        clone.mutable_data_in_parallel()[0] = std::byte{1};
                        return clone;
                      }),
    of("Storage::mutable_range_in_parallel", shared_pages<Storage>,
       [](auto& of) { of.all[1].mutable_range_in_parallel(1, 1)[0] = std::byte{'d'}; }),
    of_bytes<Storage>("Storage::resize", [](Storage& s) { return s.resize(200), Storage(); }),
    of_shrinking<Storage>("Storage::shrink_to_fit"),
    of_nothing("explain", [] { return explain(Buffer::allocate(100)); }),
    of_nothing("explain", [] { return explain(Storage::allocate(100)); }),

    {"OutputFile::OutputFile", write_file_of_format},
    {"OutputFile::write", write_file_of_format},
    {"OutputFile::commit", write_file_of_format},

    of_tiles("TiledBuffer::TiledBuffer",
             [](NarrowTiles& tiled) {
               NarrowTiles made(9, default_allocator(), 4);
               made.write(0, bytes_of("012345678"));
               tiled = std::move(made);
             }),
    of_tiles("TiledBuffer::mutable_tile", [](NarrowTiles& tiled) { put(tiled, 3, 'x'); }),
    of_tiles("TiledBuffer::write", [](NarrowTiles& tiled) { tiled.write(6, bytes_of("0123456")); }),
    of_tiles("TiledBuffer::append",
             [](NarrowTiles& tiled) { tiled.append(bytes_of("0123456789012345678901234567890")); }),
    of_tiles("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(17); }),
    of_tiles("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(3); }),
    of_tiles("TiledBuffer::resize", [](NarrowTiles& tiled) { tiled.resize(13); }),
};

}  // namespace core_rows

std::span<const Row> rows_of_core() {
  return core_rows::rows;
}

}  // namespace byre::test
