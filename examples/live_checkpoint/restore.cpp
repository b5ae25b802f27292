// SPDX-License-Identifier: BSL-1.0
#include "restore.hpp"

#include "checksum.hpp"
#include "failure.hpp"
#include "format.hpp"
#include "snapshot_files.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>

#include <fstream>
#include <span>
#include <system_error>

namespace examples::live_checkpoint {
namespace {

namespace fs = std::filesystem;

std::uint32_t checksum_of(const std::vector<char>& bytes) {
  Checksum checksum;
  checksum.add(bytes.data(), bytes.size());
  return checksum.value();
}

/// The file that `delta`, which is of `header`, was made from.
fs::path previous_file(const fs::path& delta, const DeltaHeader& header) {
  for (const char* const extension : {delta_extension, full_extension}) {
    const fs::path file = snapshot_file(delta.parent_path(), header.previous_token, extension);
    std::error_code unknown;
    if (fs::exists(file, unknown)) {
      return file;
    }
  }
  throw Failure(delta.string() + " has what changed since token " +
                std::to_string(header.previous_token) +
                ", and there is no snapshot of that in its folder. Put the file there: " +
                snapshot_file("", header.previous_token, delta_extension).string() + ", or " +
                full_extension + ".");
}

/// The first word of the file beside the snapshot.
std::string recorded_checksum(const fs::path& npy) {
  std::ifstream file(checksum_file(npy));
  std::string hex;
  file >> hex;
  return hex.empty() ? "nothing" : hex;
}

}  // namespace

std::uint32_t Restorer::checksum() const {
  return checksum_of(npy_);
}

void Restorer::load(const fs::path& file) {
  if (file.extension() != delta_extension) {
    load_full(file);
    return;
  }
  std::vector<fs::path> files{file};  // back to what is loaded
  Delta delta = read_delta(file);
  while (!is_loaded(delta.header)) {
    const fs::path previous = previous_file(files.back(), delta.header);
    if (previous.extension() != delta_extension) {
      load_full(previous);
      break;
    }
    delta = read_delta(previous);
    files.push_back(previous);
  }
  apply(delta, files.back());
  for (files.pop_back(); !files.empty(); files.pop_back()) {
    apply(read_delta(files.back()), files.back());
  }
}

void Restorer::load_full(const fs::path& file) {
  npy_.clear();
  std::vector<char> bytes = read_file(file);
  const std::uint32_t found = checksum_of(bytes);
  if (const std::string recorded = recorded_checksum(file); recorded != to_hex(found)) {
    throw Failure(file.string() + " has the CRC-32 " + to_hex(found) + ", and " +
                  checksum_file(file).filename().string() + " beside it says " + recorded +
                  ". Take both from a copy.");
  }
  table_offset_ = byre::parse_npy_header(std::as_bytes(std::span(bytes)), file.c_str()).data_offset;
  npy_ = std::move(bytes);
  identity_ = found;
}

bool Restorer::is_loaded(const DeltaHeader& before) const noexcept {
  return !npy_.empty() && identity_ == before.previous_crc32;
}

void Restorer::apply(const Delta& delta, const fs::path& file) {
  if (!is_loaded(delta.header) || delta.header.table_nbytes != npy_.size() - table_offset_) {
    throw Failure(file.string() + " was made from another snapshot of token " +
                  std::to_string(delta.header.previous_token) + ", with the CRC-32 " +
                  to_hex(delta.header.previous_crc32) + " and not " + to_hex(identity_) +
                  ". Put the files of one run into its folder.");
  }
  delta.apply_to(std::span(npy_).subspan(table_offset_));
  identity_ = delta.header.crc32;
}

std::string restore(const fs::path& file, const fs::path& directory) {
  Restorer restorer;
  restorer.load(file);
  const fs::path npy = directory / file.filename().replace_extension(full_extension);
  std::error_code error;
  fs::create_directories(directory, error);
  if (fs::exists(npy, error)) {
    throw Failure(npy.string() +
                  " is there already, and is not overwritten. Remove it, or give another "
                  "--output.");
  }
  byre::OutputFile output(npy);
  output.write(restorer.npy().data(), restorer.npy().size());
  output.commit();
  write_checksum_file(npy, restorer.checksum());
  return npy.string() + ": " + mebibytes(restorer.npy().size()) + ", CRC-32 " +
         to_hex(restorer.checksum()) + "\n";
}

}  // namespace examples::live_checkpoint
