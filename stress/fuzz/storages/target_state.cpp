// SPDX-License-Identifier: BSL-1.0
#include "target_state.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "support/temporary_folder.hpp"

namespace byre::fuzz {
namespace {

/// Neighbours differ, and so do pages.
void fill(Bytes& bytes, unsigned seed) noexcept {
  constexpr std::size_t page = 4096;
  for (std::size_t at = 0; at < std::min(page, bytes.size()); ++at) {
    bytes[at] = static_cast<std::byte>((at * 167 + at / 256 + seed * 59) & 0xff);
  }
  for (std::size_t at = page; at < bytes.size(); at += page) {
    std::memcpy(&bytes[at], bytes.data(), std::min(page, bytes.size() - at));
    bytes[at] = static_cast<std::byte>(at / page & 0xff);
  }
}

class Files {
 public:
  Files() {
    for (const std::size_t nbytes : {1U, 63U, 100U, 4096U, 5000U, 70000U}) {
      MappableFile file{folder_ / std::to_string(nbytes), Bytes(nbytes)};
      fill(file.bytes, static_cast<unsigned>(nbytes));
      test::write_file(file.path, file.bytes.data(), nbytes);
      files_.push_back(std::move(file));
    }
  }

  const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  const std::vector<MappableFile>& all() const noexcept { return files_; }

 private:
  const test::TemporaryFolder folder_;
  std::vector<MappableFile> files_;
};

const Files& files() {
  static const Files instance;
  return instance;
}

}  // namespace

std::byte* Adopted::add(const Bytes& bytes) {
  auto memory = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.get());
  out_.insert(memory.get());
  return memory.release();
}

void Adopted::release(void* data) noexcept {
  if (out_.erase(data) != 1) {
    fail("a deleter was called twice, or for memory that was not adopted");
  }
  delete[] static_cast<std::byte*>(data);
}

const std::vector<MappableFile>& mappable_files() {
  return files().all();
}

std::ptrdiff_t count_mapped_files() {
  return std::max<std::ptrdiff_t>(test::mappings_of(files().folder()), 0);
}

Allocator& TargetState::choose_allocator() {
  Allocator* const all[] = {&default_allocator(), &host, &device, &resource};
  return *all[input.below(std::size(all))];
}

std::size_t TargetState::choose_nbytes() {
  constexpr std::size_t kib = 1024;
  const std::size_t choice = input.byte();
  std::size_t nbytes = choice;
  if (choice >= 252) {
    nbytes = 2048 * kib + (choice - 253) * 4096;  // about a huge page
  } else if (choice >= 236) {
    nbytes = 64 * kib + (choice - 240) * 1000;  // about what the pool begins to recycle
  } else if (choice >= 200) {
    nbytes = (choice - 200) * 128 + input.byte();  // beyond a page, and what threads keep
  }
  if (nbytes > budget_nbytes_) {
    return choice;
  }
  budget_nbytes_ -= nbytes;
  return nbytes;
}

Bytes TargetState::new_bytes(std::size_t nbytes) {
  Bytes bytes(nbytes);
  fill(bytes, ++patterns_);
  return bytes;
}

}  // namespace byre::fuzz
