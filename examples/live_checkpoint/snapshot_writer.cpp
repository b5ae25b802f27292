// SPDX-License-Identifier: BSL-1.0
#include "snapshot_writer.hpp"

#include "checksum.hpp"

#include <algorithm>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/storage/output_file.hpp>
#include <cstdio>
#include <utility>

namespace examples::live_checkpoint {
namespace {

using Lock = boost::unique_lock<boost::mutex>;

std::string name_of(std::uint64_t token) {
  char name[40];
  std::snprintf(name, sizeof name, "token-%012llu.npy", static_cast<unsigned long long>(token));
  return name;
}

}  // namespace

std::filesystem::path checksum_file(const std::filesystem::path& npy) {
  return npy.string() + ".crc32";
}

SnapshotWriter::SnapshotWriter(const Plan& plan, std::filesystem::path directory,
                               std::size_t capacity)
    : plan_(&plan),
      directory_(std::move(directory)),
      capacity_(capacity),
      thread_([this] { run(); }) {}

SnapshotWriter::~SnapshotWriter() {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_ = true;
    abandoned_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void SnapshotWriter::wait_for_room() {
  Lock lock(mutex_);
  while (error_ == nullptr && waiting_.size() >= capacity_) {
    changed_.wait(lock);
  }
  rethrow_error();
}

void SnapshotWriter::submit(Snapshot snapshot) {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    waiting_.push_back(std::move(snapshot));
  }
  changed_.notify_all();
}

std::vector<WrittenSnapshot> SnapshotWriter::finish() {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
  rethrow_error();
  return std::move(written_);
}

void SnapshotWriter::rethrow_error() const {
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

void SnapshotWriter::run() noexcept {
  try {
    write_all();
  } catch (...) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    error_ = std::current_exception();
    waiting_.clear();
  }
  changed_.notify_all();
}

void SnapshotWriter::write_all() {
  Lock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !closed_) {
      changed_.wait(lock);
    }
    if (waiting_.empty() || abandoned_) {
      return;
    }
    Snapshot next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    WrittenSnapshot written = write(std::move(next));
    lock.lock();
    written_.push_back(std::move(written));
  }
}

WrittenSnapshot SnapshotWriter::write(Snapshot snapshot) const {
  WrittenSnapshot written{snapshot.token, directory_ / name_of(snapshot.token), 0};
  byre::OutputFile file(written.file);
  Checksum checksum;
  const auto put = [&](const void* data, std::size_t nbytes) {
    checksum.add(data, nbytes);
    file.write(data, nbytes);
  };
  const std::string header = byre::npy_header(byre::DType::f32, {plan_->rows, plan_->dimensions});
  put(header.data(), header.size());
  std::size_t left = plan_->table_nbytes();
  for (byre::Storage& tile : snapshot.tiles) {
    const std::size_t nbytes = std::min(left, tile.nbytes());
    put(std::as_const(tile).data(), nbytes);
    left -= nbytes;
    tile = byre::Storage();
  }
  file.commit();

  written.checksum = checksum.value();
  byre::OutputFile beside(checksum_file(written.file));
  const std::string line =
      to_hex(written.checksum) + "  " + written.file.filename().string() + "\n";
  beside.write(line.data(), line.size());
  beside.commit();
  return written;
}

}  // namespace examples::live_checkpoint
