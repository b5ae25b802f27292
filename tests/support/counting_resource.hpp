// SPDX-License-Identifier: BSL-1.0
/// A memory resource for tests: it counts what it gives and takes, and fails when told to.
#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <new>

namespace byre::test {

/// For one thread.
class CountingResource final : public std::pmr::memory_resource {
 public:
  void fail_next() { fail_ = true; }

  std::size_t nbytes_given() const { return nbytes_given_; }
  std::size_t nbytes_taken_back() const { return nbytes_taken_back_; }
  int wrong_releases() const { return wrong_releases_; }
  std::size_t smallest_alignment_asked() const { return smallest_alignment_; }

 private:
  struct Given {
    std::size_t nbytes;
    std::size_t alignment;
    bool operator==(const Given&) const = default;
  };

  void* do_allocate(std::size_t nbytes, std::size_t alignment) override {
    if (fail_) {
      fail_ = false;
      throw std::bad_alloc();
    }
    void* place = std::pmr::new_delete_resource()->allocate(nbytes, alignment);
    given_[place] = {nbytes, alignment};
    nbytes_given_ += nbytes;
    smallest_alignment_ = alignment < smallest_alignment_ ? alignment : smallest_alignment_;
    return place;
  }

  void do_deallocate(void* place, std::size_t nbytes, std::size_t alignment) override {
    const auto found = given_.find(place);
    if (found == given_.end() || found->second != Given{nbytes, alignment}) {
      ++wrong_releases_;
      return;
    }
    given_.erase(found);
    nbytes_taken_back_ += nbytes;
    std::pmr::new_delete_resource()->deallocate(place, nbytes, alignment);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::map<void*, Given> given_;
  std::size_t nbytes_given_ = 0;
  std::size_t nbytes_taken_back_ = 0;
  std::size_t smallest_alignment_ = static_cast<std::size_t>(-1);
  int wrong_releases_ = 0;
  bool fail_ = false;
};

}  // namespace byre::test
