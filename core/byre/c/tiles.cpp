// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/handles.hpp>

#include <span>

using namespace byre;
using namespace byre::detail::from_c;

namespace {

/// Throws InvalidArgument if the bytes are null and their number is not 0.
void expect_bytes(const char* call, const void* bytes, size_t nbytes) {
  if (bytes == nullptr && nbytes != 0) {
    throw InvalidArgument::null_pointer(call, nbytes);
  }
}

std::span<const std::byte> span_of(const void* bytes, size_t nbytes) {
  return {static_cast<const std::byte*>(bytes), nbytes};
}

/// Ends an iteration.
struct Stopped {};

/// As guarded(), also for a call that throws Stopped.
template <class Call>
byre_status guarded_until_stopped(Call call) noexcept {
  return guarded([=] {
    try {
      call();
    } catch (const Stopped&) {
    }
  });
}

/// Throws Stopped or CallbackFailed if a visitor returned another status than BYRE_OK.
void expect_visited(byre_status status, const char* call) {
  if (status == BYRE_STOP) {
    throw Stopped();
  }
  if (status != BYRE_OK) {
    throw CallbackFailed(status, "the visitor", call);
  }
}

}  // namespace

byre_status byre_tiles_allocate(size_t nbytes, size_t tile_nbytes, byre_allocator* allocator,
                                byre_tiles* result) {
  return guarded([=] {
    store_made(result, "byre_tiles_allocate",
               [&] { return TiledBuffer(nbytes, allocator_or_default(allocator), tile_nbytes); });
  });
}

byre_status byre_tiles_clone(const byre_tiles* source, byre_tiles* result) {
  return guarded([=] {
    store_made(result, "byre_tiles_clone", [&] {
      return read_value(
          source, [](const TiledBuffer& tiles) { return tiles.lazy_clone(call_site_to_record()); });
    });
  });
}

void byre_tiles_release(byre_tiles* tiles) {
  release_value(tiles);
}

void byre_tiles_swap(byre_tiles* left, byre_tiles* right) {
  swap_handles(left, right);
}

size_t byre_tiles_nbytes(const byre_tiles* tiles) {
  return read_value(tiles, [](const TiledBuffer& value) { return value.nbytes(call_site); });
}

size_t byre_tiles_tile_count(const byre_tiles* tiles) {
  return read_value(tiles, [](const TiledBuffer& value) { return value.tile_count(call_site); });
}

size_t byre_tiles_tile_nbytes(const byre_tiles* tiles) {
  return read_value(tiles, [](const TiledBuffer& value) { return value.tile_nbytes(); });
}

byre_allocator* byre_tiles_allocator(const byre_tiles* tiles) {
  return read_value(tiles, [](const TiledBuffer& value) { return handle_of(value.allocator()); });
}

byre_status byre_tiles_tile(const byre_tiles* tiles, size_t index, const void** data,
                            size_t* nbytes) {
  return guarded([=] {
    expect_given(data, "byre_tiles_tile", "data");
    *data = nullptr;
    const auto tile =
        read_value(tiles, [=](const TiledBuffer& value) { return value.tile(index, call_site); });
    *data = tile.data();
    if (nbytes != nullptr) {
      *nbytes = tile.size();
    }
  });
}

byre_status byre_tiles_mutable_tile(byre_tiles* tiles, size_t index, byre_wait wait, void** data,
                                    size_t* nbytes) {
  return guarded([=] {
    expect_given(data, "byre_tiles_mutable_tile", "data");
    *data = nullptr;
    const auto tile = value_to_write(tiles, "byre_tiles_mutable_tile", "tiles")
                          .mutable_tile(index, wait_of(wait), call_site);
    *data = tile.data();
    if (nbytes != nullptr) {
      *nbytes = tile.size();
    }
  });
}

byre_status byre_tiles_read(const byre_tiles* tiles, size_t offset, void* destination,
                            size_t nbytes) {
  return guarded([=] {
    expect_bytes("byre_tiles_read", destination, nbytes);
    read_value(tiles, [=](const TiledBuffer& value) {
      value.read(offset, {static_cast<std::byte*>(destination), nbytes}, call_site);
    });
  });
}

byre_status byre_tiles_write(byre_tiles* tiles, size_t offset, const void* bytes, size_t nbytes,
                             byre_wait wait) {
  return guarded([=] {
    expect_bytes("byre_tiles_write", bytes, nbytes);
    value_to_write(tiles, "byre_tiles_write", "tiles")
        .write(offset, span_of(bytes, nbytes), wait_of(wait), call_site);
  });
}

byre_status byre_tiles_append(byre_tiles* tiles, const void* bytes, size_t nbytes, byre_wait wait) {
  return guarded([=] {
    expect_bytes("byre_tiles_append", bytes, nbytes);
    value_to_write(tiles, "byre_tiles_append", "tiles")
        .append(span_of(bytes, nbytes), wait_of(wait), call_site);
  });
}

byre_status byre_tiles_resize(byre_tiles* tiles, size_t nbytes, byre_wait wait) {
  return guarded([=] {
    value_to_write(tiles, "byre_tiles_resize", "tiles").resize(nbytes, wait_of(wait), call_site);
  });
}

byre_status byre_tiles_truncate(byre_tiles* tiles, size_t nbytes, byre_wait wait) {
  return guarded([=] {
    value_to_write(tiles, "byre_tiles_truncate", "tiles")
        .truncate(nbytes, wait_of(wait), call_site);
  });
}

int byre_tiles_shares_data_with(const byre_tiles* left, const byre_tiles* right) {
  return read_value(left, [=](const TiledBuffer& value) {
    return read_value(
        right, [&](const TiledBuffer& other) { return value.shares_data_with(other, call_site); });
  });
}

int byre_tiles_shares_tile_with(const byre_tiles* left, const byre_tiles* right, size_t index) {
  return read_value(left, [=](const TiledBuffer& value) {
    return read_value(right, [&](const TiledBuffer& other) {
      return value.shares_tile_with(other, index, call_site);
    });
  });
}

byre_status byre_tiles_for_each_part(const byre_tiles* tiles, size_t offset, size_t nbytes,
                                     byre_part_visitor visit, void* user) {
  return guarded_until_stopped([=] {
    expect_callback(visit, "byre_tiles_for_each_part");
    read_value(tiles, [=](const TiledBuffer& value) {
      value.for_each_part(
          offset, nbytes,
          [=](std::span<const std::byte> part) {
            expect_visited(visit(user, part.data(), part.size()), "byre_tiles_for_each_part");
          },
          call_site);
    });
  });
}

byre_status byre_tiles_for_each_difference(const byre_tiles* left, const byre_tiles* right,
                                           byre_difference_visitor visit, void* user) {
  return guarded_until_stopped([=] {
    expect_callback(visit, "byre_tiles_for_each_difference");
    read_value(left, [=](const TiledBuffer& value) {
      read_value(right, [&](const TiledBuffer& other) {
        for_each_difference(
            value, other,
            [=](size_t index) {
              expect_visited(visit(user, index), "byre_tiles_for_each_difference");
            },
            call_site);
      });
    });
  });
}
