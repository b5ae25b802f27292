// SPDX-License-Identifier: BSL-1.0
/// Two or three tiled buffers share tiles and tree nodes. Their owners write, truncate and drop the
/// buffers at once. If all N owners of a tile write it, it is copied N-1 times. Each buffer reads
/// only its own writes. Tiles have one cell, and nodes two children: two tiles need one node, three
/// tiles need two levels. The memory orders under test are those of the share words of nodes and
/// tiles.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstddef>

#include "../search.hpp"

namespace byre::verification {
namespace {

using Tiles = basic_tiled_buffer<Checked, 2>;

unsigned read(const Tiles& tiles, std::size_t index) {
  return cell(tiles.tile(index).data()).get();
}
void write(Tiles& tiles, std::size_t index, unsigned value) {
  cell(tiles.mutable_tile(index).data()).set(value);
}
void drop(Tiles& tiles) {
  tiles = Tiles();
}

/// `Owners` tiled buffers that share their tiles, which hold 7 at first, and their memory.
template <std::size_t TileCount, unsigned Owners>
class SharedTiles {
 public:
  SharedTiles() {
    Tiles first(cells(TileCount), memory, cells(1));
    for (std::size_t index = 0; index < TileCount; ++index) {
      write(first, index, 7);
    }
    for (unsigned index = 1; index < Owners; ++index) {
      tiles_[index] = first;
    }
    tiles_[0] = std::move(first);
  }

  Tiles& operator[](unsigned index) { return tiles_[index]; }

  Tracked memory;

 private:
  Tiles tiles_[Owners];
};

/// All owners write the same tile, or each owner writes its own tile. The scheduler chooses which
/// of the operations in `MayFail` fail.
template <std::size_t TileCount, bool SameTile, unsigned Writers = 2, Faults MayFail = Faults::none>
class WritersOfTiles {
 public:
  static constexpr unsigned threads = Writers;

  WritersOfTiles() { tiles_.memory.set_faults(MayFail); }

  void thread(unsigned index) {
    Tiles& own = tiles_[index];
    wrote_[index] = succeeds([&] { write(own, tile_of(index), index); });
    expect(read(own, tile_of(index)) == (wrote_[index] ? index : 7),
           "a writer reads what it wrote, or the old value");
  }

  void after() {
    unsigned unwritten = 0;
    for (unsigned index = 0; index < threads; ++index) {
      for (std::size_t tile = 0; tile < TileCount; ++tile) {
        const bool is_written = wrote_[index] && tile == tile_of(index);
        expect(read(tiles_[index], tile) == (is_written ? index : 7),
               "each owner reads what it wrote, and no write of another owner");
      }
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == tiles_.memory.failures(), "a write fails only if the scheduler failed it");
    expect(
        MayFail != Faults::none || tiles_.memory.copies() == (SameTile ? threads - 1 : threads),
        "a tile that all owners write is copied by all but one, and a tile that one of two owners "
        "writes is copied once");
  }

 private:
  static std::size_t tile_of(unsigned index) { return SameTile ? 0 : index; }

  SharedTiles<TileCount, threads> tiles_;
  bool wrote_[threads] = {};
};

/// One owner writes a tile while the other reads all tiles and drops them.
class DropsRaceAWriterOfTiles : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the other owner has dropped: no copy",
      "the other owner exists: a copy",
  };

  void thread(unsigned index) {
    Tiles& own = tiles_[index];
    if (index == 0) {
      write(own, 0, 8);
      cover(tiles_.memory.copies() == 0 ? "the other owner has dropped: no copy"
                                        : "the other owner exists: a copy");
    } else {
      expect(read(own, 0) == 7 && read(own, 2) == 7, "an owner never reads another owner's write");
      drop(own);
    }
  }

  void after() {
    expect(read(tiles_[0], 0) == 8 && read(tiles_[0], 1) == 7 && read(tiles_[0], 2) == 7,
           "the writer reads what it wrote, and the old value elsewhere");
    expect(tiles_.memory.copies() == tiles_.memory.frees(),
           "a tile is freed if and only if it was copied");
  }

 private:
  SharedTiles<3, threads> tiles_;
};

/// One owner truncates its table to one level. The other owner writes a tile that the truncation
/// drops.
class ATruncationRacesAWriter : public TwoThreads {
 public:
  void thread(unsigned index) {
    Tiles& own = tiles_[index];
    if (index == 0) {
      own.truncate(cells(1));
      write(own, 0, 8);
    } else {
      write(own, 1, 9);
    }
  }

  void after() {
    expect(tiles_[0].tile_count() == 1 && read(tiles_[0], 0) == 8,
           "the truncated buffer has only its first tile");
    expect(read(tiles_[1], 0) == 7 && read(tiles_[1], 1) == 9 && read(tiles_[1], 2) == 7,
           "the other buffer has all its tiles");
  }

 private:
  SharedTiles<3, threads> tiles_;
};

const Scenario* const tiles_scenarios[] = {
    scenario<WritersOfTiles<2, true>>(
        "writers_of_one_tile",
        "Two tiled buffers write a shared tile: it is copied once: promises 1 and 3.", 2, 4),
    scenario<WritersOfTiles<3, true>>(
        "writers_of_one_tile_of_a_high_table",
        "Two tiled buffers write a shared tile under two levels of nodes: it is copied once.", 0,
        2),
    scenario<WritersOfTiles<2, true, 3>>(
        "three_writers_of_one_tile",
        "Three tiled buffers write a shared tile: it is copied twice: promise 3.", 0, 2),
    scenario<WritersOfTiles<2, false>>(
        "writers_of_two_tiles",
        "Each tiled buffer copies the tile that it writes, and no other: promise 1.",
        reduced_search, reduced_search),
    scenario<DropsRaceAWriterOfTiles>(
        "drops_race_a_writer_of_tiles",
        "A tile is written in place after its other owner has dropped the table: promise 1, I5.", 1,
        4),
    scenario<ATruncationRacesAWriter>("a_truncation_races_a_writer",
                                      "Tiles that one buffer drops remain in the other: promise 1.",
                                      0, 2),
    scenario<WritersOfTiles<2, true, 2, Faults::both>>(
        "writers_of_one_tile_fail",
        "A failed write to a tile changes nothing and does not affect the other owner: promise 5.",
        1, 3),
};

}  // namespace
}  // namespace byre::verification
