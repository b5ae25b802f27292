// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>
#include <byre/sync/detail/held_locks.hpp>
#include <byre/sync/detail/parking_lot.hpp>

#include <algorithm>
#include <mutex>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

using Lock = std::lock_guard<ReclaimerMutex>;

constexpr std::size_t buffer_part_nbytes = std::size_t{1} << 20;

void expect_on_host(const Allocator& allocator) {
  if (!allocator.device().is_cpu()) {
    throw InvalidArgument(
        format_text("SnapshotWriter: the snapshot is memory of device %u:%u, required is memory of "
                    "the host. Copy the bytes to the host first.",
                    static_cast<unsigned>(allocator.device().kind()),
                    static_cast<unsigned>(allocator.device().index())));
  }
}

}  // namespace

SnapshotSink::~SnapshotSink() = default;

FileSink::FileSink(FileName name, std::span<const std::byte> header)
    : file_(name), header_nbytes_(header.size()) {
  file_.write(header.data(), header.size());
}

void FileSink::write(std::size_t offset, std::span<const std::byte> bytes) {
  file_.write_at(header_nbytes_ + offset, bytes.data(), bytes.size());
}

void FileSink::commit() {
  file_.commit();
}

SnapshotWriter::SnapshotWriter(TiledBuffer snapshot, SnapshotSink& sink, CallSite site) try
    : sink_(sink) {
  expect_on_host(snapshot.allocator());
  for (std::size_t index = 0; index < snapshot.tile_count(site); ++index) {
    const std::size_t nbytes = snapshot.nbytes_of(index);
    add(snapshot.tree_.clone_of_tile(index, site), nbytes, nbytes);
  }
  start(snapshot.allocator().budget());
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a SnapshotWriter");
}

SnapshotWriter::SnapshotWriter(Buffer snapshot, SnapshotSink& sink, CallSite site) try
    : sink_(sink) {
  expect_on_host(snapshot.allocator());
  Budget* const budget = snapshot.allocator().budget();
  if (const std::size_t nbytes = snapshot.nbytes(site); nbytes != 0) {
    add(std::move(snapshot), nbytes, buffer_part_nbytes);
  }
  start(budget);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a SnapshotWriter");
}

SnapshotWriter::~SnapshotWriter() = default;

void SnapshotWriter::add(Buffer&& buffer, std::size_t nbytes, std::size_t part_nbytes) {
  const std::size_t first = parts_.size();
  by_address_.emplace_back(buffer.data(), first);
  parts_left_.push_back((nbytes - 1) / part_nbytes + 1);
  for (std::size_t offset = 0; offset < nbytes; offset += part_nbytes) {
    parts_.push_back({.owner = buffers_.size(),
                      .first = first,
                      .begin = offset,
                      .offset = nbytes_ + offset,
                      .nbytes = std::min(part_nbytes, nbytes - offset)});
  }
  nbytes_ += nbytes;
  buffers_.push_back(std::move(buffer));
}

void SnapshotWriter::start(Budget* budget) {
  std::sort(by_address_.begin(), by_address_.end());
  states_.assign(parts_.size(), State::pending);
  nbytes_left_ = nbytes_;
  if (budget != nullptr) {
    reclaimer_ = budget->add_reclaimer(
        [this](const Pressure& pressure) { return reclaim(pressure); }, ReclaimOrder::first);
  }
}

std::size_t SnapshotWriter::write_some(std::size_t most_nbytes) {
  std::size_t written_nbytes = 0;
  while (written_nbytes < most_nbytes) {
    const std::size_t part = begin_next();
    if (part == none) {
      break;
    }
    write(part);
    written_nbytes += parts_[part].nbytes;
  }
  throw_if_failed();
  return written_nbytes;
}

void SnapshotWriter::finish() {
  write_some(static_cast<std::size_t>(-1));
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    await(part);
  }
  throw_if_failed();
  {
    const Lock lock(mutex_);
    if (std::exchange(is_committed_, true)) {
      return;
    }
  }
  try {
    const sync::detail::HoldsLock refused;
    sink_.commit();
  } catch (...) {
    const Lock lock(mutex_);
    store(std::current_exception());
    throw;
  }
}

std::size_t SnapshotWriter::nbytes_left() const {
  const Lock lock(mutex_);
  return nbytes_left_;
}

std::size_t SnapshotWriter::reclaim(const Pressure& pressure) {
  const std::size_t given = give_up_data(pressure.data);
  return given != 0 ? given : give_up_unshared(pressure.nbytes);
}

/// Gives up the buffer whose data this is. Returns 0 if there is no such buffer.
std::size_t SnapshotWriter::give_up_data(const void* data) {
  const auto found = std::lower_bound(by_address_.begin(), by_address_.end(),
                                      std::pair<const void*, std::size_t>(data, 0));
  const bool is_found = data != nullptr && found != by_address_.end() && found->first == data;
  return is_found ? give_up_buffer(found->second) : 0;
}

/// Gives up pending buffers that have no other owner, until `nbytes` have been released. If each
/// has another owner, waits for a part that another thread is writing. Returns the number of bytes
/// that may have been released.
std::size_t SnapshotWriter::give_up_unshared(std::size_t nbytes) {
  std::size_t given = 0;
  for (std::size_t part = 0; given < nbytes && (part = find_unshared(part)) != none; ++part) {
    given += give_up_buffer(parts_[part].first);
  }
  if (given == 0) {
    if (const std::size_t part = find_being_written(); part != none && await(part)) {
      given = parts_[part].nbytes;
    }
  }
  return given;
}

