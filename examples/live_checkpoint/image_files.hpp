// SPDX-License-Identifier: BSL-1.0
/// Makes deltas of snapshots that were written as full images: the image of the previous snapshot
/// has the earlier tiles, so none of them is needed in memory.
#pragma once

#include "delta.hpp"
#include "snapshot_files.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace examples::live_checkpoint {

/// Not thread-safe.
class ImageFiles {
 public:
  ImageFiles(const Plan& plan, fs::path directory, std::size_t tile_nbytes, int level)
      : table_nbytes_(plan.table_nbytes()),
        tile_nbytes_(tile_nbytes),
        first_token_(plan.snapshot_every),
        directory_(std::move(directory)),
        level_(level) {}

  /// The path at which to write the image of a snapshot. The first image is a snapshot file.
  fs::path path_of(std::uint64_t token) const {
    return snapshot_file(directory_, token, token == first_token_ ? full_extension : ".image");
  }

  /// Adds the snapshot whose image was written. Keeps only the first and the last image. May throw
  /// Failure, byre::FileError and std::bad_alloc.
  void add(std::uint64_t token) {
    const fs::path image = path_of(token);
    if (written_.empty()) {
      written_.push_back({token, image, checksum_of(image), fs::file_size(image)});
    } else {
      written_.push_back(write_delta(token, image));
      if (written_.size() > 2) {
        fs::remove(last_image_);
      }
    }
    last_image_ = image;
  }

  const std::vector<WrittenSnapshot>& written() const noexcept { return written_; }

 private:
  /// Reads a file in pieces.
  class Reader {
   public:
    explicit Reader(const fs::path& file) : name_(file.string()), file_(file, std::ios::binary) {}
    void skip(std::uint64_t nbytes) { file_.seekg(static_cast<std::streamoff>(nbytes)); }
    std::span<const std::byte> read(std::size_t nbytes) {
      bytes_.resize(nbytes);
      if (!file_.read(reinterpret_cast<char*>(bytes_.data()),
                      static_cast<std::streamsize>(nbytes))) {
        throw Failure("Cannot read " + name_ + ".");
      }
      return bytes_;
    }

   private:
    std::string name_;
    std::ifstream file_;
    std::vector<std::byte> bytes_;
  };

  std::uint32_t checksum_of(const fs::path& image) const {
    Checksum checksum;
    Reader reader(image);
    for (std::uint64_t left = fs::file_size(image); left != 0;) {
      const auto piece = reader.read(std::min<std::uint64_t>(left, tile_nbytes_));
      checksum.process_bytes(piece.data(), piece.size());
      left -= piece.size();
    }
    return checksum.checksum();
  }

  WrittenSnapshot write_delta(std::uint64_t token, const fs::path& image) const {
    const WrittenSnapshot& previous = written_.back();
    const fs::path path = snapshot_file(directory_, token, delta_extension);
    DeltaWriter delta(path, {token, previous.token, previous.identity, table_nbytes_, tile_nbytes_},
                      level_);
    Reader before(last_image_);
    Reader now(image);
    const std::uint64_t table_offset = fs::file_size(image) - table_nbytes_;
    before.skip(table_offset);
    now.skip(table_offset);
    for (std::size_t tile = 0; tile * tile_nbytes_ < table_nbytes_; ++tile) {
      const std::size_t nbytes = std::min(tile_nbytes_, table_nbytes_ - tile * tile_nbytes_);
      delta.add(tile, before.read(nbytes), now.read(nbytes));
    }
    delta.finish();
    const std::uint32_t identity = delta.commit();
    return {token, path, identity, fs::file_size(path), delta.sizes()};
  }

  std::size_t table_nbytes_;
  std::size_t tile_nbytes_;
  std::uint64_t first_token_;
  fs::path directory_;
  int level_;
  fs::path last_image_{};
  std::vector<WrittenSnapshot> written_{};
};

}  // namespace examples::live_checkpoint
