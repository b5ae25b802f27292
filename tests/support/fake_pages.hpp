// SPDX-License-Identifier: BSL-1.0
/// FakePages: a page source that forwards to that of the system, records mappings, and can be told
/// to refuse requests.
#pragma once

#include <byre/memory/pages.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace byre::test {

/// Thread-safe.
class FakePages final : public PageSource {
 public:
  std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (refusals_ > 0) {
      --refusals_;
      ++refused_;
      return nullptr;
    }
    std::byte* address = system_pages().map(lead, nbytes, alignment);
    mapped_[address] = lead + nbytes;
    ++maps_;
    last_alignment_ = alignment;
    return address;
  }

  void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = mapped_.find(address);
    if (found == mapped_.end() || found->second != lead + nbytes) {
      ++wrong_unmaps_;
      return;
    }
    mapped_.erase(found);
    unmapped_.push_back(address);
    system_pages().unmap(address, lead, nbytes);
  }

  std::uint64_t seconds() noexcept override { return get(seconds_); }
  void wait_for(std::uint64_t seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    seconds_ += seconds;
  }

  /// Refuses the next `count` requests.
  void refuse(int count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    refusals_ = count;
  }

  int maps() const { return get(maps_); }
  int refused() const { return get(refused_); }
  /// The requested alignment of the last mapping.
  std::size_t last_alignment() const { return get(last_alignment_); }
  /// The number of calls of unmap() with an unmapped address or a wrong size.
  int wrong_unmaps() const { return get(wrong_unmaps_); }
  std::size_t mapped() const { return get(mapped_).size(); }
  /// The unmapped addresses, in order.
  std::vector<const void*> unmapped() const { return get(unmapped_); }

 private:
  template <class Member>
  Member get(const Member& member) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return member;
  }

  mutable std::mutex mutex_;
  std::map<const void*, std::size_t> mapped_;
  std::vector<const void*> unmapped_;
  std::uint64_t seconds_ = 1000;
  std::size_t last_alignment_ = 0;
  int refusals_ = 0;
  int refused_ = 0;
  int maps_ = 0;
  int wrong_unmaps_ = 0;
};

}  // namespace byre::test
