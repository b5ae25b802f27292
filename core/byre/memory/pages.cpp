// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/process.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace byre::inline BYRE_ABI {
namespace {

class SystemPages final : public PageSource {
 public:
  std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept override {
    return detail::map_pages(lead, nbytes, alignment, system::Access::read_write);
  }

  void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept override {
    detail::unmap(address - lead, lead + nbytes);
  }
};

struct HugePages {
  const bool are_granted = system::grants_huge_pages();
};

}  // namespace

std::uint64_t PageSource::seconds() noexcept {
  return system::seconds();
}

PageSource& system_pages() noexcept {
  return sync::no_destructor<SystemPages>();
}

bool grants_huge_pages() noexcept {
  return sync::no_destructor<HugePages>().are_granted;
}

std::size_t usable_memory_nbytes() noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(std::min(system::usable_memory_nbytes(), most));
}

}  // namespace byre::inline BYRE_ABI
