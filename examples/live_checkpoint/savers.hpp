// SPDX-License-Identifier: BSL-1.0
/// Ways to save a table while training rewrites all of it: in a forked process, from a lazy clone,
/// and by a byre::SnapshotWriter within a budget.
///
/// A save proceeds as the training does, and ends when every row has been rewritten: the sink keeps
/// up with the training, and is not faster.
#pragma once

#include "files.hpp"
#include "image_files.hpp"
#include "process_memory.hpp"
#include "tables.hpp"
#include "training.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/memory/budget.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <future>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace examples::live_checkpoint {

/// The number of trained tokens, for which saving threads wait.
class Progress {
 public:
  void advance_to(std::uint64_t token) noexcept {
    token_.store(token);
    token_.notify_all();
  }
  void await(std::uint64_t token) const noexcept {
    for (std::uint64_t now = token_.load(); now < token; now = token_.load()) {
      token_.wait(now);
    }
  }

 private:
  std::atomic<std::uint64_t> token_{0};
};

/// Saves snapshots of one training. The members are called on the training thread.
class Saver {
 public:
  Saver(const Plan& plan, fs::path directory)
      : plan_(plan),
        directory_(std::move(directory)),
        header_(byre::npy_header(byre::DType::f32, {plan.rows, plan.dimensions})) {}
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  virtual ~Saver() = default;

  /// Begins to save the table after `token` tokens.
  virtual void begin(std::uint64_t token) = 0;
  /// Waits for the save. Called after every row was rewritten.
  virtual void end() = 0;
  /// The snapshots so far.
  virtual std::vector<WrittenSnapshot> written() { return written_; }
  /// The largest extra memory of a save that the training process does not have, in bytes.
  virtual std::int64_t extra_nbytes() const { return 0; }
  virtual Table& table() = 0;

  void advance_to(std::uint64_t token) noexcept { progress_.advance_to(token); }

 protected:
  /// Counts a full file as written.
  void add(std::uint64_t token) { written_.push_back({token, path_of(token)}); }
  /// Lets a saving thread proceed to its end, if the training has failed.
  void cancel() noexcept { advance_to(std::numeric_limits<std::uint64_t>::max()); }
  fs::path path_of(std::uint64_t token) const {
    return snapshot_file(directory_, token, full_extension);
  }
  /// Calls `save_part(bytes)` with a number of bytes, as the training rewrites as many, until the
  /// whole table is saved.
  template <class SavePart>
  void keep_up(std::uint64_t token, const SavePart& save_part) const {
    constexpr std::uint64_t parts = 100;
    for (std::uint64_t part = 1; part <= parts; ++part) {
      progress_.await(token + plan_.snapshot_every * part / parts);
      save_part(plan_.table_nbytes() / parts + 1);
    }
  }

  const Plan& plan_;
  const fs::path directory_;
  const std::string header_;

 private:
  Progress progress_;
  std::vector<WrittenSnapshot> written_;
};

/// Saves nothing.
class NoSaver final : public Saver {
 public:
  NoSaver(const Plan& plan, const fs::path& directory, std::uint32_t tile_rows)
      : Saver(plan, directory), table_(plan, tile_rows, byre::default_allocator()) {}
  void begin(std::uint64_t) override {}
  void end() override {}
  Table& table() override { return table_; }

 private:
  TiledTable table_;
};

/// Saves in a forked process, as databases do. The system copies the pages that the training
/// writes.
class ForkSaver final : public Saver {
 public:
  ForkSaver(const Plan& plan, const fs::path& directory, std::uint32_t tile_rows)
      : Saver(plan, directory), table_(plan, tile_rows, byre::default_allocator()) {}
  ~ForkSaver() override { await_child(); }

  void begin(std::uint64_t token) override {
    add(token);
    int to_child[2];
    int to_parent[2];
    if (::pipe(to_child) != 0 || ::pipe(to_parent) != 0) {
      throw Failure("Cannot create a pipe for the process that saves.");
    }
    child_ = ::fork();
    if (child_ == 0) {
      ::close(to_child[1]);
      ::_exit(save(token, to_child[0], to_parent[1]) ? 0 : 1);
    }
    ::close(to_child[0]);
    ::close(to_parent[1]);
    go_ = to_child[1];
    figures_ = to_parent[0];
    if (child_ < 0) {
      throw Failure("Cannot fork the process that saves.");
    }
  }

  void end() override {
    if (!await_child()) {
      throw Failure("The process that saves a snapshot failed.");
    }
  }
  std::int64_t extra_nbytes() const override { return extra_nbytes_; }
  Table& table() override { return table_; }

