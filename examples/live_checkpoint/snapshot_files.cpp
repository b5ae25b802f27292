// SPDX-License-Identifier: BSL-1.0
#include "snapshot_files.hpp"

#include "checksum.hpp"
#include "delta.hpp"
#include "failure.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace examples::live_checkpoint {
namespace {

namespace fs = std::filesystem;

/// A .npy file in the making.
class FullFile {
 public:
  FullFile(const Plan& plan, const fs::path& directory, std::uint64_t token)
      : path_(snapshot_file(directory, token, full_extension)), file_(path_) {
    const std::string header = byre::npy_header(byre::DType::f32, {plan.rows, plan.dimensions});
    put(std::as_bytes(std::span(header)));
  }

  void put(std::span<const std::byte> bytes) {
    checksum_.add(bytes.data(), bytes.size());
    file_.write(bytes.data(), bytes.size());
  }

  WrittenSnapshot commit(std::uint64_t token, std::uint64_t tiles) {
    file_.commit();
    write_checksum_file(path_, checksum_.value());
    return {token, path_, false, checksum_.value(), fs::file_size(path_), tiles};
  }

 private:
  const fs::path path_;
  byre::OutputFile file_;
  Checksum checksum_;
};

}  // namespace

fs::path snapshot_file(const fs::path& directory, std::uint64_t token, const char* extension) {
  char name[40];
  std::snprintf(name, sizeof name, "token-%012llu%s", static_cast<unsigned long long>(token),
                extension);
  return directory / name;
}

fs::path checksum_file(const fs::path& npy) {
  return npy.string() + ".crc32";
}

void write_checksum_file(const fs::path& npy, std::uint32_t checksum) {
  byre::OutputFile beside(checksum_file(npy));
  const std::string line = to_hex(checksum) + "  " + npy.filename().string() + "\n";
  beside.write(line.data(), line.size());
  beside.commit();
}

std::vector<char> read_file(const fs::path& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (file == nullptr) {
    fail_with_error("Cannot open " + path.string(), errno);
  }
  std::vector<char> bytes;
  std::size_t nbytes = 0;
  do {
    bytes.resize(std::max<std::size_t>(65536, 2 * nbytes));
    nbytes += std::fread(bytes.data() + nbytes, 1, bytes.size() - nbytes, file.get());
  } while (nbytes == bytes.size());
  if (std::ferror(file.get()) != 0) {
    fail_with_error("Cannot read " + path.string(), errno);
  }
  bytes.resize(nbytes);
  return bytes;
}

SnapshotFiles::SnapshotFiles(const Plan& plan, fs::path directory, std::uint64_t full_every)
    : plan_(&plan), directory_(std::move(directory)), full_every_(full_every) {}

WrittenSnapshot SnapshotFiles::write(Snapshot snapshot) {
  if (auto* storages = std::get_if<std::vector<byre::Storage>>(&snapshot.rows)) {
    return write_storages(snapshot.token, std::move(*storages));
  }
  auto& tiles = std::get<byre::TiledBuffer>(snapshot.rows);
  const bool is_full = count_++ % full_every_ == 0;
  previous_ = is_full ? write_tiles(snapshot.token, tiles) : write_changes(snapshot.token, tiles);
  if (count_ % full_every_ != 0) {
    previous_tiles_ = std::move(tiles);  // for the next one to be compared with
  }
  return previous_;
}

WrittenSnapshot SnapshotFiles::write_storages(std::uint64_t token,
                                              std::vector<byre::Storage> storages) const {
  FullFile file(*plan_, directory_, token);
  std::size_t left = plan_->table_nbytes();
  for (byre::Storage& storage : storages) {
    const std::size_t nbytes = std::min(left, storage.nbytes());
    file.put({std::as_const(storage).data(), nbytes});
    left -= nbytes;
    storage = byre::Storage();
  }
  return file.commit(token, storages.size());
}

WrittenSnapshot SnapshotFiles::write_tiles(std::uint64_t token,
                                           const byre::TiledBuffer& tiles) const {
  FullFile file(*plan_, directory_, token);
  tiles.for_each_part(0, tiles.nbytes(), [&](std::span<const std::byte> tile) { file.put(tile); });
  return file.commit(token, tiles.tile_count());
}

WrittenSnapshot SnapshotFiles::write_changes(std::uint64_t token, const byre::TiledBuffer& tiles) {
  std::vector<std::uint64_t> changed;
  for_each_difference(previous_tiles_, tiles, [&](std::size_t tile) { changed.push_back(tile); });
  previous_tiles_ = byre::TiledBuffer();  // before the writing, in which training needs memory

  const auto path = snapshot_file(directory_, token, delta_extension);
  DeltaHeader link;
  link.token = token;
  link.previous_token = previous_.token;
  link.previous_crc32 = previous_.checksum;
  const DeltaHeader header = write_delta(path, link, changed, tiles);
  return {token, path, true, header.crc32, fs::file_size(path), header.count};
}

}  // namespace examples::live_checkpoint
