// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/exported.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/sync/detail/no_destructor.hpp>

namespace byre::inline BYRE_ABI {
namespace {

class PagedAllocator final : public detail::PageAllocator {
 public:
  Block allocate(const Request& request) override { return default_allocator().allocate(request); }
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override {
    return default_allocator().allocate_copy(request, source, nbytes);
  }
  void deallocate(const Block& block) noexcept override { default_allocator().deallocate(block); }
  std::size_t nbytes_taken_by(const Block& block) const noexcept override {
    return default_allocator().nbytes_taken_by(block);
  }

  /// Releases data that only other processes still use. Looks at few data, so the cost is bounded.
  void make_room() noexcept override { detail::exports<sync::Default>().look(8); }
  std::unique_ptr<detail::PageFile> create_file(std::size_t nbytes) override {
    return nbytes < least_paged_nbytes ? nullptr : detail::create_memory_file(nbytes);
  }

  const char* name() const noexcept override { return "paged allocator"; }
};

}  // namespace

Allocator& paged_allocator() noexcept {
  return sync::no_destructor<PagedAllocator>();
}

}  // namespace byre::inline BYRE_ABI