 private:
  /// Returns whether the child, if there is one, has saved its snapshot.
  bool await_child() noexcept {
    if (go_ < 0) {
      return true;
    }
    ::close(std::exchange(go_, -1));
    std::int64_t nbytes = 0;
    const bool is_read = ::read(figures_, &nbytes, sizeof nbytes) == sizeof nbytes;
    ::close(std::exchange(figures_, -1));
    extra_nbytes_ = std::max(extra_nbytes_, nbytes);
    int status = 0;
    return is_read && ::waitpid(child_, &status, 0) == child_ && status == 0;
  }

  /// Runs in the child: saves, waits until the training has rewritten all rows, and sends the bytes
  /// that only the child has now.
  bool save(std::uint64_t token, int go, int figures) noexcept {
    try {
      byre::OutputFile file(path_of(token));
      file.write(header_.data(), header_.size());
      table_.rows().for_each_part(0, plan_.table_nbytes(), [&](std::span<const std::byte> part) {
        file.write(part.data(), part.size());
      });
      file.commit();
      char end = 0;
      static_cast<void>(::read(go, &end, 1));  // until the parent closes it
      const auto clean = figure_in("/proc/self/smaps_rollup", "Private_Clean");
      const auto dirty = figure_in("/proc/self/smaps_rollup", "Private_Dirty");
      const std::int64_t nbytes = clean.value_or(0) + dirty.value_or(0);
      return ::write(figures, &nbytes, sizeof nbytes) == sizeof nbytes;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return false;
    }
  }

  TiledTable table_;
  ::pid_t child_ = -1;
  int go_ = -1;
  int figures_ = -1;
  std::int64_t extra_nbytes_ = 0;
};

/// Saves a lazy clone on another thread.
class CloneSaver final : public Saver {
 public:
  CloneSaver(const Plan& plan, const fs::path& directory, std::uint32_t tile_rows)
      : Saver(plan, directory), table_(plan, tile_rows, byre::default_allocator()) {}
  ~CloneSaver() override { cancel(); }

  void begin(std::uint64_t token) override {
    add(token);
    job_ = table_.stalls.time([&] {
      table_.publish();
      return std::async(std::launch::async,
                        [this, token, rows = table_.take_published()] { save(token, rows); });
    });
  }
  void end() override { job_.get(); }
  Table& table() override { return table_; }

 private:
  void save(std::uint64_t token, const byre::TiledBuffer& rows) const {
    byre::OutputFile file(path_of(token));
    file.write(header_.data(), header_.size());
    std::size_t offset = 0;
    keep_up(token, [&](std::size_t nbytes) {
      const std::size_t now = std::min(nbytes, rows.nbytes() - offset);
      rows.for_each_part(offset, now, [&](std::span<const std::byte> part) {
        file.write(part.data(), part.size());
      });
      offset += now;
    });
    file.commit();
  }

  TiledTable table_;
  std::future<void> job_;
};

/// Saves with a byre::SnapshotWriter, within a budget: the bytes of the table, and some to spare.
class LimitedSaver final : public Saver {
 public:
  LimitedSaver(const Plan& plan, const fs::path& directory, std::uint32_t tile_rows, double spare,
               int level)
      : Saver(plan, directory),
        table_(plan, tile_rows, allocator_),
        images_(plan, directory_, table_.rows().tile_nbytes(), level) {
    const auto spare_nbytes =
        static_cast<std::size_t>(static_cast<double>(plan.table_nbytes()) * spare);
    budget_.set_limit(budget_.used() + spare_nbytes - std::min(spare_nbytes, own_nbytes));
  }
  ~LimitedSaver() override { cancel(); }

  void begin(std::uint64_t token) override {
    job_ = table_.stalls.time([&] {
      table_.publish();
      file_.emplace(images_.path_of(token), std::as_bytes(std::span(header_)));
      // Before the training continues, because it may need memory at once.
      writer_.emplace(table_.take_published(), *file_);
      return std::async(std::launch::async, [this, token] {
        keep_up(token, [this](std::size_t nbytes) { writer_->write_some(nbytes); });
        writer_->finish();
      });
    });
    tokens_.push_back(token);
  }
  void end() override {
    job_.get();
    writer_.reset();
    file_.reset();
  }
  /// Makes deltas of the images.
  std::vector<WrittenSnapshot> written() override {
    for (const std::uint64_t token : std::exchange(tokens_, {})) {
      images_.add(token);
    }
    return images_.written();
  }
  Table& table() override { return table_; }

 private:
  /// The bytes that the saving thread needs in addition to tiles, for its stack and its tables.
  static constexpr std::size_t own_nbytes = std::size_t{256} << 10;

  byre::Budget budget_{byre::max_nbytes};
  byre::BudgetedAllocator allocator_ = byre::budgeted(byre::default_allocator(), budget_);
  TiledTable table_;
  ImageFiles images_;
  std::optional<byre::FileSink> file_;
  std::optional<byre::SnapshotWriter> writer_;
  std::future<void> job_;
  std::vector<std::uint64_t> tokens_;  // of images without deltas
};

}  // namespace examples::live_checkpoint