/// Writes all parts of a buffer, or waits until other threads have written them. The buffer has
/// been dropped then. Returns its size, or 0 if all parts had been written before.
std::size_t SnapshotWriter::give_up_buffer(std::size_t first_part) {
  const std::size_t owner = parts_[first_part].owner;
  std::size_t nbytes = 0;
  bool is_given = false;
  for (std::size_t part = first_part; part < parts_.size() && parts_[part].owner == owner; ++part) {
    if (begin(part)) {
      write(part);
      is_given = true;
    } else if (await(part)) {
      is_given = true;
    }
    nbytes += parts_[part].nbytes;
  }
  return is_given ? nbytes : 0;
}

/// The first pending part from `first` on whose buffer has no other owner; `none` if there is no
/// such part.
std::size_t SnapshotWriter::find_unshared(std::size_t first) const {
  const Lock lock(mutex_);
  for (std::size_t part = std::max(first, first_pending_); part < parts_.size(); ++part) {
    if (states_[part] == State::pending && buffers_[parts_[part].owner].is_unique()) {
      return part;
    }
  }
  return none;
}

std::size_t SnapshotWriter::find_being_written() const {
  const Lock lock(mutex_);
  const auto found = std::find(states_.begin(), states_.end(), State::being_written);
  return found == states_.end() ? none : static_cast<std::size_t>(found - states_.begin());
}

/// Whether the calling thread has to write the part.
bool SnapshotWriter::begin(std::size_t part) {
  const Lock lock(mutex_);
  const bool begins = states_[part] == State::pending;
  states_[part] = begins ? State::being_written : states_[part];
  return begins;
}

/// Begins the first pending part. Returns `none` if no part is pending.
std::size_t SnapshotWriter::begin_next() {
  const Lock lock(mutex_);
  while (first_pending_ < states_.size() && states_[first_pending_] != State::pending) {
    ++first_pending_;
  }
  if (first_pending_ == states_.size()) {
    return none;
  }
  states_[first_pending_] = State::being_written;
  return first_pending_;
}

/// Writes a part that the calling thread has begun, and drops its buffer after the last part. If
/// the sink fails, gives the snapshot up.
void SnapshotWriter::write(std::size_t part) {
  const auto [owner, first, begin, offset, nbytes] = parts_[part];
  const std::byte* data = nullptr;
  {
    const Lock lock(mutex_);
    data = std::as_const(buffers_[owner]).data() + begin;
  }
  std::exception_ptr error;
  try {
    const sync::detail::HoldsLock refused;  // a request of the sink could wait for this part
    sink_.write(offset, {data, nbytes});
  } catch (...) {
    error = std::current_exception();
  }
  drop_last_part_of(owner);
  end(part, std::move(error));
}

/// Drops the buffer if no other part of it is left. Not under the lock, because this releases
/// memory, and before the part is done, because a request that waits for the part claims its data
/// then.
void SnapshotWriter::drop_last_part_of(std::size_t owner) {
  Buffer dropped;
  const Lock lock(mutex_);
  if (--parts_left_[owner] == 0) {
    dropped.swap(buffers_[owner]);
  }
}

/// Ends a part. If it failed, gives up all pending parts. The error is stored in the step that ends
/// the part, so that no thread commits a snapshot that lacks it.
void SnapshotWriter::end(std::size_t part, std::exception_ptr error) {
  bool is_given_up = false;
  {
    const Lock lock(mutex_);
    states_[part] = State::done;
    nbytes_left_ -= parts_[part].nbytes;
    is_given_up = store(std::move(error));
    ended_.add();
  }
  sync::detail::unpark_all(&ended_);
  if (is_given_up) {
    drop_abandoned();
  }
}

/// Stores the first error, and abandons all pending parts. Called under the lock. Returns whether
/// the caller has to drop them.
bool SnapshotWriter::store(std::exception_ptr error) {
  if (error == nullptr || error_ != nullptr) {
    return false;
  }
  error_ = std::move(error);
  std::replace(states_.begin(), states_.end(), State::pending, State::abandoned);
  return true;
}

/// Drops the buffers of abandoned parts. Those that other threads are writing are dropped by these
/// threads.
void SnapshotWriter::drop_abandoned() {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    {
      const Lock lock(mutex_);
      if (states_[part] != State::abandoned) {
        continue;
      }
    }
    drop_last_part_of(parts_[part].owner);
    end(part, nullptr);
  }
}

/// Waits while another thread writes or drops the part. Returns whether it had to wait.
bool SnapshotWriter::await(std::size_t part) {
  for (bool has_waited = false;; has_waited = true) {
    std::uint32_t ended = 0;
    {
      const Lock lock(mutex_);
      if (states_[part] == State::pending || states_[part] == State::done) {
        return has_waited;
      }
      ended = ended_.value();
    }
    const auto keep_waiting = [&]() noexcept { return ended_.value() == ended; };
    sync::detail::park(&ended_, keep_waiting);
  }
}

void SnapshotWriter::throw_if_failed() {
  const Lock lock(mutex_);
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

}  // namespace byre::inline BYRE_ABI
