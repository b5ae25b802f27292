// SPDX-License-Identifier: BSL-1.0
#include "accounts.hpp"

#include <byre/error/error.hpp>

namespace byre::stress {

Block Accounts::allocate(const Request& request) {
  return note(behind_.allocate(request));
}

Block Accounts::allocate_copy(const Request& request, const void* source, std::size_t nbytes) {
  return note(behind_.allocate_copy(request, source, nbytes));
}

void Accounts::deallocate(const Block& block) noexcept {
  Part& part = part_of(block.data);
  {
    const boost::lock_guard<boost::mutex> lock(part.mutex);
    const auto found = part.out.find(block.data);
    if (found == part.out.end()) {
      failures_.add(format_text("the block at %p, of %zu bytes, was released though it is not out: "
                                "it was released before, or never given",
                                block.data, block.capacity)
                        .chars.data());
      return;
    }
    const Block given = found->second;
    if (given.capacity != block.capacity || given.base != block.base) {
      failures_.add(format_text("the block at %p, of %zu bytes, came back as one of %zu",
                                block.data, given.capacity, block.capacity)
                        .chars.data());
    }
    part.out.erase(found);
  }
  // After it is off the books: another thread may be given it at once.
  behind_.deallocate(block);
}

Block Accounts::note(const Block& block) {
  Part& part = part_of(block.data);
  try {
    const boost::lock_guard<boost::mutex> lock(part.mutex);
    if (!part.out.emplace(block.data, block).second) {
      failures_.add(
          format_text("the block at %p was given out while it was out", block.data).chars.data());
    }
    ++part.given;
  } catch (...) {
    behind_.deallocate(block);  // operator new may have been told to fail
    throw;
  }
  return block;
}

Accounts::Part& Accounts::part_of(const void* data) noexcept {
  const std::uintptr_t line = reinterpret_cast<std::uintptr_t>(data) / data_alignment;
  // Large blocks begin on pages: the bits of the line within one are no help.
  return parts_[(line ^ (line >> 6) ^ (line >> 15)) % parts_.size()];
}

template <class Number>
auto Accounts::sum(Number number_of) const {
  decltype(number_of(parts_[0])) total = 0;
  for (const Part& part : parts_) {
    const boost::lock_guard<boost::mutex> lock(part.mutex);
    total += number_of(part);
  }
  return total;
}

std::uint64_t Accounts::blocks_given() const {
  return sum([](const Part& part) { return part.given; });
}

std::size_t Accounts::blocks_out() const {
  return sum([](const Part& part) { return part.out.size(); });
}

void Accounts::check_that_all_came_back() {
  if (const std::size_t out = blocks_out(); out != 0) {
    failures_.add(std::to_string(out) + " blocks were never released");
  }
}

}  // namespace byre::stress
