// SPDX-License-Identifier: BSL-1.0
/// SnapshotWriter: writes a lazy clone to a file while the original is changed, and gives up each
/// part as soon as it is written. So a snapshot needs no more memory than a Budget allows.
///
/// ```cpp
/// byre::TiledBuffer model(std::size_t{1} << 20);
/// byre::FileSink file("model.bin");
/// byre::SnapshotWriter writer(model, file);       // a lazy clone
/// auto saving = std::async(std::launch::async, [&] { writer.finish(); });
/// model.mutable_tile(3)[0] = std::byte{1};        // the file has the former byte
/// saving.get();                                   // throws if the file could not be written
/// ```
///
/// If the snapshot's allocator has a budget, the writer is one of its reclaimers, and is asked
/// before those that exist. A request at the limit gets memory as follows, on its own thread:
///
/// 1. If the request copies a tile that the snapshot shares, the writer writes that tile to the
///    sink, or waits until another thread has written it, and drops it. If no other owner is left,
///    the request needs no copy: it writes in place.
/// 2. Otherwise the writer writes and drops tiles that only the snapshot owns, because the original
///    has changed, until enough bytes have been released. Tiles that two snapshots share are not
///    among them.
#pragma once

#include <byre/files/output_file.hpp>
#include <byre/memory/budget.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

/// The destination of a snapshot. The functions may throw; the snapshot fails then. Requests of
/// memory in them call no reclaimers: at the limit of a budget, they are refused. The functions
/// must not wait for a thread that requests memory of the snapshot's budget.
class BYRE_API SnapshotSink {
 public:
  SnapshotSink() noexcept = default;
  SnapshotSink(const SnapshotSink&) = delete;
  SnapshotSink& operator=(const SnapshotSink&) = delete;
  virtual ~SnapshotSink();

  /// Writes bytes of the snapshot, from `offset` on. Called once for each byte, in any order, and
  /// by several threads at once.
  virtual void write(std::size_t offset, std::span<const std::byte> bytes) = 0;
  /// Called after all bytes were written.
  virtual void commit() = 0;
};

/// A sink that replaces a file: it appears under its name complete or not at all. See OutputFile.
class BYRE_API FileSink final : public SnapshotSink {
 public:
  /// The file starts with the bytes of `header`, and the snapshot follows. Throws the errors of
  /// OutputFile and of its write().
  explicit FileSink(FileName name, std::span<const std::byte> header = {});

  void write(std::size_t offset, std::span<const std::byte> bytes) override;
  void commit() override;

 private:
  OutputFile file_;
  std::size_t header_nbytes_;
};

/// Writes a snapshot. byre starts no thread for it: a thread of the program calls finish(), or
/// write_some() from time to time.
///
/// Thread-safety: any number of threads may call members at once, apart from the destructor, while
/// others write the original and other clones. Progress: no lock is held while the sink is called.
class BYRE_API SnapshotWriter {
 public:
  /// A writer of `snapshot`, whose tiles it takes over: it drops each tile after it was written.
  /// The sink must outlive the writer. Throws OutOfMemory, and InvalidArgument if the snapshot's
  /// memory is not that of the host. Cost: O(n log n) in the number of tiles.
  SnapshotWriter(TiledBuffer snapshot, SnapshotSink& sink, CallSite site = CallSite::current());
  /// A writer of a buffer, which is dropped as a whole after all of its bytes were written. So at
  /// the limit of a budget, the first write to the original waits until the rest is written.
  SnapshotWriter(Buffer snapshot, SnapshotSink& sink, CallSite site = CallSite::current());
  /// Drops what was not written. Waits for requests on other threads that the writer serves.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  /// Writes parts of the snapshot until `most_nbytes` bytes or more have been written, or nothing
  /// is left. A part is a tile, or about a MiB of a buffer. Returns the number of bytes that this
  /// call wrote; 0 if nothing was left. If the sink fails, in this call or on another thread, the
  /// snapshot is given up, and this and all later calls throw the sink's exception.
  std::size_t write_some(std::size_t most_nbytes);

  /// Writes what is left, waits for parts that other threads are writing, and commits. Does nothing
  /// if a call has committed, or is committing, the snapshot. Throws the exceptions of the sink, as
  /// write_some() does; if the commit fails, all later calls throw its exception.
  void finish();

  std::size_t nbytes() const noexcept { return nbytes_; }
  /// The number of bytes left to write; 0 after a failure.
  std::size_t nbytes_left() const;

 private:
  enum class State : std::uint8_t {
    pending,
    being_written,
    abandoned,  ///< after a failure: the failing thread is about to drop it
    done,
  };
  struct Part {
    std::size_t owner;   // the index of its buffer
    std::size_t first;   // the first part of the buffer
    std::size_t begin;   // in the buffer
    std::size_t offset;  // in the snapshot
    std::size_t nbytes;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void add(Buffer&& buffer, std::size_t nbytes, std::size_t part_nbytes);
  void start(Budget* budget);
  std::size_t reclaim(const Pressure& pressure);
  std::size_t give_up_data(const void* data);
  std::size_t give_up_unshared(std::size_t nbytes);
  std::size_t give_up_buffer(std::size_t first_part);
  bool begin(std::size_t part);
  std::size_t begin_next();
  std::size_t find_unshared(std::size_t first) const;
  std::size_t find_being_written() const;
  void write(std::size_t part);
  void drop_last_part_of(std::size_t owner);
  void end(std::size_t part, std::exception_ptr error);
  bool store(std::exception_ptr error);
  void drop_abandoned();
  bool await(std::size_t part);
  void throw_if_failed();

  SnapshotSink& sink_;
  std::size_t nbytes_ = 0;
  std::vector<Part> parts_;
  std::vector<std::pair<const void*, std::size_t>> by_address_;  // the first part of each buffer

  mutable ReclaimerMutex mutex_;  // protects the members below
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> parts_left_;  // of each buffer
  std::vector<State> states_;
  std::size_t first_pending_ = 0;
  std::size_t nbytes_left_ = 0;
  std::exception_ptr error_;
  bool is_committed_ = false;

  sync::detail::Relaxed<std::uint32_t> ended_;  // the number of parts that were written
  Reclaimer reclaimer_;                         // destroyed first
};

}  // namespace byre::inline BYRE_ABI
