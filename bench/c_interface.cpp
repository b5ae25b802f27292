// SPDX-License-Identifier: BSL-1.0
/// The C interface (byre.h), compared with the C++ that it calls. The C++ contenders are the loops
/// of shared_data.cpp and unique_data.cpp.
///
///   c_clone_drop    a lazy clone, and its release
///   c_write_alone   write access to unshared bytes, and a write of one byte
///   c_write_shared  a lazy clone, a write that copies, and the release of the copy
///
/// `storage` and `c_storage` are the contenders for a Storage and a byre_storage, `tiles` and
/// `c_tiles` those for a TiledBuffer and a byre_tiles of one tile.
#include <byre/byre.h>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include "contenders.hpp"
#include "harness.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>

namespace byre_bench {
namespace c_interface {
namespace {

constexpr std::size_t clones_per_burst = 1000;
constexpr std::size_t accesses_per_burst = 4096;
constexpr std::size_t writes_per_burst = 100;
constexpr std::size_t stride = 67;

void expect_ok(byre_status status) {
  if (status != BYRE_OK) {
    std::abort();
  }
}

// The contenders: bytes, and the operations on them.

struct InCpp {
  explicit InCpp(std::size_t nbytes) : bytes(byre::Buffer::allocate(nbytes)) {}
  InCpp(const InCpp&) = default;
  const void* data() const { return bytes.data(); }
  std::byte* mutable_data() { return bytes.mutable_data(); }
  byre::Buffer bytes;
};

struct InC {
  explicit InC(std::size_t nbytes) { expect_ok(byre_buffer_allocate(nbytes, nullptr, &bytes)); }
  InC(const InC& other) { expect_ok(byre_buffer_clone(&other.bytes, &bytes)); }
  ~InC() { byre_buffer_release(&bytes); }
  InC& operator=(const InC&) = delete;
  const void* data() const { return bytes.private_data; }
  std::byte* mutable_data() {
    void* data;
    expect_ok(byre_buffer_mutable_data(&bytes, BYRE_WAIT_ALLOWED, &data));
    return static_cast<std::byte*>(data);
  }
  byre_buffer bytes = BYRE_BUFFER_EMPTY;
};

struct StorageInCpp {
  explicit StorageInCpp(std::size_t nbytes) : bytes(byre::Storage::allocate(nbytes)) {}
  StorageInCpp(const StorageInCpp& other) : bytes(other.bytes.lazy_clone()) {}
  const void* data() const { return bytes.data(); }
  std::byte* mutable_data() { return bytes.mutable_data(); }
  byre::Storage bytes;
};

struct StorageInC {
  explicit StorageInC(std::size_t nbytes) {
    expect_ok(byre_storage_allocate(nbytes, nullptr, &bytes));
  }
  StorageInC(const StorageInC& other) { expect_ok(byre_storage_clone(other.bytes, &bytes)); }
  ~StorageInC() { byre_storage_release(bytes); }
  StorageInC& operator=(const StorageInC&) = delete;
  const void* data() const { return bytes; }
  std::byte* mutable_data() {
    void* data;
    expect_ok(byre_storage_mutable_data(bytes, BYRE_WAIT_ALLOWED, &data));
    return static_cast<std::byte*>(data);
  }
  byre_storage* bytes = nullptr;
};

struct TilesInCpp {
  explicit TilesInCpp(std::size_t nbytes) : bytes(nbytes, byre::default_allocator(), nbytes) {}
  const void* data() const { return &bytes; }
  std::byte* mutable_data() { return bytes.mutable_tile(0).data(); }
  byre::TiledBuffer bytes;
};

struct TilesInC {
  explicit TilesInC(std::size_t nbytes) {
    expect_ok(byre_tiles_allocate(nbytes, nbytes, nullptr, &bytes));
  }
  TilesInC(const TilesInC& other) { expect_ok(byre_tiles_clone(&other.bytes, &bytes)); }
  ~TilesInC() { byre_tiles_release(&bytes); }
  TilesInC& operator=(const TilesInC&) = delete;
  const void* data() const { return &bytes; }
  std::byte* mutable_data() {
    void* data;
    expect_ok(byre_tiles_mutable_tile(&bytes, 0, BYRE_WAIT_ALLOWED, &data, nullptr));
    return static_cast<std::byte*>(data);
  }
  byre_tiles bytes = BYRE_TILES_EMPTY;
};

template <class Bytes>
[[gnu::noinline]] double clone_and_drop(const Bytes& source) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < clones_per_burst; ++i) {
      const Bytes clone(source);
      benchmark::DoNotOptimize(clone.data());
    }
  });
}

template <class Bytes>
[[gnu::noinline]] double write_alone(Bytes& bytes, std::size_t mask) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < accesses_per_burst; ++i) {
      bytes.mutable_data()[(i * stride) & mask] = static_cast<std::byte>(i);
      benchmark::ClobberMemory();
    }
  });
}

template <class Bytes>
[[gnu::noinline]] double write_shared(const Bytes& source) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < writes_per_burst; ++i) {
      Bytes clone(source);
      clone.mutable_data()[0] = std::byte{1};
      benchmark::ClobberMemory();
    }
  });
}

template <class Bytes>
void add_contender(const char* name, std::size_t nbytes) {
  if (nbytes <= 4 * kib) {
    add({"c_clone_drop", nbytes}, name, [=](benchmark::State& state) {
      const Bytes source(nbytes);
      run_bursts(state, clones_per_burst, [&](std::size_t) { return clone_and_drop(source); });
    });
    add({"c_write_alone", nbytes}, name, [=](benchmark::State& state) {
      Bytes bytes(nbytes);
      run_bursts(state, accesses_per_burst,
                 [&](std::size_t) { return write_alone(bytes, nbytes - 1); });
    });
  }
  add({"c_write_shared", nbytes}, name, [=](benchmark::State& state) {
    Bytes source(nbytes);
    std::memset(source.mutable_data(), 1, nbytes);
    run_bursts(state, writes_per_burst, [&](std::size_t) { return write_shared(source); });
  });
}

}  // namespace
}  // namespace c_interface

void add_c_interface() {
  using namespace c_interface;
  for (const std::size_t nbytes : {std::size_t{64}, 4 * kib, 256 * kib}) {
    add_contender<InCpp>("byre", nbytes);
    add_contender<InC>("c", nbytes);
    add_contender<StorageInCpp>("storage", nbytes);
    add_contender<StorageInC>("c_storage", nbytes);
    add_contender<TilesInCpp>("tiles", nbytes);
    add_contender<TilesInC>("c_tiles", nbytes);
  }
}

}  // namespace byre_bench
