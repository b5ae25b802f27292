// SPDX-License-Identifier: BSL-1.0
// Cases of memory, buffers, arrays, storages, tiled buffers, histories and output files.
#include <byre/byre.hpp>
#include <byre/files/output_file.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/history.hpp>
#include <byre/storage/tiles/atomic_tiles.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory_resource>
#include <optional>
#include <vector>

#include "../storage/text.hpp"
#include "../storage/tiles/tiles.hpp"
#include "cases.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace storage_table {

/// A memory resource that allocates successfully if operator new succeeds.
class Resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t, std::size_t) override {
    ::operator delete(::operator new(1));  // the compiler may omit a new-expression
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

/// A case: `Function`, a lambda without captures, makes a value from a buffer or storage of 100
/// bytes.
template <class Held, class Function>
Case bytes_case(const char* name, Function) {
  static_assert(std::is_empty_v<Function>, "a lambda that captures nothing");
  return value_case(
      name, [] { return Bytes<Held>(); },
      [](Bytes<Held>& bytes) { bytes.other = Function()(bytes.held); });
}

template <class Held>
Held written_clone(Held& held) {
  Held clone = held.lazy_clone();
  clone.mutable_data()[0] = std::byte{1};
  return clone;
}

/// A case: shrink_to_fit() of a buffer or storage.
template <class Held>
Case shrink_case(const char* name) {
  return value_case(
      name,
      [] {
        Bytes<Held> bytes{.held = Held::allocate(1000), .other = Held()};
        bytes.held.resize(8);
        return bytes;
      },
      [](Bytes<Held>& bytes) { bytes.held.shrink_to_fit(); });
}

/// An array, a lazy clone of it, and a vector.
struct Arrays {
  Array<int> array = {1, 2, 3};
  Array<int> clone = array;
  std::vector<int> vector = {4, 5};
};
std::string described(const Arrays& arrays) {
  std::string text = arrays.array.shares_data_with(arrays.clone) ? "shared" : "";
  for (const std::span<const int> elements :
       {std::span<const int>(arrays.array), std::span<const int>(arrays.clone),
        std::span<const int>(arrays.vector)}) {
    for (const int element : elements) {
      text += std::to_string(element) + ",";
    }
    text += ";";
  }
  return text;
}

/// A case: `Step` changes an array.
template <class Step>
Case array_case(const char* name, Step) {
  static_assert(std::is_empty_v<Step>, "a lambda that captures nothing");
  return value_case(
      name, [] { return Arrays(); }, [](Arrays& arrays) { Step()(arrays); });
}

char foreign_bytes[100];

template <class Held>
void map_file(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that exceeds the inline capacity of strings";
  write_file(path, "bytes");
  Bytes<Held> bytes;
  attempt([&] { bytes.other = Held::map_file(path); }, [&] { return described(bytes); });
}

// If there is no memory for pages or an overlay, ordinary memory is used.

template <class Held>
Held pages() {
  Held held = Held::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(held.mutable_data(), "abc", 3);
  return held;
}

/// Buffers or storages in pages.
template <class Held, std::size_t count>
struct PagedValues {
  std::array<Held, count> all;
};
template <class Held, std::size_t count>
std::string described(const PagedValues<Held, count>& values) {
  std::string text;
  for (const Held& held : values.all) {
    text += held.data() == nullptr ? "none"
                                   : std::string(reinterpret_cast<const char*>(held.data()), 3) +
                                         std::to_string(held.nbytes());
  }
  return text;
}
template <class Held>
constexpr auto pages_and_none = [] {
  return PagedValues<Held, 2>{{pages<Held>(), Held()}};
};
template <class Held>
constexpr auto shared_pages = [] {
  const Held held = pages<Held>();
  return PagedValues<Held, 2>{{held.lazy_clone(), held.lazy_clone()}};
};
constexpr auto overlay_and_clone = [] {
  const Buffer buffer = pages<Buffer>();
  Buffer overlay = buffer;
  overlay.mutable_data()[0] = std::byte{'d'};
  return PagedValues<Buffer, 3>{{buffer, overlay, overlay}};
};
/// Buffers or storages whose writable clone needs a new page file.
constexpr auto written_pages = [] {
  Buffer buffer = pages<Buffer>();
  Buffer first = buffer.writable_clone();
  std::memset(buffer.mutable_data(), 'a', least_paged_nbytes);
  return PagedValues<Buffer, 3>{{std::move(buffer), Buffer(), std::move(first)}};
};
template <class Held>
constexpr auto clone_writably =
    [](auto& values) { values.all[1] = values.all[0].writable_clone(); };

void write_file_of_format(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that exceeds the inline capacity of strings";
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

/// A case: `Step` changes one of two tiled buffers that share all tiles, in a table of several
/// levels.
template <class Step>
Case tiles_case(const char* name, Step) {
  static_assert(std::is_empty_v<Step>, "a lambda that captures nothing");
  return {name,
          [](Attempt& attempt) {
            auto tiled = tiled_of<NarrowTiles>("aaaabbbbccccddddeeeeffff");
            const NarrowTiles clone = tiled;
            attempt([&] { Step()(tiled); }, [&] { return text_of(tiled) + text_of(clone); });
          },
          true};  // retains memory: nodes that were copied before the failure
}

void add_reclaimer(Attempt& attempt) {
  Budget budget(1000);
  std::optional<Reclaimer> reclaimer;
  attempt([&] { reclaimer = budget.add_reclaimer([](const Pressure&) { return std::size_t{0}; }); },
          [&] { return std::string(reclaimer ? "added" : ""); });
}

/// Allocates by `get_block`, and releases the block.
template <class GetBlock>
void allocate_within(Attempt& attempt, const GetBlock& get_block) {
  Pmr inner;
  Budget budget(1000);
  BudgetedAllocator allocator(inner.allocator, budget);
  attempt([&] { allocator.deallocate(get_block(allocator, inner.bytes)); },
          [&] { return std::to_string(budget.used()); });
}

void allocate_in_budget(Attempt& attempt) {
  allocate_within(attempt, [](Allocator& of, const auto&) { return of.allocate({64}); });
}
void copy_in_budget(Attempt& attempt) {
  allocate_within(attempt, [](Allocator& of, const auto& bytes) {
    return of.allocate_copy({64}, bytes, sizeof bytes);
  });
}
void submit_copy_in_budget(Attempt& attempt) {
  allocate_within(attempt, [](Allocator& of, const auto& bytes) {
    PendingCopy pending;
    return of.submit_copy({64}, bytes, sizeof bytes, pending);
  });
}

void write_snapshot(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "snapshot";
  Budget budget(100'000);
  BudgetedAllocator allocator(aligned_allocator(), budget);
  const TiledBuffer tiled(200, allocator, 64);
  const std::size_t used = budget.used();
  attempt(
      [&] {
        FileSink file(path, bytes_of("header"));
        SnapshotWriter writer(tiled, file);
        writer.write_some(1);
        writer.finish();
      },
      [&] {
        return std::string(budget.used() == used ? "" : "more is used") +
               (std::filesystem::exists(path) ? " written" : "");
      });
}

void begin_history(Attempt& attempt) {
  Budget budget(1000);
  std::optional<History<Array<int>>> history;
  attempt([&] { history.emplace(budget, Array<int>()); },
          [&] { return std::string(history ? "exists" : ""); });
}

void begin_edit(Attempt& attempt) {
  Budget budget(1000);
  History<Array<int>> history(budget, {1, 2, 3});
  history.mutable_current() = {4};
  history.undo();
  attempt([&] { history.mutable_current(); },
          [&] {
            return std::to_string(history.current().size()) + std::to_string(history.undo_count()) +
                   std::to_string(history.redo_count());
          });
}

/// A case: `Step` uses a place that contains `content`, and `other`.
template <class Value, class Step>
Case atomic_case(const char* name, Step) {
  static_assert(std::is_empty_v<Step>, "a lambda that captures nothing");
  return {name, [](Attempt& attempt) {
            const auto of = [](const char* text) {
              if constexpr (std::is_same_v<Value, TiledBuffer>) {
                return tiled_of<TiledBuffer>(text);
              } else {
                return of_text<Value>(text);
              }
            };
            basic_atomic<Value> place(of("content"));
            Value other = of("other");
            attempt([&] { Step()(place, other); },
                    [&] { return text_of(place.load()) + "," + text_of(other); });
          }};
}

const Case cases[] = {
    value_case("PmrAllocator::allocate", pmr,
               [](Pmr& p) {
                 p.allocator.deallocate(p.allocator.allocate({64, 64}));
               }),
    value_case("Allocator::allocate_copy", pmr,
               [](Pmr& p) {
                 p.allocator.deallocate(p.allocator.allocate_copy({64, 64}, p.bytes, 64));
               }),
    value_case("Allocator::submit_copy", pmr,  // the default implementation copies at once
               [](Pmr& p) {
                 PendingCopy none;
                 p.allocator.deallocate(p.allocator.submit_copy({64, 64}, p.bytes, 64, none));
               }),
    bytes_case<Buffer>("Buffer::allocate", [](Buffer&) { return Buffer::allocate(50); }),
    bytes_case<Buffer>(
        "Buffer::adopt",
        [](Buffer&) { return Buffer::adopt(foreign_bytes, sizeof foreign_bytes, [](void*) {}); }),
    bytes_case<Buffer>("Buffer::borrow",
                       [](Buffer&) { return Buffer::borrow(foreign_bytes, sizeof foreign_bytes); }),
    {"Buffer::map_file", map_file<Buffer>},
    bytes_case<Buffer>("Buffer::lazy_clone", [](Buffer& b) { return b.lazy_clone(); }),
    bytes_case<Buffer>(
        "Buffer::lazy_clone",
        [](Buffer&) { return Buffer::borrow(foreign_bytes, sizeof foreign_bytes).lazy_clone(); }),
    bytes_case<Buffer>("Buffer::mutable_data", [](Buffer& b) { return written_clone(b); }),
    value_case("Buffer::allocate", pages_and_none<Buffer>,
               [](auto& values) { values.all[1] = pages<Buffer>(); }),
    value_case("Buffer::mutable_range", shared_pages<Buffer>,
               [](auto& values) { values.all[1].mutable_range(1, 1)[0] = std::byte{'d'}; }),
    value_case("Buffer::mutable_data", overlay_and_clone,
               [](auto& values) { values.all[2].mutable_data()[2] = std::byte{'e'}; }),
    bytes_case<Buffer>("Buffer::writable_clone", [](Buffer& b) { return b.writable_clone(); }),
    retaining_memory(
        value_case("Buffer::writable_clone", pages_and_none<Buffer>, clone_writably<Buffer>)),
    retaining_memory(value_case("Buffer::writable_clone", written_pages, clone_writably<Buffer>)),
    bytes_case<Buffer>("Buffer::resize", [](Buffer& b) { return b.resize(200), Buffer(); }),
    shrink_case<Buffer>("Buffer::shrink_to_fit"),
    array_case("Array::Array", [](Arrays& a) { a.array = Array<int>(a.vector); }),
    array_case("Array::from", [](Arrays& a) { a.array = Array<int>::from(std::move(a.vector)); }),
    array_case("Array::mutable_span", [](Arrays& a) { a.array.mutable_span()[0] = 9; }),
    array_case("Array::append", [](Arrays& a) { a.array.append(4); }),
    array_case("Array::append", [](Arrays& a) { a.array.append(a.vector); }),
    array_case("Array::resize", [](Arrays& a) { a.array.resize(1000); }),
    array_case("Array::clear", [](Arrays& a) { a.array.clear(); }),
    array_case("Array::reserve", [](Arrays& a) { a.array.reserve(1000); }),
    bytes_case<Storage>("Storage::Storage", [](Storage&) { return Storage(Buffer::allocate(50)); }),
    bytes_case<Storage>("Storage::allocate", [](Storage&) { return Storage::allocate(50); }),
    {"Storage::map_file", map_file<Storage>},
    bytes_case<Storage>("Storage::lazy_clone", [](Storage& s) { return s.lazy_clone(); }),
    bytes_case<Storage>("Storage::writable_clone", [](Storage& s) { return s.writable_clone(); }),
    retaining_memory(
        value_case("Storage::writable_clone", pages_and_none<Storage>, clone_writably<Storage>)),
    bytes_case<Storage>("Storage::mutable_data", [](Storage& s) { return written_clone(s); }),
    bytes_case<Storage>("Storage::mutable_data_in_parallel",
                        [](Storage& s) {
                          Storage clone = s.lazy_clone();
                          clone.mutable_data_in_parallel()[0] = std::byte{1};
                          return clone;
                        }),
    value_case(
        "Storage::mutable_range_in_parallel", shared_pages<Storage>,
        [](auto& values) { values.all[1].mutable_range_in_parallel(1, 1)[0] = std::byte{'d'}; }),
    bytes_case<Storage>("Storage::resize", [](Storage& s) { return s.resize(200), Storage(); }),
    shrink_case<Storage>("Storage::shrink_to_fit"),
    call_case("explain", [] { return explain(Buffer::allocate(100)); }),
    call_case("explain", [] { return explain(Storage::allocate(100)); }),

    {"OutputFile::OutputFile", write_file_of_format},
    {"OutputFile::write", write_file_of_format},
    {"OutputFile::commit", write_file_of_format},
    {"OutputFile::write_at", write_snapshot},

    {"Budget::add_reclaimer", add_reclaimer},
    {"BudgetedAllocator::allocate", allocate_in_budget},
    {"BudgetedAllocator::allocate_copy", copy_in_budget},
    {"BudgetedAllocator::submit_copy", submit_copy_in_budget},
    {"FileSink::FileSink", write_snapshot},
    {"FileSink::write", write_snapshot},
    {"FileSink::commit", write_snapshot},
    {"SnapshotWriter::SnapshotWriter", write_snapshot},
    {"SnapshotWriter::write_some", write_snapshot},
    {"SnapshotWriter::finish", write_snapshot},

    tiles_case("TiledBuffer::TiledBuffer",
               [](NarrowTiles& tiled) {
                 NarrowTiles made(9, default_allocator(), 4);
                 made.write(0, bytes_of("012345678"));
                 tiled = std::move(made);
               }),
    tiles_case("TiledBuffer::mutable_tile", [](NarrowTiles& tiled) { put(tiled, 3, 'x'); }),
    tiles_case("TiledBuffer::write",
               [](NarrowTiles& tiled) { tiled.write(6, bytes_of("0123456")); }),
    tiles_case(
        "TiledBuffer::append",
        [](NarrowTiles& tiled) { tiled.append(bytes_of("0123456789012345678901234567890")); }),
    tiles_case("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(17); }),
    tiles_case("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(3); }),
    tiles_case("TiledBuffer::resize", [](NarrowTiles& tiled) { tiled.resize(13); }),

    {"History::History", begin_history},
    {"History::mutable_current", begin_edit},

    atomic_case<Storage>("AtomicStorage::load",
                         [](AtomicStorage& place, Storage& other) { other = place.load(); }),
    atomic_case<Storage>("AtomicStorage::store",
                         [](AtomicStorage& place, Storage& other) { place.store(other); }),
    atomic_case<Storage>(
        "AtomicStorage::exchange",
        [](AtomicStorage& place, Storage& other) { other = place.exchange(std::move(other)); }),
    atomic_case<Storage>("AtomicStorage::compare_exchange",
                         [](AtomicStorage& place, Storage& other) {
                           Storage expected = other.lazy_clone();
                           place.compare_exchange(expected, std::move(other));
                         }),
    atomic_case<TiledBuffer>(
        "AtomicTiles::store",
        [](AtomicTiles& place, TiledBuffer& other) { place.store(std::move(other)); }),
    atomic_case<TiledBuffer>(
        "AtomicTiles::exchange",
        [](AtomicTiles& place, TiledBuffer& other) { other = place.exchange(std::move(other)); }),
    atomic_case<TiledBuffer>("AtomicTiles::compare_exchange",
                             [](AtomicTiles& place, TiledBuffer& other) {
                               TiledBuffer expected = place.load();
                               place.compare_exchange(expected, std::move(other));
                             }),
};

}  // namespace storage_table

std::span<const Case> storage_cases() {
  return storage_table::cases;
}

}  // namespace byre::test
